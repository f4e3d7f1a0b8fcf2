"""`attn hint`: one hint at a time."""

from __future__ import annotations

import sys
import textwrap

import click

from cli.student.current import course_and_module
from cli.ui.arguments import modules_here
from cli.ui.course_bar import course_bar, with_bar
from grader.core.json_record import json_text
from grader.course.course import Course
from grader.course.golden import read_golden
from grader.course.hints import TIERS, read_hints
from grader.course.module import Module
from grader.workspace.progress import HintGiven, next_hint, progress_of, record_hint
from grader.workspace.reflect import questions_of


@click.command()
@click.argument("module_name", metavar="[MODULE]", required=False, shell_complete=modules_here)
@click.option("--json", "as_json", is_flag=True, help="Print the hint as JSON.")
def hint(module_name: str | None, as_json: bool) -> None:
    """Get one hint about the first thing that fails. First a nudge, then a pointer, then the step worked out.

    \b
    attn test warm_up    a hint is about a run that failed
    attn hint warm_up    the next hint comes after an edit and another failing run

    Exit status: 0 a hint was given, 1 there is no hint to give now, 2 no such module.
    """
    course, module = course_and_module(module_name)
    given = next_hint(course, module)
    if given is None:
        click.echo(_no_failure(course, module), err=True)
        sys.exit(1)
    found = hint_text(module, given)
    if found is None:
        click.echo(f"There are no hints for {given.function}. Read the lesson: {module.lesson.name}.", err=True)
        sys.exit(1)
    record_hint(course, module, given)
    function, text = found
    if as_json:
        about = {"module": module.name, "function": function, "misconception": given.mistake or None}
        entry = about | {"tier": TIERS[given.tier - 1], "hint": text}
        click.echo(json_text(entry))
        return
    head, *rest = hint_lines(module, given, function, text)
    click.echo("\n".join([with_bar(head, course_bar(course)), *rest]))


def hint_text(module: Module, given: HintGiven) -> tuple[str, str] | None:
    """Return the function that a hint is about, and the hint.

    A mistake with a name has its own hint, which `attn test` has shown. It is repeated only where there is no other.
    """
    hints = read_hints(module)
    function = given.function if given.function in hints else _first_method(given.function, tuple(hints))
    if function is not None:
        return function, hints[function].tier(given.tier)
    mistake = read_golden(module).misconceptions.get(given.mistake)
    return (given.function, str(mistake["hint"])) if mistake is not None else None


def hint_lines(module: Module, given: HintGiven, function: str, text: str) -> list[str]:
    """Return a hint as it is shown."""
    lines = [f"{function}, hint {given.tier} of {len(TIERS)}", *_about(module, given), ""]
    lines += [click.wrap_text(line, 80, "  ", "  ") for line in text.splitlines()]
    if given.tier < len(TIERS):
        then = f"The next one comes after an edit and another failing `attn test {module.slug}`."
        lines += ["", *textwrap.wrap(then, 78, break_on_hyphens=False)]
    return lines


def _no_failure(course: Course, module: Module) -> str:
    """Say what to run where there is no failure to give a hint about."""
    if progress_of(course, module).state == "passing":
        reflect = "\nFor a question under Reflect, read its part of the lesson (README.md)."
        words = f"Every visible check passes. Is more open? Run `attn complete {module.slug}`."
        return words + (reflect if questions_of(module) else "")
    return f"A hint is about a run that failed. Run `attn test {module.slug}` first."


def _about(module: Module, given: HintGiven) -> list[str]:
    """Return the mistake that a hint is about, in the words of `attn test`."""
    mistake = read_golden(module).misconceptions.get(given.mistake)
    return textwrap.wrap(f"Likely: {mistake['likely']} ({given.mistake})", 78) if mistake is not None else []


def _first_method(target: str, known: tuple[str, ...]) -> str | None:
    """Return the first method with hints of a class that fails as a whole."""
    return next((name for name in known if name.startswith(f"{target}.")), None)
