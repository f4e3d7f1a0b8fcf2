"""The course that a command acts on: that of `attn --course DIR`, or the one around the current folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from grader.course.course import Course

_KEY = "attnlab.course"


def remember(context: click.Context, parameter: click.Parameter, folder: Path | None) -> None:
    """Note the folder of `--course` for everything that runs in this command."""
    del parameter
    if folder is not None:
        context.meta[_KEY] = folder


def here() -> Path:
    """Return the folder whose course is meant. Files on the command line are still seen from the current folder."""
    context = click.get_current_context(silent=True)
    folder: Path | None = context.meta.get(_KEY) if context else None
    return Path.cwd() if folder is None else folder


def course_here() -> Course:
    """Return the course that is meant, or raise a CourseError."""
    from grader.course.course import find_course  # here, so that `attn --help` does not import it

    return find_course(here())
