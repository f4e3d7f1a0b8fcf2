"""Two misconceptions in different functions of one file: at least one is named, and nothing that is not there."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from itertools import combinations

import pytest

from grader.authoring.misconceptions import Misconception, read_misconceptions
from grader.core.report import Report
from grader.course.course import Course, read_course
from grader.course.module import Module, read_text
from grader.grading.grade import check_own_files
from grader.sandbox.jail.spawner import ZygoteSpawner
from tests.conftest import ROOT, shared_workers
from tests.quick import EVERY_CASE, sample, share
from tests.submissions import submission_of

MODULES = [module.name for module in read_course(ROOT).modules]
FEW, MANY, FIRST = 3, 60, 2
EVERY, OF_TRAINING = 3, 9  # of these; 12 trains models
LEAST = 0.9  # of the pairs, one of the two is named first or second


def pairs_of(course: Course, module: Module) -> list[tuple[Misconception, Misconception]]:
    """Return many pairs of misconceptions that change different functions, the same ones every time."""
    ways = [way for way in read_misconceptions(course, module) if not way.costly]
    pairs = [(one, other) for one, other in combinations(ways, 2) if not {*one.defines} & {*other.defines}]
    return random.Random(module.name).sample(pairs, min(MANY, len(pairs)))


def reports_on(
    course: Course, module: Module, pairs: list[tuple[Misconception, Misconception]]
) -> list[tuple[set[str], Report]]:
    """Return the names of each pair, and what `attn test` finds in a file with both."""
    solution = read_text(course.solution(module))
    texts = {f"{one.name}+{other.name}": f"{solution}\n\n{one.code}\n\n{other.code}" for one, other in pairs}
    submissions = [replace(submission_of(course, module, text), student=title) for title, text in texts.items()]
    reports: list[Report] = []
    spawner = shared_workers(module.backend).spawner
    begun = spawner.copy() if isinstance(spawner, ZygoteSpawner) else None  # the run ends what it was given
    check_own_files(course, module, submissions, reports.append, begun)
    return [({one.name, other.name}, report) for (one, other), report in zip(pairs, reports, strict=True)]


def names_in(report: Report) -> list[str | None]:
    """Return the names in the order of the screen: what fails a visible check comes first."""
    failing = {check.target for check in report.checks if check.outcome == "failed"}
    return [one.misconception for one in sorted(report.diagnoses, key=lambda one: one.target not in failing)]


def assert_true_names(course: Course, name: str, count: int) -> None:
    module = course.module(name)
    pairs = sample(pairs_of(course, module), count, lambda pair: pair[0].code + pair[1].code)
    found = reports_on(course, module, pairs)
    untrue = {
        report.submission: names_in(report)
        for there, report in found
        if {one for one in names_in(report) if one} - there
    }
    assert untrue == {}
    named = [bool(there & {*names_in(report)[:FIRST]}) for there, report in found]
    assert sum(named) >= LEAST * len(named)
    accepted = [report.submission for _, report in found if not report.diagnoses]
    assert accepted == [], "`attn complete` would accept these"


@pytest.mark.parametrize("name", ["01_softmax", "04_masks"])
def test_one_of_two_misconceptions_is_named(course: Course, name: str) -> None:
    assert_true_names(course, name, FEW)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", MODULES)
def test_one_of_two_misconceptions_is_named_in_many_pairs(course: Course, name: str) -> None:
    every = OF_TRAINING if name == "12_transformer" else EVERY
    assert_true_names(course, name, MANY if os.environ.get(EVERY_CASE) else share(MANY, every))
