"""A grading process: one of several that grade a class. It reads submissions and answers each with its report.

It reads and writes lines of JSON: from standard input to what was standard output, or on a socket if it was forked from
a template. It is as trusted as the command that started it. Student code runs in its workers.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import IO, Any

from grader.core.json_record import from_json
from grader.core.report import Report
from grader.course.course import read_course
from grader.grading.grade import grade
from grader.grading.process_handle import ALLOW_UNJAILED, GPU, failure_of
from grader.sandbox.jail.spawner import ZygoteSpawner
from grader.submission.submission import Submission


def main() -> None:
    """Grade what comes on standard input."""
    if sys.platform == "linux":
        from grader.sandbox.jail.kernel import die_with_parent

        die_with_parent()
    with private_output() as answers:
        serve(Path(sys.argv[1]), sys.argv[2:], sys.stdin.buffer, answers)


def serve(
    root: Path, flags: Sequence[str], requests: IO[bytes], answers: IO[bytes], begun: ZygoteSpawner | None = None
) -> None:
    """Grade submissions until the input ends. The first module uses the zygote that was begun, if it can."""
    settled: set[str] = set()

    def answer(data: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError):  # the command has ended
            answers.write(json.dumps(data).encode() + b"\n")
            answers.flush()

    def on_report(report: Report) -> None:
        answer({"report": report.as_json()})
        if report.module not in settled:  # what is there after the first report stays: do not search it for garbage
            settled.add(report.module)
            gc.freeze()

    def tell(student: str, check: str) -> None:
        answer({"tell": [student, check]})

    allow_unjailed, gpu = ALLOW_UNJAILED in flags, GPU in flags
    try:
        course = read_course(root)
        for name, theirs in groupby(_received(requests), key=lambda one: one.module):
            module = course.module(name)
            if begun is not None and begun.backend != module.backend:
                begun.close()
                begun = None
            grade(course, module, theirs, on_report, allow_unjailed=allow_unjailed, begun=begun, gpu=gpu, tell=tell)
            begun = None
    except Exception as error:  # noqa: BLE001 - raised again by the command
        answer(failure_of(error))


def private_output() -> IO[bytes]:
    """Return standard output for the answers only, and discard what a suite or a library prints."""
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)
    return answers


def _received(lines: IO[bytes]) -> Iterator[Submission]:
    for line in lines:
        yield from_json(Submission, json.loads(line))


if __name__ == "__main__":
    main()
    os._exit(0)  # skip the slow end of the interpreter
