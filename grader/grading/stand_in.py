"""Grading of a module on top of earlier ones: a fallback stands in where the student's own is at fault.

A student's own earlier module must not cost points here. So if a submission loses points, its earlier modules are
graded by their own checks. Those that fail are replaced by the fallbacks of this module, and the better report counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from grader.core.report import Report
from grader.course.api import REFLECT
from grader.course.course import Course
from grader.course.module import Module
from grader.submission.fallbacks import with_fallbacks
from grader.submission.submission import Submission

Grade = Callable[[Submission], Report]
GradeEarlier = Callable[[Module, Submission], Report]  # grades a student's own earlier module


@dataclass(frozen=True)
class StandIn:
    """Decides for each submission of a module which fallbacks stand in."""

    course: Course
    module: Module
    grade_earlier: GradeEarlier

    def graded(self, submission: Submission, grade: Grade) -> Report:
        """Grade a submission on the student's own earlier modules, or on fallbacks where they are at fault."""
        own = with_fallbacks(self.course, self.module, submission, {})
        report = grade(own)
        if report.score is None or not _loses(report):
            return report
        faults = {slug: why for slug in self.module.fallback if (why := self._fault(slug, submission))}
        if not faults:
            return report
        again = grade(with_fallbacks(self.course, self.module, submission, faults))
        if again.score is None:  # the machine failed: without this grading, the first one may be too low
            return again
        return report if again.score < report.score else again

    def _fault(self, slug: str, submission: Submission) -> str:
        """Say what is wrong with the student's own earlier module; empty if nothing is, or there is none."""
        if slug not in submission.sources:
            return ""
        module = self.course.module(slug)
        source = submission.sources[slug]
        handed_in = replace(submission, module=module.name, file=source.file, problem="", lost="", builds_on=())
        return fault_in(self.grade_earlier(module, handed_in))


def fault_in(report: Report) -> str:
    """Say why a module cannot be built on, in words that follow "your own"; empty if it can."""
    if report.status == "not_importable":
        return "cannot be imported"
    if report.score is None:
        return "could not be checked"
    if any(check.outcome != "passed" for check in report.asked if check.target != REFLECT):
        return "fails its checks"
    if report.forbidden:
        return "calls what its module forbids"
    return "breaks a limit on its costs" if any(cost.verdict != "pass" for cost in report.costs) else ""


def _loses(report: Report) -> bool:
    return report.score != report.max_score or report.needs_review
