"""A run of `nbgrader autograde`: grades its submissions in parallel and returns each when nbgrader asks for it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

from grader.core.report import Report
from grader.course.course import Course
from grader.course.module import Module
from grader.grading.pool import Graded, grade_in_pool, usable_cores
from grader.grading.workers import NoJailError
from grader.submission.finder import find_submissions
from grader.submission.submission import SubmissionRef, submission_hash

NO_JAIL = (
    "this machine has no jail, so submitted code could read and change everything that you can. `attn doctor` says "
    "why and what to install. To grade code that you trust, set c.AttnLab.allow_unjailed = True"
)


class AutogradeError(Exception):
    """A submission that cannot be graded in this course directory, and why."""


class AutogradeRun:
    """The submissions that one run of nbgrader's converter has graded and is grading.

    nbgrader asks for one student after the other. Its first request starts the grading of all of them, on every core.
    A finished report is kept until nbgrader asks for it.
    """

    def __init__(self, converter: Any) -> None:
        self.coursedir = converter.coursedir
        self.converter = converter
        self._stream: Generator[Graded] | None = None
        self._pending: set[str] = set()
        self._done: dict[str, Graded] = {}
        self._problem: Exception | None = None  # of the course or the machine, so that it stays for the complete run

    def report(self, course: Course, assignment: str, notebook: str, student: str, *, allow_unjailed: bool) -> Report:
        """Return the report of one submission, as it is in `submitted/` now."""
        module = _module(course, assignment, notebook)
        handed_in = self._handed_in(course, module, student)
        if student not in self._done and student not in self._pending:
            self._begin(course, [handed_in, *self._following(course, module, student)], allow_unjailed)
        graded = self._wait_for(student)
        if graded.submission != submission_hash(handed_in.read()):  # changed since the run began
            self._begin(course, [handed_in], allow_unjailed)
            graded = self._wait_for(student)
        return graded.report

    def _begin(self, course: Course, work: list[SubmissionRef], allow_unjailed: bool) -> None:
        if self._stream is not None:
            self._stream.close()
        self._pending = {one.student for one in work}
        self._stream = grade_in_pool(course, work, usable_cores(), allow_unjailed=allow_unjailed)

    def _wait_for(self, student: str) -> Graded:
        if self._problem is not None:
            raise self._problem
        try:
            while student not in self._done and self._stream is not None:
                graded = next(self._stream)
                self._done[graded.handed_in.student] = graded
                self._pending.discard(graded.handed_in.student)
            if not self._pending and self._stream is not None:
                next(self._stream, None)  # let it end its processes
                self._stream = None
        except NoJailError:
            self._problem = AutogradeError(NO_JAIL)
            raise self._problem from None
        except Exception as error:
            self._problem = error
            raise
        return self._done.pop(student)

    def _handed_in(self, course: Course, module: Module, student: str) -> SubmissionRef:
        """Return a student's submission for a module, together with their other modules, as `attn grade` does."""
        folder = Path(self.coursedir.format_path(self.coursedir.submitted_directory, student, "."))
        found = find_submissions(course, [folder], module, student=student)
        if len(found.handed_in) != 1:
            why = "".join(f". {path} {reason}" for path, reason in found.refused)
            raise AutogradeError(f"{folder} does not have exactly one submission of {student} for {module.name}{why}")
        return found.handed_in[0]

    def _following(self, course: Course, module: Module, student: str) -> list[SubmissionRef]:
        """Return the submissions that nbgrader will ask for next. Missing one only costs time."""
        any_student, name = "(?P<student>.*)", re.escape(module.name)
        pattern = self.coursedir.format_path(self.coursedir.submitted_directory, any_student, name, escape=True)
        found = [match["student"] for folder in self.converter.assignments if (match := re.fullmatch(pattern, folder))]
        following = []
        for other in sorted(one for one in found if one > student):
            done = self.coursedir.format_path(self.coursedir.autograded_directory, other, module.name)
            if self.converter.force or not Path(done).exists():
                with contextlib.suppress(AutogradeError):  # reported when nbgrader asks for that student
                    following.append(self._handed_in(course, module, other))
        return following


def _module(course: Course, assignment: str, notebook: str) -> Module:
    for module in course.modules:
        if (module.name, module.slug) == (assignment, notebook):
            return module
    if not course.modules:
        raise AutogradeError(f"there is no AttnLab course in {course.root}. Correct c.AttnLab.course")
    modules = ", ".join(f"{module.name}/{module.slug}.ipynb" for module in course.modules)
    problem = f"{assignment}/{notebook}.ipynb is not an AttnLab module, and only those are run here"
    raise AutogradeError(f"{problem}. The modules are {modules}")
