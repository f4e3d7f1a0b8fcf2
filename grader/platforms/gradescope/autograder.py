"""The autograder on Gradescope: reads one submission and always writes results.json.

`run_autograder` starts it as `python -m grader.platforms.gradescope.autograder ROOT`, where ROOT is laid out like
`/autograder`. This process uses little memory. It grades in a child process, so that it can still write results if that
process dies.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.core.json_record import from_json, to_json
from grader.platforms.container.files import COURSE
from grader.platforms.container.job import Failure, Job, run_job
from grader.platforms.gradescope.results import GradescopeOptions, failed, results_of, write_results

SETTINGS = "autograder.json"


@dataclass(frozen=True)
class Settings:
    """The settings that were chosen when the zip was made."""

    module: str
    minutes: float
    options: GradescopeOptions

    def as_json(self) -> dict[str, Any]:
        """Return the settings as JSON data, in one flat object."""
        data = to_json(self)
        options = data.pop("options")
        return {**data, **options}


def read_settings(path: Path) -> Settings:
    """Return the settings that `as_json` wrote."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return from_json(Settings, {**data, "options": data})


def main(root: Path) -> int:
    """Grade the submission in ROOT/submission; return 0 if it has a score, and 3 if not."""
    started = time.monotonic()
    source = root / "source"
    settings = read_settings(source / SETTINGS)
    outcome = run_job(Job(source / COURSE, root / "submission", settings.module, settings.minutes))
    if isinstance(outcome, Failure):
        data = failed(outcome.message, outcome.status)
    else:
        data = results_of(outcome, settings.options, seconds=time.monotonic() - started)
    write_results(root / "results" / "results.json", data)
    return 0 if "score" in data else 3


<<<<<<< HEAD
=======
def grade_folder(course_root: Path, folder: Path, settings: Settings) -> Report:
    """Grade the submission of one student by the visible and the hidden checks."""
    with contextlib.suppress(OSError):  # in addition to the jail: keep the user of the workers out of the course
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


>>>>>>> w/canvas
if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
