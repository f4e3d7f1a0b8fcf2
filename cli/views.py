"""The commands that only the course around the current folder has, and what `attn --help` says about this course."""

from __future__ import annotations

import importlib
import re
from collections.abc import Container
from pathlib import Path
from typing import Any

import click

from cli.ui.here import here
from grader.course.course_file import COURSE_FILE, CourseFile, View, find_root, read_course_file
from grader.course.module import CourseError

EXAMPLE = "01_warm_up"  # the module in the examples of help texts
_GAP = re.compile(r"(?<=\S) {2,}")  # between an example and what it does
_WIDTH = 27  # of an example, in `attn --help`


def is_in_course() -> bool:
    """Whether the current folder is inside a course."""
    return _root() is not None


def course_file_here() -> CourseFile:
    """Return the `course.toml` of the course around the current folder; outside a course, an empty one."""
    root = _root()
    return CourseFile() if root is None else read_course_file(root)


def views_here(engine: Container[str]) -> dict[str, View]:
    """Return the views of the course, by name. None may have the name of a command of the engine."""
    views = {view.name: view for view in course_file_here().views}
    if taken := next((name for name in views if name in engine), None):
        raise _error(f"views.{taken}", "is a command of every course", "Choose another name")
    return views


def course_file_problem(engine: Container[str]) -> str:
    """Return what is wrong with the `course.toml` here; an empty text if it is sound."""
    try:
        views_here(engine)
    except CourseError as error:
        return str(error)
    return ""


def import_view(view: View) -> click.Command:
    """Import the Python module of a view, and return the command in it."""
    try:
        found: dict[str, Any] = vars(importlib.import_module(view.module))
    except ModuleNotFoundError as error:
        if error.name is None or not f"{view.module}.".startswith(f"{error.name}."):
            raise
        raise _error(
            f"views.{view.name}.module", f"there is no {error.name}", "Install the package that has it"
        ) from None
    for one in found.values():
        if isinstance(one, click.Command) and one.name == view.name:
            return one
    problem = f"{view.module} has no click command {view.name!r}"
    raise _error(f"views.{view.name}.module", problem, "Define it there, or name its module")


def overview(template: str) -> str:
    """Return the help of `attn`, with the course's own sentence and the examples of its views."""
    try:
        file = course_file_here()
    except CourseError:  # the help is shown anyway, and then what is wrong with the file
        file = CourseFile()
    examples = [f"  {typed:<{_WIDTH}}{does}\n" for view in file.views for typed, does in view.examples.items()]
    named = with_module(template, _first_module())
    return named.replace("{sentence}", file.about.sentence).replace("  {views}\n", "".join(examples))


def name_first_module(command: click.Command) -> None:
    """Let a command's help name the first module of the course here, so that its examples can be copied."""
    first = _first_module()
    for text in (command, *command.params):
        if (before := getattr(text, "help", None)) is not None:
            setattr(text, "help", with_module(before, first))  # noqa: B010 - an argument has none
    if isinstance(command, click.Group):
        for below in command.commands.values():
            name_first_module(below)


def with_module(text: str, name: str) -> str:
    """Put a module in the place of the one in the examples. What an example does stays in its column."""
    lines = []
    for line in text.split("\n"):
        named = line.replace(EXAMPLE, name).replace(EXAMPLE[3:], name[3:])
        if (gap := _GAP.search(line)) and named != line:
            typed = line[: gap.start()].replace(EXAMPLE, name).replace(EXAMPLE[3:], name[3:])
            named = f"{typed:<{gap.end() - 2}}  {named[len(typed) :].lstrip()}"
        lines.append(named)
    return "\n".join(lines)


def _first_module() -> str:
    root = _root()
    return min((path.parent.name for path in root.glob("modules/*/module.toml")), default=EXAMPLE) if root else EXAMPLE


def _root() -> Path | None:
    try:
        return find_root(here())
    except OSError:  # the current folder was removed, or cannot be read
        return None


def _error(key: str, problem: str, fix: str) -> CourseError:
    return CourseError((_root() or Path()) / COURSE_FILE, key, problem, fix, usage=True)
