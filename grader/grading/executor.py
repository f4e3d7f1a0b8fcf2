"""Executors: where submissions are graded. What grades a class does not know which one it has."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Protocol

from grader.core.disk_table import DiskList
from grader.core.machine import gpu_name
from grader.course.course import Course
from grader.course.module import Module
from grader.grading.pool import Graded, grade_in_pool
from grader.grading.workers import TellSlowCheck
from grader.submission.on_disk import ref_form
from grader.submission.submission import SubmissionRef


class Executor(Protocol):
    """A place where submissions are graded: this machine, or others."""

    @property
    def gpu_name(self) -> str | None:
        """The GPU that graded code may use, by the driver's name; None if there is none."""

    def grade(self, course: Course, work: Sequence[SubmissionRef], tell: TellSlowCheck) -> Generator[Graded]:
        """Yield each submission with its report when it is done, in any order, each exactly once.

        The work comes module by module, because another module costs a process a new start. Closing the iterator stops
        the grading. `tell` gets slow checks that begin, where that is known.
        """


@dataclass(frozen=True)
class SplitPool:
    """Two executors: one for modules that use a GPU, one for all others. A GPU would wait for work that needs none."""

    plain: Executor
    gpu: Executor

    @property
    def gpu_name(self) -> str | None:
        """The GPU of the modules that use one."""
        return self.gpu.gpu_name

    def grade(self, course: Course, work: Sequence[SubmissionRef], tell: TellSlowCheck) -> Generator[Graded]:
        """Grade what needs no GPU first, then the rest."""
        for executor, wanted in ((self.plain, False), (self.gpu, True)):
            fitting = (one for one in work if uses_gpu(course, course.module(one.module)) == wanted)
            theirs = DiskList(ref_form(), fitting)
            if theirs:
                yield from executor.grade(course, theirs, tell)


def uses_gpu(course: Course, module: Module) -> bool:
    """Whether a part of a module runs only on a GPU."""
    return module.needs_gpu or bool(module.gpu) or course.gpu_suite(module) is not None


@dataclass(frozen=True)
class LocalPool:
    """The grading processes of this machine. On a GPU there is only one: two would share its memory."""

    jobs: int
    allow_unjailed: bool = False
    gpu: bool = False

    @property
    def gpu_name(self) -> str | None:
        """The GPU of this machine, if it is used."""
        return (gpu_name() or "unknown") if self.gpu else None

    def grade(self, course: Course, work: Sequence[SubmissionRef], tell: TellSlowCheck) -> Generator[Graded]:
        """Grade with this machine's cores."""
        jobs = 1 if self.gpu else self.jobs
        return grade_in_pool(course, work, jobs, allow_unjailed=self.allow_unjailed, gpu=self.gpu, tell=tell)
