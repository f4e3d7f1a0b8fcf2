"""The autograder on Gradescope: one submission in, results.json out, whatever happens on the way.

Started by `run_autograder` as `python -m grader.platforms.gradescope.autograder ROOT`, where ROOT is laid out as
`/autograder` is. It is the light process that stays: grading is in one below it, which may die without taking the
results along.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from grader.core.report import Report
from grader.course.course import Course, read_course
from grader.course.module import Backend, Module
from grader.grading.pool import grade_in_pool
from grader.grading.workers import NoJailError
from grader.platforms.gradescope.results import NOT_GRADED, GradescopeOptions, failed, results_of, write_results
from grader.sandbox.jail.limits import MEMORY_BYTES, MEMORY_VARIABLE
from grader.submission import archive
from grader.submission.finder import find_submissions
from grader.submission.submission import SubmissionRef, SubmittedFile

SETTINGS = "autograder.json"
COURSE = "course"
NO_JAIL = "The machine gives no jail for other people's code: nothing was run. Your course staff will see to it."
NOTHING = "holds neither a script (.py) nor a notebook (.ipynb)"
STUDENT = "submission"
# Our own deadline comes before the platform's, at which a submission gets a 0 and no word why.
MARGIN_SECONDS = 45.0
# What grading itself takes of a container's memory, in MiB, as measured; a worker may have the rest.
GRADING_MB: dict[Backend, int] = {"numpy": 224, "torch": 576}
LEAST_MB = 128
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@dataclass(frozen=True)
class Settings:
    """What was chosen when the zip was made."""

    module: str
    minutes: float
    manner: GradescopeOptions

    def as_json(self) -> dict[str, Any]:
        """Return them as plain data."""
        return {"module": self.module, "minutes": self.minutes, **vars(self.manner)}


def read_settings(path: Path) -> Settings:
    """Return what `as_json` wrote."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return Settings(data["module"], data["minutes"], GradescopeOptions(data["hidden"], data["leaderboard"]))


class OutOfTimeError(Exception):
    """The platform's time is nearly up."""


def main(root: Path) -> int:
    """Grade what lies in ROOT/submission; return 0 if it has a score, and 3 if not."""
    started = time.monotonic()
    results = root / "results" / "results.json"
    try:
        settings = read_settings(root / "source" / SETTINGS)
        report = grade_folder(root / "source" / COURSE, root / "submission", settings)
    except NoJailError:
        data = failed(f"{NOT_GRADED}\n\n{NO_JAIL}", "no_jail")
    except OutOfTimeError:
        data = failed(f"{NOT_GRADED}\n\nThe machine was too slow: the time for one submission is up.", "out_of_time")
    except Exception:  # noqa: BLE001 - whatever it is, it is not the student's
        sys.stderr.write(traceback.format_exc())  # Gradescope keeps it for the instructor
        data = failed(NOT_GRADED, "grader_fault")
    else:
        data = results_of(report, settings.manner, seconds=time.monotonic() - started)
        sys.stderr.write(f"{report.module}: {report.status}, {report.score} of {report.max_score:g} points, ")
        sys.stderr.write(f"sandbox {report.sandbox}{', to be looked at' if report.needs_review else ''}\n")
        for detail in dict.fromkeys(check.detail for check in report.checks if report.score is None and check.detail):
            sys.stderr.write(detail + "\n")
    write_results(results, data)
    return 0 if "score" in data else 3


def grade_folder(course_root: Path, folder: Path, settings: Settings) -> Report:
    """Grade what one student handed in, by the visible and the hidden checks."""
    with contextlib.suppress(OSError):  # beside the jail: whom a worker becomes has no business there
        course_root.chmod(0o700)
    course = read_course(course_root)
    module = course.module(settings.module)
    room = worker_mb(module.backend, container_mb())
    if room is not None:
        os.environ.setdefault(MEMORY_VARIABLE, str(room))
    with (
        TemporaryDirectory(prefix="attn-") as scratch,
        _deadline(settings.minutes * 60 - MARGIN_SECONDS),
        closing(grade_in_pool(course, [handed_in_at(course, module, folder, Path(scratch))], 1)) as graded,
    ):
        return next(graded).report


def handed_in_at(course: Course, module: Module, folder: Path, scratch: Path) -> SubmissionRef:
    """Return what counts of a folder that is all one student's, however it is laid out.

    A copy of it lies in a folder of its own, as a student's folder in a class does; so a name in it is nobody else's.
    """
    own = scratch / STUDENT
    own.mkdir()
    for path in archive.walk(folder):
        if path.is_symlink() or path.is_file():
            target = own / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target, follow_symlinks=False)
    found = find_submissions(course, [scratch], module, "latest").handed_in
    if found:
        return found[0]
    problem = f"what was handed in {NOTHING}: hand in {module.slug}.py or {module.slug}.ipynb"
    nothing = SubmittedFile(STUDENT, module, PurePosixPath(module.slug), own, False, 0.0, None, "", 0, 0, problem)
    return SubmissionRef(nothing, ())


def container_mb() -> int | None:
    """Return how much memory this container has, in MiB; None if nobody says so."""
    for name in _LIMITS:
        with contextlib.suppress(OSError, ValueError):
            limit = int(Path(name).read_text()) >> 20
            return limit if limit < 1 << 30 else None  # a number beyond all machines stands for none
    return None


def worker_mb(backend: Backend, container: int | None) -> int | None:
    """Return how much of a container's memory a worker may have; None if it may have what it has everywhere."""
    if container is None:
        return None
    room = max(LEAST_MB, container - GRADING_MB[backend])
    return room if room < MEMORY_BYTES >> 20 else None


@contextlib.contextmanager
def _deadline(seconds: float) -> Iterator[None]:
    """Raise OutOfTimeError in what is done here once the time is up."""

    def over(*_: object) -> None:
        raise OutOfTimeError

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, max(1.0, seconds))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
