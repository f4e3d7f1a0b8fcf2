"""The report of a submission that could not be graded."""

from __future__ import annotations

from grader.core.machine import Tier, environment
from grader.core.report import Report
from grader.core.safe_text import plain_name, printable
from grader.course.module import Module
from grader.submission.submission import Submission


def not_graded(module: Module, submission: Submission, why: str, sandbox: Tier) -> Report:
    """Return a report without a score and without checks, because the machine failed."""
    return Report(
        module=module.name,
        submission=plain_name(submission.student),
        file=plain_name(submission.file),
        status="not_graded",
        score=None,
        max_score=module.points,
        message=printable(why),
        checks=(),
        costs=(),
        forbidden=(),
        endings=(),
        diagnoses=(),
        sandbox=sandbox,
        environment=environment(),
        timing={"wall_s": None, "cpu_s": None},
    )
