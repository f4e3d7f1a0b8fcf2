"""The assignment of the benchmark: it is sound, and its notebooks agree with AttnLab. No other grader is needed."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from docs.bench.peers.agreement import right_questions
from docs.bench.peers.assignment import QUESTIONS, read_assignment
from docs.bench.peers.course import NAME, SLUG, hand_in, make_course, script_of
from docs.bench.peers.nbgrader import TESTS, source_cells
from docs.bench.peers.otter import test_file as otter_file
from docs.bench.peers.pupils import Pupil, class_of, ways
from grader.authoring.soundness import check_module
from grader.core.report import Report
from grader.course.course import Course
from grader.grading.grade import grade
from grader.submission.submission import Source, Submission


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return make_course(tmp_path_factory.mktemp("bench"), contracts=True)


def graded(course: Course, pupils: list[Pupil]) -> dict[str, Report]:
    reports: list[Report] = []
    submissions = [
        Submission(one.name, NAME, f"{SLUG}.py", {SLUG: Source(f"{SLUG}.py", (script_of(one),), notebook=False)})
        for one in pupils
    ]
    grade(course, course.modules[0], submissions, reports.append, allow_unjailed=True)
    return {report.submission: report for report in reports}


def in_a_notebook(answers: Mapping[str, str]) -> dict[str, bool]:
    """Run the cells of the notebook in order with these answers, and return which test cells pass."""
    namespace: dict[str, Any] = {}
    passed = {}
    for cell in source_cells(read_assignment()):
        name = cell["metadata"]["nbgrader"]["grade_id"]
        passed[name] = False
        with contextlib.suppress(Exception):
            exec(answers.get(name, cell["source"]), namespace)
            passed[name] = True
    return {question: passed[f"{question}{TESTS}"] for question in QUESTIONS}


@pytest.mark.exhaustive  # a proof of its own
def test_the_course_is_sound(course: Course) -> None:
    problems = check_module(course, course.modules[0]).problems
    # The other graders have no such check, so this course gives it no points; and all graders share its wrong ways.
    known = ("can change its arguments at no cost", "no misconception breaks the limit on")
    assert [one for one in problems if not any(words in one.what for words in known)] == []


@pytest.mark.exhaustive
def test_a_notebook_and_attnlab_agree_on_every_way(course: Course) -> None:
    pupils = [Pupil(way.name, way) for way in ways()]
    reports = graded(course, pupils)
    for pupil in pupils:
        verdict = right_questions([vars(check) for check in reports[pupil.name].checks])
        assert all(verdict.values()) == pupil.way.right, pupil.name
        assert verdict == in_a_notebook(pupil.answers), pupil.name


def test_six_of_ten_are_right_and_every_way_occurs() -> None:
    pupils = class_of(60)
    assert sum(pupil.way.right for pupil in pupils) == 36
    assert {pupil.way.name for pupil in pupils} == {way.name for way in ways()}
    assert len({script_of(pupil) for pupil in pupils}) == 60


def test_the_class_is_handed_in_as_notebooks(tmp_path: Path) -> None:
    hand_in(tmp_path, class_of(2))
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.ipynb")) == [
        f"p0000/{NAME}/{SLUG}.ipynb",
        f"p0001/{NAME}/{SLUG}.ipynb",
    ]


@pytest.mark.parametrize("question", QUESTIONS)
def test_otter_is_given_every_check_of_a_question(question: str) -> None:
    nodes = ast.parse(otter_file(read_assignment(), question)).body
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.decorator_list]
    cases = {node.name: ast.unparse(node.decorator_list[0]) for node in functions}
    checks = read_assignment().of(question)
    assert cases == {check.name: f"test_case(points=1, hidden={check.hidden})" for check in checks}
    assert [check.hidden for check in checks] == [False] + [True] * (len(checks) - 1)
