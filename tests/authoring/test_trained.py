"""A module with a training run: its proof is sound, each run gives the same report, and slow checks run once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grader.core.report import Report
from grader.course.course import Course, read_course
from grader.grading.grade import grade
from grader.submission.submission import Source, Submission
from tests.authoring.small_courses import built, copied, edit, problems

SUITE = "tests/hidden/test_01_regression.py"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return built("trained", tmp_path_factory.mktemp("courses"))


def graded(course: Course, text: str) -> tuple[Report, list[tuple[str, str]]]:
    """Grade a file; return its report, and the slow checks that were announced."""
    reports: list[Report] = []
    told: list[tuple[str, str]] = []
    submission = Submission(
        "ana", "01_regression", "regression.py", {"regression": Source("regression.py", (text,), False)}
    )
    grade(
        course,
        course.modules[0],
        [submission],
        reports.append,
        allow_unjailed=True,
        tell=lambda *said: told.append(said),
    )
    return reports[0], told


@pytest.mark.exhaustive
def test_it_is_sound(trained: Course) -> None:
    assert problems(trained, "regression") == ""


@pytest.mark.exhaustive  # trains six times
def test_a_training_run_is_graded_alike_and_announced_once(trained: Course) -> None:
    right = trained.solution(trained.modules[0]).read_text()
    first, told = graded(trained, right)
    assert first.score == first.max_score
    assert told == [("ana", "a long training run learns the rule behind the data")]
    wrong = right.replace("weights - 0.1", "weights + 0.1").replace("losses = []", "losses = []\n    print('run')")
    failed, told = graded(trained, wrong)
    assert len(told) == 1  # a check that fails runs again in a new process, but not a slow one
    assert [one.misconception for one in failed.diagnoses] == ["uphill"]
    again = [replace(graded(trained, text)[0], timing={}) for text in (right, wrong)]
    assert again == [replace(first, timing={}), replace(failed, timing={})]


@pytest.mark.exhaustive
def test_an_unseeded_solution_is_not_sound(tmp_path: Path) -> None:
    course = copied("trained", tmp_path)
    solution = course.solution(course.modules[0])
    wrong = solution.with_name("misconceptions.py")
    edit(solution, ", generator=generator)]", ")]")
    edit(wrong, "(batch_size,))]", "(1,))]")  # it would be the same as the solution now
    wrong.write_text(wrong.read_text().replace(", generator=generator)]", ")]"))
    found = problems(course, "regression")
    assert "the solution fails batch_is_seeded" in found
    assert "the solution fails training_is_seeded" in found


@pytest.mark.exhaustive
def test_a_check_without_enough_time_is_slow_and_not_random(tmp_path: Path) -> None:
    course = copied("trained", tmp_path)
    edit(course.root / SUITE, "cpu_s=30", "cpu_s=0.01")
    found = problems(course, "regression")
    assert "the solution takes too long in training_learns" in found
    assert "give it time: @worth(..., cpu_s=30)" in found
    assert "random inputs" not in found


def test_a_module_may_have_more_time(tmp_path: Path) -> None:
    course = copied("trained", tmp_path)
    edit(course.modules[0].folder / "module.toml", "points = 15", "points = 15\nlimits = {cpu_s = 12.5}")
    assert read_course(course.root).modules[0].cpu_s == 12.5
