"""The keeper: a process that stays warm for a while and runs the visible checks of one module again and again.

`python -m cli.student.keeper ROOT MODULE SOCKET STAMP`; `cli.student.warm` starts and asks it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from cli.student.own_checks import where_to_paste
from cli.student.warm import ACCEPT_SECONDS, ACCEPTED, Answer
from cli.ui.course_bar import course_bar
from cli.ui.own_screen import own_screen
from grader.core.report import Report
from grader.course.course import Course, find_course
from grader.course.module import CourseError, Module
from grader.sandbox.jail.tiers import begin_spawner
from grader.submission.submission import Submission, own_submission
from grader.workspace.progress import record_report

IDLE_SECONDS = 600.0
LOOK_SECONDS = 5.0  # how often it looks whether it is still needed
REQUEST_BYTES = 1 << 16


def main() -> None:
    """Serve until no request has come for a while, another keeper has taken over, or the files have changed."""
    root, name, address, stamp = sys.argv[1:]
    course = find_course(Path(root))
    keeper = _Keeper(course, course.module(name), Path(address), stamp)
    keeper.listen()  # before the imports: a second command must not start a second keeper
    keeper.run()


@dataclass
class _Keeper:
    course: Course
    module: Module
    address: Path
    stamp: str
    listening: socket.socket = field(default_factory=lambda: socket.socket(socket.AF_UNIX))
    connection: socket.socket = field(default_factory=socket.socket)
    request: Mapping[str, Any] = field(default_factory=dict)
    own: int = 0  # the inode of its socket

    def listen(self) -> None:
        """Take the address, also from another keeper."""
        mine = self.address.with_suffix(f".{os.getpid()}")
        self.listening.bind(str(mine))
        self.listening.listen()
        self.own = mine.stat().st_ino
        mine.replace(self.address)

    def run(self) -> None:
        """Check the student's file at every request, until `requested` ends."""
        begun = begin_spawner(self.module.backend)
        try:
            from grader.grading.grade import check_own_files  # while the worker starts, as in `run_checks`

            check_own_files(self.course, self.module, self._requested(), self._answer, begun)
        finally:
            if begun is not None:
                begun.close()
            if self._is_needed():
                self.address.unlink(missing_ok=True)

    def _is_needed(self) -> bool:
        """Whether requests still come here: its socket and the course are in their places."""
        with contextlib.suppress(OSError):
            return self.address.stat().st_ino == self.own and self.module.folder.is_dir()
        return False

    def _requested(self) -> Iterator[Submission]:
        """Yield the student's work at every request for this version of the module."""
        since = time.monotonic()
        while time.monotonic() - since < IDLE_SECONDS and self._is_needed():
            if not select.select([self.listening], [], [], LOOK_SECONDS)[0]:
                continue
            self.connection, _ = self.listening.accept()
            with self.connection:
                request = self.read()
                if request is None:
                    continue
                if (request["module"], request["stamp"]) != (self.module.name, self.stamp):
                    return  # a newer one is started in its place
                self.request = request
                with contextlib.suppress(OSError, CourseError):  # gone again, or for the command to explain
                    os.chdir(request["cwd"])
                    submission = own_submission(self.course, self.module)
                    self.connection.sendall(ACCEPTED)
                    self.connection.settimeout(None)
                    yield submission
            since = time.monotonic()

    def read(self) -> Mapping[str, Any] | None:
        """Return a request; None if the command went away."""
        self.connection.settimeout(ACCEPT_SECONDS)
        try:
            with self.connection.makefile("rb") as stream:
                return dict(json.loads(stream.readline(REQUEST_BYTES)))
        except (OSError, ValueError, TypeError):
            return None

    def _answer(self, report: Report) -> None:
        """Send what was found, and save it as progress."""
        notes = ""
        try:
            record_report(self.course, self.module, report)
        except OSError as error:
            notes = f"attn: your progress could not be saved: {error.strerror or error}"
        everything, python = bool(self.request["everything"]), where_to_paste(self.module)
        screen = own_screen(report, everything=everything, python=python, bar=course_bar(self.course))
        found = Answer(screen, report.as_json(), notes)
        with contextlib.suppress(OSError):  # the student has pressed Ctrl-C
            self.connection.sendall(json.dumps(asdict(found)).encode() + b"\n")


if __name__ == "__main__":
    main()
