"""What `explain` and `show` share: the choice of a module with attention, and the notes below a screen."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Sequence

import click

from cli.attention.trace import STEPS, Trace
from cli.ui.arguments import module_named, modules_here
from grader.core.errors import StudentError
from grader.core.safe_text import printable
from grader.course.course import Course
from grader.course.module import Module
from grader.workspace.progress import all_progress

WIDTH = 80
whose_option = click.option(
    "--module",
    "-m",
    "module_name",
    metavar="MODULE",
    shell_complete=modules_here,
    help="Whose code: loop_attention or attention.",
)


def module_with_attention(course: Course, name: str | None) -> Module:
    """Return the named module, else the latest begun one with attention, else the first one with attention."""
    known = " and ".join(STEPS)
    if name is not None:
        module = module_named(course, name)
        if module.name not in STEPS:
            raise click.UsageError(f"this command works with {known}, not with {module.name}.")
        return module
    able = [one for one in all_progress(course) if one.module.name in STEPS]
    if not able:
        raise click.UsageError(f"this command works with {known}, and neither is here.")
    begun = [one.module for one in able if one.state != "untouched"]
    return begun[-1] if begun else able[0].module


def traced(trace: Callable[[], Trace]) -> Trace:
    """Return the trace; a file that cannot be loaded ends the command."""
    try:
        return trace()
    except StudentError as error:
        click.echo(f"Your file could not be loaded: {printable(str(error))}\nFix this first.", err=True)
        sys.exit(1)


def note_lines(trace: Trace, module: Module, notes: Sequence[str], end: str) -> list[str]:
    """Return in words what is wrong, and where to read more."""
    shown = [*notes, *([f"{trace.problem}: {end}"] if trace.problem else [])]
    lines = [line for text in shown for line in _wrapped(f"{text}.", "  ")]
    begin = [] if not shown or (trace.problem and not trace.stages) else [""]
    return [*begin, *lines, "", f"  `attn test {module.slug}` says more."] if shown else []


def _wrapped(text: str, first: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=f"{first}  ")
