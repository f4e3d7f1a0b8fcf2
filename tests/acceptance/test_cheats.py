"""Cheats, the files of tests/data/cheats/: none gets full marks unnoticed, and none shows a student a hidden input.

Each file is a complete submission. Its first line names the module, and the next lines say what it tries. Its numbers
are right, so only costs, forbidden calls and calls on the simulated GPU are at stake.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from grader.classroom.report_items import diagnosed, items_of
from grader.core.report import Report
from grader.course.course import Course
from grader.course.module import Module
from grader.pages.page_leaks import text_of
from grader.pages.rendering import render
from grader.pages.report_page import report_page
from grader.sandbox.jail.limits import Limits
from tests.acceptance.graded_files import grade_files
from tests.conftest import DATA
from tests.quick import sampled

FOLDER = DATA / "cheats"
MODULE = "# module: "
LEAKS = sorted((FOLDER / "leaks").glob("*.py"))
CHEATS = sorted(path for path in FOLDER.glob("*/*.py") if path not in LEAKS)
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
FAST_LEAKS = ("polynomial_of_the_work",)
SLOW_LEAKS = sampled([path for path in LEAKS if path.stem not in FAST_LEAKS], 2, Path.read_text)
# Code can choose the line of a cost or of a forbidden call by the inputs of a measurement. No check uses those inputs.
TELLING_LINES = ("line_of_a_cost", "line_of_a_forbidden_call")
FEWEST, FEWEST_LEAKS = 100, 10
# Many of the files try one idea with another function.
EVERY = {"02_loop_attention": 3, "05_torch_attention": 2, "07_gpu_path": 2}
SALTS = ("one", "another")
LIMITS = Limits()
PRIVATE = ("detail", "timing")  # for the instructor, and different in each run


def module_of(path: Path) -> str:
    """Return the module that the first line of a cheat names."""
    return path.read_text().partition("\n")[0].removeprefix(MODULE)


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def breached(report: Report) -> bool:
    """Whether a cheat got full marks without a review."""
    return report.score == report.max_score and not report.needs_review


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
    path = FOLDER / f"{name}.py"
    (report,) = grade_files(course, course.module(module_of(path)), [path], LIMITS)
    assert not breached(report), f"{report.score:g} of {report.max_score:g} points, and no review"


@pytest.mark.exhaustive
@pytest.mark.parametrize("module_name", sorted(set(map(module_of, CHEATS))))
def test_no_cheat_gets_full_marks_unnoticed(course: Course, module_name: str) -> None:
    paths = [path for path in CHEATS if module_of(path) == module_name]
    paths = sampled(paths, EVERY.get(module_name, 1), Path.read_text)
    reports = grade_files(course, course.module(module_name), paths, LIMITS)
    results = dict(zip(map(name_of, paths), reports, strict=True))
    wrong = {
        name: [check.name for check in report.asked if check.outcome != "passed"]
        for name, report in results.items()
        if not name.startswith(AGAINST_CHECKS)
    }
    assert {name: checks for name, checks in wrong.items() if checks} == {}, "a cheat with wrong numbers shows nothing"
    breaches = [name for name, report in results.items() if breached(report)]
    assert not breaches, f"{len(breaches)} of {len(results)} got full marks unnoticed: {', '.join(breaches)}"


@pytest.mark.parametrize("path", [path for path in LEAKS if path.stem in FAST_LEAKS], ids=lambda path: path.stem)
def test_no_hidden_input_in_public_text(course: Course, path: Path) -> None:
    assert_same_public_text(course, path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", SLOW_LEAKS, ids=lambda path: path.stem)
def test_no_hidden_input_in_the_public_text_of_all_leaks(course: Course, path: Path) -> None:
    assert_same_public_text(course, path)


def assert_same_public_text(course: Course, path: Path, module: Module | None = None) -> None:
    """Fail if a submission's public text depends on the salt, and so on the hidden inputs."""
    module = module or course.module(module_of(path))
    reports = [report for salt in SALTS for report in grade_files(course, module, [path], LIMITS, salt)]
    if path.stem in TELLING_LINES:  # the excerpt shows the same line
        reports = [
            replace(
                one,
                costs=tuple(replace(cost, code=None) for cost in one.costs),
                diagnoses=tuple(replace(diagnosis, code=None) for diagnosis in one.diagnoses),
            )
            for one in reports
        ]
    texts = [public_text(report) for report in reports]
    if path.stem in TELLING_LINES:
        texts = [re.sub(r'("line": |line )\d+', r"\1", text) for text in texts]
    first, second = (text.splitlines() for text in texts)
    differing = [pair for pair in zip(first, second, strict=False) if pair[0] != pair[1]]
    assert first == second, f"{len(differing)} lines differ, the first ones: {differing[:3]}"


def test_the_public_text_of_a_right_solution_does_not_depend_on_the_salt(course: Course) -> None:
    module = course.module("01_softmax")
    assert_same_public_text(course, course.solution(module), module)


def test_cheats_name_their_module_and_say_what_they_try(course: Course) -> None:
    names = {module.name for module in course.modules}
    for path in (*CHEATS, *LEAKS):
        first, second, *_ = path.read_text().split("\n")
        assert first.startswith(MODULE), path.name
        assert module_of(path) in names, path.name
        assert second.startswith("# "), path.name
    assert len(CHEATS) >= FEWEST
    assert len(LEAKS) >= FEWEST_LEAKS
