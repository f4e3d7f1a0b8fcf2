"""Reports, marks and provenances for tests of stores, made without grading."""

from __future__ import annotations

from dataclasses import replace

from grader.classroom.journal import ReportKey
from grader.classroom.marks import Mark
from grader.classroom.provenance import Provenance
from grader.classroom.results import Results, grade_changes
from grader.core.report import CheckResult, Report

MODULE = "01_softmax"


def provenance(submission: str = "code") -> Provenance:
    """Return the provenance of some code."""
    return Provenance(submission, "checks", "grader", {"python": "3.11"})


def report(student: str, score: float = 8.0, message: str = "a message") -> Report:
    """Return a report with one check."""
    check = CheckResult(
        *("sums", "hidden", "softmax", 10.0, score, "passed" if score == 10 else "failed"),
        *("rows sum to one ✓", message, "detail"),
    )
    return Report(
        module=MODULE,
        submission=student,
        file="softmax.py",
        status="graded",
        score=score,
        max_score=10.0,
        message="",
        checks=(check,),
        costs=(),
        forbidden=(),
        endings=(),
        diagnoses=(),
        sandbox="strict",
        environment={"python": "3.11"},
        timing={"wall_s": 0.1, "cpu_s": 0.1},
    )


def mark(student: str, score: float = 8.0, attempt: str = "", **changes: object) -> Mark:
    """Return the mark of such a report."""
    made = Mark(
        *(student, "", "", student, MODULE, "graded", score, 10.0, "", "", 0.0, 0.0, score, attempt, 1, False),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def grade(results: Results, scores: dict[str, float], *, finish: bool = True) -> None:
    """Write what a run of `attn grade` writes."""
    keys = [ReportKey(MODULE, student) for student in scores]
    for key in keys:
        results.write(key, report(key.student, scores[key.student]), provenance())
    if finish:
        results.writer.atomically(lambda: settle(results, keys, scores), alone=True)


def settle(results: Results, keys: list[ReportKey], scores: dict[str, float]) -> None:
    """End a run: marks, changes and the class list."""
    for key in keys:
        results.mark(key, mark(key.student, scores[key.student]))
    results.finish(
        sorted(class_marks(results), key=lambda one: one.id), keys, [], list(grade_changes(results.writer, keys))
    )


def class_marks(results: Results) -> list[Mark]:
    """Return the marks of all reports, from all runs."""
    return [entry.mark for entry in results.writer.counted() if entry.mark]
