"""Every known wrong way gets its own name in every style, and nothing else gets a name."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from grader.authoring.misconceptions import as_submission, read_misconceptions
from grader.core.report import Report
from grader.course.course import Course, read_course
from grader.course.module import Module, read_text
from grader.diagnosis.diagnose import Diagnoser
from grader.grading.grade import full_suite, run_grading
from grader.grading.suite import Suite
from grader.submission.submission import Submission
from tests.conftest import DATA, ROOT
from tests.diagnosis.naming import described, overlays, submission_of

MODULES = ["01_softmax", "02_loop_attention", "03_attention", "04_masks", "05_torch_attention"]
MODULES += ["06_multi_head_attention", "07_gpu_path"]
# The proof of the course says the same of every fingerprint; these grade each submission in full.
GRADED = [MODULES[0], *(pytest.param(name, marks=pytest.mark.exhaustive) for name in MODULES[1:])]
MOST_LINES, WIDTH = 15, 80
STYLES, BUGS, UNKNOWN = 3, 8, 30  # at least, in all modules together


def graded(suite: Suite, submissions: list[Submission]) -> list[Report]:
    reports: list[Report] = []
    run_grading(suite, submissions, reports.append, allow_unjailed=True)
    return reports


def names(report: Report) -> list[str]:
    return [one.misconception for one in report.diagnoses if one.misconception]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The course as students have it: neither solutions nor hidden suites."""
    root = tmp_path_factory.mktemp("bundle")
    shutil.copytree(ROOT / "modules", root / "modules", ignore=shutil.ignore_patterns("__pycache__"))
    return read_course(root)


@pytest.mark.parametrize("name", GRADED)
def test_every_misconception_gets_its_own_name(course: Course, name: str) -> None:
    module = course.module(name)
    ways = read_misconceptions(course, module)
    suite = full_suite(course, module)
    quick = [as_submission(course, module, way) for way in ways if not way.costly]
    costly = [as_submission(course, module, way) for way in ways if way.costly]
    reports = [*graded(replace(suite, measured=False), quick), *graded(suite, costly)]
    assert {report.submission: names(report) for report in reports} == {way.name: [way.name] for way in ways}
    for report in reports:
        for one in report.diagnoses:
            lines = one.message.splitlines()
            assert 1 < len(lines) <= MOST_LINES, one.message
            assert max(map(len, lines)) <= WIDTH, one.message


@pytest.mark.parametrize("name", GRADED)
def test_a_bundle_gives_the_same_names(course: Course, bundle: Course, name: str) -> None:
    ways = [way for way in read_misconceptions(course, course.module(name)) if not way.costly]
    module = bundle.module(name)
    suite = Suite(module, bundle.api(module), module.checks)
    reports = graded(suite, [as_submission(course, course.module(name), way) for way in ways])
    found = {report.submission: names(report) for report in reports}
    assert found == {way.name: [way.name] for way in ways}


def appended(course: Course, module: Module, kind: str) -> dict[str, Submission]:
    solution = read_text(course.solution(module))
    found = {
        title: submission_of(course, module, f"{solution}\n\n{code}") for title, code in overlays(kind, module.name)
    }
    return {title: replace(one, student=title) for title, one in found.items()}


@pytest.mark.parametrize("name", GRADED)
def test_one_mistake_gets_the_same_name_in_every_style(course: Course, name: str) -> None:
    module = course.module(name)
    suite = replace(full_suite(course, module), measured=False)
    reports = graded(suite, list(appended(course, module, "styles").values()))
    assert {one.submission: names(one) for one in reports} == {
        one.submission: [one.submission.split()[0]] for one in reports
    }


@pytest.mark.parametrize("name", GRADED)
def test_an_unknown_mistake_gets_no_name(course: Course, name: str) -> None:
    module = course.module(name)
    suite = replace(full_suite(course, module), measured=False)
    reports = graded(suite, list(appended(course, module, "unknown").values()))
    assert {one.submission: names(one) for one in reports if names(one)} == {}
    assert [one.submission for one in reports if all(check.outcome == "passed" for check in one.checks)] == []


@pytest.mark.parametrize("name", GRADED)
def test_right_solutions_have_no_findings(course: Course, name: str) -> None:
    module = course.module(name)
    prints = Diagnoser(module).prints()
    assert prints is not None
    paths = (DATA / "right" / name).glob("*.py")
    texts = {path.stem: path.read_text() for path in sorted(paths)}
    assert texts
    assert {title: found for title, found in described(course, module, prints, texts) if found} == {}


def test_there_are_enough_styles_and_unknown_mistakes(course: Course) -> None:
    bugs: dict[tuple[str, str], set[str]] = {}
    for name in MODULES:
        for title, _ in overlays("styles", name):
            bug, style = title.split()
            bugs.setdefault((name, bug), set()).add(style)
    assert sum(len(styles) >= STYLES for styles in bugs.values()) >= BUGS
    assert sum(len(overlays("unknown", name)) for name in MODULES) >= UNKNOWN
    assert [module.name for module in course.modules if not Path(module.probes).is_file()] == []
