"""Training runs of a student's GPT: the folder of a run, and the process that works in it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import grader
from cli.attention.gpt.text import LearningText
from cli.attention.gpt.training_run import CHECKPOINT, CODE, RUN, TEXT, TrainingRun, code_text, read_code
from grader.core.atomic_file import write_atomically
from grader.core.json_record import to_json
from grader.course.course import Course
from grader.course.module import CourseError, Module
from grader.grading.load_student import as_data
from grader.submission.fallbacks import own_with_fallbacks, with_fallbacks
from grader.submission.submission import Submission, own_submission

BEFORE = "before"  # in the folder of a run, the one that it replaced
SLUG = "transformer"  # the module that has the model
WORKER = "cli.attention.trainer"  # by its name: this process never imports it


def gpt_module(course: Course) -> Module:
    """Return the module that builds the model."""
    for module in course.modules:
        if module.slug == SLUG:
            return module
    fix = "`attn update` adds modules from a newer bundle"
    raise CourseError(course.root / "modules", "", f"there is no module {SLUG}, which builds the GPT", fix, usage=True)


def model_sources(course: Course, module: Module, faults: Mapping[str, str]) -> Submission:
    """Return a student's own work with fallbacks for what is missing, not begun, or has one of these faults."""
    own = own_with_fallbacks(course, module)
    if not faults:
        return own
    slugs = {one.slug: one.name for one in course.modules}
    why = {slug: one.why for one in own.builds_on for slug, name in slugs.items() if name == one.module}
    return with_fallbacks(course, module, own_submission(course, module), why | dict(faults))


def begin_run(folder: Path, run: TrainingRun, text: LearningText, submission: Submission) -> None:
    """Write the files of a new run, the settings last. A run that was in the folder goes to `before/`."""
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / CHECKPOINT).is_file():
        (folder / BEFORE).mkdir(exist_ok=True)
        for name in (RUN, TEXT, CODE, CHECKPOINT):
            (folder / name).replace(folder / BEFORE / name)
    (folder / RUN).unlink(missing_ok=True)
    files = {slug: as_data(source) for slug, source in submission.sources.items()}
    write_atomically(folder / CODE, code_text(files))
    write_atomically(folder / TEXT, text.text)
    write_run(folder, replace(run, builds_on=submission.builds_on))


def write_run(folder: Path, run: TrainingRun) -> None:
    """Write the settings of a run."""
    write_atomically(folder / RUN, json.dumps(to_json(run), indent=1) + "\n")


def changed_files(course: Course, folder: Path) -> list[str]:
    """Return the student's files that are not what they were when a run began."""
    own = own_submission(course, gpt_module(course)).sources
    files = {slug: as_data(source) for slug, source in own.items()}
    before = {slug: one for slug, one in read_code(folder).items() if not one.get("given")}
    return [str(one["file"]) for slug, one in before.items() if slug in files and files[slug]["cells"] != one["cells"]]


class TrainingProcess:
    """The process that trains or writes. It has a process group of its own, so that Ctrl-C does not reach it.

    It stops when its standard input ends, also if this process is killed.
    """

    def __init__(self, folder: Path, job: Mapping[str, Any]) -> None:
        engine = str(Path(grader.__file__).parent.parent)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", WORKER, str(folder.resolve())],
            env=os.environ | {"PYTHONPATH": engine, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        with contextlib.suppress(OSError):  # if it has ended already, it has no events
            self._input.write(json.dumps(job).encode() + b"\n")
            self._input.flush()

    def __enter__(self) -> TrainingProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=10)
        if self._process.poll() is None:
            self.kill()
            self._process.wait()

    @property
    def _input(self) -> Any:
        assert self._process.stdin is not None
        return self._process.stdin

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield what the process says, until it ends."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                event = json.loads(line)
            except ValueError:  # the half line of a process that was killed
                continue
            if type(event) is dict and type(event.get("event")) is str:
                yield event

    def stop(self) -> None:
        """Ask it to save its work and end."""
        with contextlib.suppress(OSError):
            self._input.close()

    def kill(self) -> None:
        """End it at once. Its last checkpoint stays."""
        self._process.kill()

    def ending(self) -> str:
        """Say how it ended."""
        code = self._process.wait()
        return f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
