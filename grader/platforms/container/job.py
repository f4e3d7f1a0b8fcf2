"""Grade the submission of one student in a platform's container, and never fail without saying why."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from grader.core.report import Report
from grader.course.course import Course, read_course
from grader.course.module import Backend, Module
from grader.grading.pool import grade_in_pool
from grader.grading.workers import NoJailError
from grader.sandbox.jail.limits import MEMORY_BYTES, MEMORY_VARIABLE
from grader.submission.archive import MAX_FILES, SIZE_LIMITS, UnreadableError, is_hidden_name
from grader.submission.finder import find_submissions
from grader.submission.identity import Identity
from grader.submission.submission import FilePlace, SubmissionRef, SubmittedFile

NOT_GRADED = (
    "This submission was not graded and has no score. The autograder or its machine failed, not your code. "
    "Your course staff can run it again."
)
NO_JAIL = "This machine has no jail to run submitted code in, so nothing was run. Your course staff can fix this."
OUT_OF_TIME = "The machine was too slow: the time for one submission is up."
NOTHING = "contains neither a script (.py) nor a notebook (.ipynb)"
STUDENT = "submission"
# Our deadline is this long before the platform's, at which a submission gets a 0 or no result, without a reason.
MARGIN_SECONDS = 45.0
# Measured memory of the grading itself, in MiB. A worker may have the rest of the container's memory.
GRADING_MB: dict[Backend, int] = {"numpy": 224, "torch": 576}
LEAST_MB = 128
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@dataclass(frozen=True)
class Job:
    """One submission to grade: the folders of the course and of the student, the module, and the platform's limit."""

    course: Path
    handed_in: Path
    module: str
    minutes: float


@dataclass(frozen=True)
class Failure:
    """Why a submission has no score: a word for the instructor, and a text for the student."""

    status: str
    message: str


class OutOfTimeError(Exception):
    """The platform's time is nearly up."""


def run_job(job: Job) -> Report | Failure:
    """Return the report of a submission, or why there is no score. The log tells the instructor what happened."""
    try:
        report = grade_folder(job)
    except NoJailError:
        return Failure("no_jail", f"{NOT_GRADED}\n\n{NO_JAIL}")
    except OutOfTimeError:
        return Failure("out_of_time", f"{NOT_GRADED}\n\n{OUT_OF_TIME}")
    except Exception:  # noqa: BLE001 - any other error is the grader's fault, not the student's
        sys.stderr.write(traceback.format_exc())
        return Failure("grader_fault", NOT_GRADED)
    sys.stderr.write(f"{report.module}: {report.status}, {report.score} of {report.max_score:g} points, ")
    sys.stderr.write(f"sandbox {report.sandbox}{', needs review' if report.needs_review else ''}\n")
    if report.score is not None:
        return report
    for detail in dict.fromkeys(check.detail for check in report.checks if check.detail):
        sys.stderr.write(detail + "\n")
    return Failure(report.status, f"{NOT_GRADED}\n\n{report.message}".strip())


def grade_folder(job: Job) -> Report:
    """Grade the submission of one student by the visible and the hidden checks."""
    with contextlib.suppress(OSError):  # in addition to the jail: keep the user of the workers out of the course
        job.course.chmod(0o700)
    course = read_course(job.course)
    module = course.module(job.module)
    room = worker_mb(module.backend, container_mb())
    if room is not None:
        os.environ.setdefault(MEMORY_VARIABLE, str(room))
    with (
        TemporaryDirectory(prefix="attn-") as scratch,
        _deadline(job.minutes * 60 - MARGIN_SECONDS),
        closing(grade_in_pool(course, [handed_in_at(course, module, job.handed_in, Path(scratch))], 1)) as graded,
    ):
        return next(graded).report


def handed_in_at(course: Course, module: Module, folder: Path, scratch: Path) -> SubmissionRef:
    """Return the submission that counts in a folder of one student, however the folder is laid out.

    The folder is copied to one that is laid out like a class of one student, so that no file name is mistaken for the
    name of another student.
    """
    student_folder = scratch / STUDENT
    student_folder.mkdir()
    for path in _handed_in_files(folder):
        if path.is_symlink() or path.is_file():
            target = student_folder / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target, follow_symlinks=False)
    found = find_submissions(course, [scratch], module, "latest")
    if found.handed_in:
        return found.handed_in[0]
    why = "; ".join(f"{Path(path).name} {reason}" for path, reason in found.refused)
    problem = f"your submission {NOTHING}. {why + '. ' if why else ''}Submit {module.slug}.py or {module.slug}.ipynb"
    nothing = FilePlace(student_folder, PurePosixPath(module.slug))
    return SubmissionRef(SubmittedFile(Identity(STUDENT), module, nothing, problem=problem), ())


def _handed_in_files(folder: Path) -> Iterator[Path]:
    """Yield the scripts, notebooks and archives below a folder, in order. Links are not followed."""
    count = 0
    for parent, folders, files in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not is_hidden_name(name))
        for name in sorted(files):
            count += 1
            if count > MAX_FILES * 100:
                raise UnreadableError("has too many files")
            if not is_hidden_name(name) and Path(name).suffix.lower() in SIZE_LIMITS:
                yield Path(parent, name)


def container_mb() -> int | None:
    """Return how much memory this container has, in MiB; None if the system does not say."""
    for name in _LIMITS:
        with contextlib.suppress(OSError, ValueError):
            limit = int(Path(name).read_text()) >> 20
            return limit if limit < 1 << 30 else None  # a huge number stands for no limit
    return None


def worker_mb(backend: Backend, container: int | None) -> int | None:
    """Return how much of a container's memory a worker may have, in MiB; None for the usual amount."""
    if container is None:
        return None
    room = max(LEAST_MB, container - GRADING_MB[backend])
    return room if room < MEMORY_BYTES >> 20 else None


@contextlib.contextmanager
def _deadline(seconds: float) -> Iterator[None]:
    """Raise OutOfTimeError in the body once the time is up."""

    def on_alarm(*_: object) -> None:
        raise OutOfTimeError

    before = signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, max(1.0, seconds))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
