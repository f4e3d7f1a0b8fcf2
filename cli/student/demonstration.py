"""What a student can do with a complete module: its demonstration, run with their own code."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys

from grader.core.machine import IN_BROWSER
from grader.core.safe_text import visible
from grader.course.course import Course
from grader.course.module import Milestone

SECONDS = 20
MOST_LINES, WIDTH = 7, 78  # the screen indents them
_COMMAND = "import sys; from cli.main import run; sys.argv = {words!r}; sys.exit(run())"


def result_of(milestone: Milestone, course: Course) -> list[str]:
    """Return what the demonstration prints, shortened; nothing if it fails or takes too long.

    It runs in the folder of the course with the student's own Python, as if they had typed it.
    """
    printed = _printed_here(milestone.code) if IN_BROWSER else _printed_by_python(milestone, course)
    lines = [line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…" for line in visible(printed).splitlines()]
    lines = [line for line in lines if line.strip()]
    return lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], "…"]


def _printed_by_python(milestone: Milestone, course: Course) -> str:
    code = _COMMAND.format(words=milestone.code.split()) if milestone.is_command else milestone.code
    command = [sys.executable, "-c", code]
    try:
        done = subprocess.run(
            command, cwd=course.root, capture_output=True, text=True, encoding="utf-8", timeout=SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError, ValueError):
        return ""
    return done.stdout


def _printed_here(code: str) -> str:
    """Run lines of Python in this process: a browser has no other."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(code, {"__name__": "demonstration"})
    except Exception:  # noqa: BLE001 - the student's own code may raise anything; the lines are shown all the same
        return ""
    return printed.getvalue()
