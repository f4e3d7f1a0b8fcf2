"""The part `verdicts` of the benchmark: how many wrong and right submissions each grader accepts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from docs.bench.row import Limit, Row
from docs.bench.verdicts.cs336 import cs336
from docs.bench.verdicts.peer import Peer
from docs.bench.verdicts.torch_judge import TORCH_JUDGE
from grader.authoring.misconceptions import as_submission, read_misconceptions
from grader.core.report import Report
from grader.course.course import Course, read_course
from grader.grading.grade import full_suite, run_grading
from grader.submission.submission import Submission
from tests.cases import cases
from tests.conftest import ROOT
from tests.submissions import submission_of

PART = "verdicts: the same wrong ways, and right solutions in many styles"


@dataclass(frozen=True)
class Verdict:
    """What both graders say about one wrong way, or about one right solution of their own."""

    task: str
    name: str
    theirs: bool | None
    ours: bool | None


@dataclass(frozen=True)
class Comparison:
    """All verdicts on what one other grader and we were asked."""

    peer: Peer
    wrong: tuple[Verdict, ...]
    right: tuple[Verdict, ...]


def verdicts(clone: Path | None = None) -> Iterator[Row]:
    """Yield how many wrong ways and right solutions each grader accepts; the limits are on ours."""
    for comparison in comparisons(clone):
        title = comparison.peer.title
        yield _row(f"wrong ways of {title} that are accepted", title, comparison.wrong, Limit(most=0))
        count = sum(one.ours is not None for one in comparison.right)
        limit = Limit(least=count, most=count)
        yield _row("right solutions that are accepted", title, comparison.right, limit)


def comparisons(clone: Path | None) -> list[Comparison]:
    """Compare with every grader; with CS336 only if there is a checkout of it."""
    peers = [TORCH_JUDGE, *([cs336(clone)] if clone else [])]
    ours = _accepted_here(peers)
    return [Comparison(peer, _wrong_ways(peer, ours), _right_solutions(peer)) for peer in peers]


def _wrong_ways(peer: Peer, ours: dict[tuple[str, str], bool]) -> tuple[Verdict, ...]:
    """Return what a grader and we say about every wrong way."""
    cases = [(task, slip) for task in peer.tasks for slip in task.slips]
    theirs = peer.accepts([(task.name, task.wrong(slip)) for task, slip in cases])
    return tuple(
        Verdict(task.name, slip.misconception, their, ours[task.module, slip.misconception])
        for (task, slip), their in zip(cases, theirs, strict=True)
    )


def _right_solutions(peer: Peer) -> tuple[Verdict, ...]:
    """Return what a grader and we say about right solutions, each for its own signatures."""
    cases = {(task.name, style): text for task in peer.tasks for style, text in task.right.items()}
    theirs = peer.accepts([(task, text) for (task, _), text in cases.items()])
    found = [Verdict(task, style, their, None) for (task, style), their in zip(cases, theirs, strict=True)]
    for module in sorted({task.module for task in peer.tasks}):
        found += [Verdict(module, style, None, one) for style, one in _right_here(module).items()]
    return tuple(found)


@cache
def _right_here(name: str) -> dict[str, bool]:
    """Return for each right solution of a module whether it gets full marks from us."""
    course = read_course(ROOT)
    texts = {case.name: case.code for case in cases("right", name)}
    submissions = [submission_of(course, course.module(name), text) for text in texts.values()]
    reports = _graded(course, name, submissions)
    return {style: report.score == report.max_score for style, report in zip(texts, reports, strict=True)}


def _accepted_here(peers: Sequence[Peer]) -> dict[tuple[str, str], bool]:
    """Return for each misconception in the comparison whether it gets full marks from us."""
    course = read_course(ROOT)
    found: dict[tuple[str, str], bool] = {}
    tasks = [task for peer in peers for task in peer.tasks]
    for name in sorted({task.module for task in tasks}):
        module = course.module(name)
        wanted = {slip.misconception for task in tasks if task.module == name for slip in task.slips}
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


def _row(name: str, title: str, found: Sequence[Verdict], limit: Limit) -> Row:
    """Return a row whose ratio is the number that we accept."""
    theirs = [one.theirs for one in found if one.theirs is not None]
    ours = [one.ours for one in found if one.ours is not None]
    words = f"{title}, of {len(theirs)}"
    return Row(PART, f"{name}, of {len(ours)}", sum(ours), words, sum(theirs), float(sum(ours)), "", limit)
