"""The part `verdicts` of the benchmark: how many wrong and right submissions each grader accepts."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from grader.authoring.misconceptions import as_submission, read_misconceptions
from grader.core.report import Report
from grader.course.course import Course, read_course
from grader.grading.grade import full_suite, run_grading
from grader.submission.submission import Submission
from tests.bench.row import Limit, Row
from tests.bench.verdicts.task import Slip, Task
from tests.bench.verdicts.torch_judge import VERSION, accepted_by_torch_judge
from tests.bench.verdicts.torch_judge_tasks import TASKS
from tests.conftest import DATA, ROOT
from tests.submissions import submission_of

PART = "verdicts: the same wrong ways, and right solutions in many styles"
PEER = f"torch-judge {VERSION}"


@dataclass(frozen=True)
class Verdict:
    """What both graders say about one wrong way, or about one right solution of their own."""

    task: str
    name: str
    theirs: bool | None
    ours: bool | None


def verdicts() -> Iterator[Row]:
    """Yield how many wrong ways and right solutions each grader accepts; the limits are on ours."""
    wrong, right = wrong_ways(), right_solutions()
    yield _row("wrong ways that are accepted", wrong, Limit(most=0))
    ours = [one for one in right if one.ours is not None]
    yield _row("right solutions that are accepted", right, Limit(least=len(ours), most=len(ours)))


def wrong_ways() -> list[Verdict]:
    """Return what both graders say about every wrong way."""
    cases = [(task, slip) for task in TASKS for slip in task.slips]
    theirs = _torch_judge([(task.name, task.wrong(slip)) for task, slip in cases])
    ours = _accepted_here(cases)
    return [
        Verdict(task.name, slip.misconception, their, ours[task.module, slip.misconception])
        for (task, slip), their in zip(cases, theirs, strict=True)
    ]


def right_solutions() -> list[Verdict]:
    """Return what each grader says about right solutions for its own signatures."""
    cases = [(task, style) for task in TASKS for style in task.right]
    theirs = _torch_judge([(task.name, task.right[style]) for task, style in cases])
    found = [Verdict(task.name, style, their, None) for (task, style), their in zip(cases, theirs, strict=True)]
    course = read_course(ROOT)
    for name in sorted({task.module for task in TASKS}):
        module = course.module(name)
        texts = {path.stem: path.read_text() for path in sorted((DATA / "right" / name).glob("*.py"))}
        submissions = [submission_of(course, module, text) for text in texts.values()]
        full = [report.score == report.max_score for report in _graded(course, name, submissions)]
        found += [Verdict(name, style, None, one) for style, one in zip(texts, full, strict=True)]
    return found


def _accepted_here(cases: list[tuple[Task, Slip]]) -> dict[tuple[str, str], bool]:
    """Return for each misconception whether it gets full marks from us."""
    course = read_course(ROOT)
    found: dict[tuple[str, str], bool] = {}
    for name in sorted({task.module for task, _ in cases}):
        module = course.module(name)
        wanted = {slip.misconception for task, slip in cases if task.module == name}
        ways = [way for way in read_misconceptions(course, module) if way.name in wanted]
        reports = _graded(course, name, [as_submission(course, module, way) for way in ways])
        found |= {(name, way.name): report.score == report.max_score for way, report in zip(ways, reports, strict=True)}
    return found


def _graded(course: Course, name: str, submissions: list[Submission]) -> list[Report]:
    """Grade by checks and costs. What is wrong need not be named."""
    reports: list[Report] = []
    suite = replace(full_suite(course, course.module(name)), diagnosed=False)
    run_grading(suite, submissions, reports.append, course=course)
    return reports


def _torch_judge(submissions: list[tuple[str, str]]) -> list[bool]:
    with tempfile.TemporaryDirectory() as scratch:
        return accepted_by_torch_judge(submissions, Path(scratch))


def _row(name: str, found: list[Verdict], limit: Limit) -> Row:
    """Return a row whose ratio is the number that we accept."""
    theirs = [one.theirs for one in found if one.theirs is not None]
    ours = [one.ours for one in found if one.ours is not None]
    words = f"{PEER}, of {len(theirs)}"
    return Row(PART, f"{name}, of {len(ours)}", sum(ours), words, sum(theirs), float(sum(ours)), "", limit)
