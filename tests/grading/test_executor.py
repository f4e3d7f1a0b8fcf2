"""The choice between executors."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from grader.course.course import Course
from grader.grading.executor import Executor, LocalPool, SplitPool
from grader.grading.pool import Graded
from grader.grading.workers import TellSlowCheck
from grader.submission.identity import Identity
from grader.submission.submission import FilePlace, SubmissionRef, SubmittedFile


@dataclass
class NoMachines:
    """An executor that notes what it should grade."""

    gpu_name: str | None = None
    asked: list[str] = field(default_factory=list)

    def grade(self, course: Course, work: Sequence[SubmissionRef], tell: TellSlowCheck) -> Generator[Graded]:
        """Note the modules."""
        del course, tell
        self.asked += [one.module for one in work]
        yield from ()


def handed_in(course: Course, module: str) -> SubmissionRef:
    file = SubmittedFile(Identity("ana"), course.module(module), FilePlace(Path("x.py"), PurePosixPath("x.py")))
    return SubmissionRef(file, ())


def test_modules_that_use_a_gpu_go_to_machines_that_have_one(course: Course) -> None:
    plain, gpu = NoMachines(), NoMachines("H200")
    split: Executor = SplitPool(plain, gpu)
    work = [handed_in(course, name) for name in ("softmax", "gpu_path", "masks", "triton_flash")]
    assert list(split.grade(course, work, lambda *_: None)) == []
    assert plain.asked == ["01_softmax", "04_masks"]
    assert gpu.asked == ["07_gpu_path", "13_triton_flash"]
    assert split.gpu_name == "H200"


def test_an_executor_without_work_is_not_asked(course: Course) -> None:
    plain, gpu = NoMachines(), NoMachines("H200")
    list(SplitPool(plain, gpu).grade(course, [handed_in(course, "softmax")], lambda *_: None))
    assert (plain.asked, gpu.asked) == (["01_softmax"], [])


def test_the_local_pool_names_no_gpu_that_it_does_not_use() -> None:
    pool: Executor = LocalPool(2)
    assert pool.gpu_name is None
