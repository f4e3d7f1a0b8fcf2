"""Cheats of tests/data/cheats/: none gets full marks unnoticed, and none shows a student a hidden input.

The numbers of a cheat are right, so only costs, forbidden calls and calls on the simulated GPU are at stake.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from operator import attrgetter

import pytest

from grader.classroom.report_items import diagnosed, items_of
from grader.core.report import Report
from grader.course.course import Course, read_course
from grader.course.module import read_text
from grader.pages.page_leaks import text_of
from grader.pages.rendering import render
from grader.pages.report_page import report_page
from grader.sandbox.jail.limits import Limits
from tests.acceptance.graded_cases import grade_cases
from tests.cases import FOLDER, Case, cases
from tests.conftest import ROOT
from tests.quick import sampled


def complete() -> Iterator[Case]:
    """Yield all cheats as complete submissions, named after their folder and themselves."""
    course = read_course(ROOT)
    for case in cases("cheats"):
        name = f"{case.group.partition('/')[0]}/{case.name}"
        base = FOLDER / "cheat_bases" / f"{case.module}.py"
        rest = base if base.is_file() else course.solution(course.module(case.module))
        yield replace(case, name=name, cells=case.cells if case.whole else (case.changing(read_text(rest)),))


CASES = sorted(complete(), key=lambda case: case.name)
LEAKS = [case for case in CASES if case.name.startswith("leaks/")]
CHEATS = [case for case in CASES if case not in LEAKS]
# These are wrong on purpose where the checks must look: on a GPU, or at what a caller sees.
AGAINST_CHECKS = ("false_passes", "simulated_gpu")
# One of each family, by the shortest grading. All others run in `make test-all`.
FAST = (
    "unseen_code/annotation_with_rows",
    "own_and_free/strings_hold_memory",
    "leaving_the_watch/names_at_import",
    "arithmetic/padded_loop_over_rows",
    "simulated_gpu/zeros_on_a_gpu",
    "false_passes/mask_row_overwritten",
)
FAST_LEAKS = ("leaks/polynomial_of_the_work",)
SLOW_LEAKS = sampled([case for case in LEAKS if case.name not in FAST_LEAKS], 2, attrgetter("code"))
# Code can choose the line of a cost or of a forbidden call by the inputs of a measurement. No check uses those inputs.
TELLING_LINES = ("leaks/line_of_a_cost", "leaks/line_of_a_forbidden_call")
FEWEST, FEWEST_LEAKS = 100, 10
# Many of them try one idea with another function.
EVERY = {"02_loop_attention": 3, "05_torch_attention": 2, "07_gpu_path": 2}
SALTS = ("one", "another")
LIMITS = Limits()
PRIVATE = ("detail", "timing")  # for the instructor, and different in each run


def verdict(report: Report) -> str:
    """Return whether a submission loses marks or is left to an instructor, and in which functions."""
    if report.score != report.max_score:
        lost = {check.target for check in report.asked if check.outcome != "passed"}
        lost |= {cost.target for cost in report.costs if cost.verdict == "fail"}
        return f"loses marks: {', '.join(sorted(lost))}"
    if not report.needs_review:
        return "full marks unnoticed"
    undecided = {check.target for check in report.checks if check.undecided}
    undecided |= {cost.target for cost in report.costs if cost.verdict == "inconclusive"}
    return f"review: {', '.join(sorted(undecided))}"


def public_text(report: Report) -> str:
    """Return everything that a student may come to read: the report without its details, exports, and their page."""
    data = report.as_json()
    for part in (data, *data["checks"]):
        for key in PRIVATE:
            part.pop(key, None)
    items = [f"{item.title} {item.text}" for item in items_of(report)]
    page = text_of(render("report.html", title="", page=report_page(report)))
    return "\n".join([json.dumps(data, indent=1, ensure_ascii=False), *items, *diagnosed(report), page])


@pytest.mark.parametrize("name", FAST)
def test_a_cheat_of_each_family_is_noticed(course: Course, name: str) -> None:
    (case,) = (case for case in CHEATS if case.name == name)
    (report,) = grade_cases(course, course.module(case.module), [case], LIMITS)
    assert verdict(report) == case.expected, f"{report.score:g} of {report.max_score:g} points"


@pytest.mark.exhaustive
@pytest.mark.parametrize("module_name", sorted({case.module for case in CHEATS}))
def test_no_cheat_gets_full_marks_unnoticed(course: Course, module_name: str) -> None:
    chosen = [case for case in CHEATS if case.module == module_name]
    chosen = sampled(chosen, EVERY.get(module_name, 1), attrgetter("code"))
    reports = grade_cases(course, course.module(module_name), chosen, LIMITS)
    results = {report.submission: report for report in reports}
    wrong = {
        name: [check.name for check in report.asked if check.outcome != "passed"]
        for name, report in results.items()
        if not name.startswith(AGAINST_CHECKS)
    }
    assert {name: checks for name, checks in wrong.items() if checks} == {}, "a cheat with wrong numbers shows nothing"
    assert {name: verdict(report) for name, report in results.items()} == {case.name: case.expected for case in chosen}


@pytest.mark.parametrize("case", [case for case in LEAKS if case.name in FAST_LEAKS], ids=lambda case: case.name)
def test_no_hidden_input_in_public_text(course: Course, case: Case) -> None:
    assert_same_public_text(course, case)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", SLOW_LEAKS, ids=lambda case: case.name)
def test_no_hidden_input_in_the_public_text_of_all_leaks(course: Course, case: Case) -> None:
    assert_same_public_text(course, case)


def assert_same_public_text(course: Course, case: Case) -> None:
    """Fail if a submission's public text depends on the salt, and so on the hidden inputs."""
    module = course.module(case.module)
    reports = [report for salt in SALTS for report in grade_cases(course, module, [case], LIMITS, salt)]
    if case.name in TELLING_LINES:  # the excerpt shows the same line
        reports = [
            replace(
                one,
                costs=tuple(replace(cost, code=None) for cost in one.costs),
                diagnoses=tuple(replace(diagnosis, code=None) for diagnosis in one.diagnoses),
            )
            for one in reports
        ]
    texts = [public_text(report) for report in reports]
    if case.name in TELLING_LINES:
        texts = [re.sub(r'("line": |line )\d+', r"\1", text) for text in texts]
    first, second = (text.splitlines() for text in texts)
    differing = [pair for pair in zip(first, second, strict=False) if pair[0] != pair[1]]
    assert first == second, f"{len(differing)} lines differ, the first ones: {differing[:3]}"


def test_the_public_text_of_a_right_solution_does_not_depend_on_the_salt(course: Course) -> None:
    module = course.module("01_softmax")
    text = read_text(course.solution(module))
    assert_same_public_text(course, Case(module.name, "the solution", "", "", (text,)))


def test_cheats_are_of_a_module_and_say_what_they_try(course: Course) -> None:
    names = {module.name for module in course.modules}
    for case in CASES:
        assert case.module in names, case.name
        assert case.shows != case.name.partition("/")[2].replace("_", " "), f"{case.name} says nothing of itself"
    assert len(CHEATS) >= FEWEST
    assert len(LEAKS) >= FEWEST_LEAKS
