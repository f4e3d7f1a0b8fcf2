"""`attn dev`: the author's commands."""

from __future__ import annotations

import json
import sys
from dataclasses import astuple

import click

from cli.ui.arguments import chosen
from cli.ui.here import course_here, here
from cli.ui.progress_line import ProofLine
from cli.ui.report_screens import soundness_lines
from grader.authoring.build import build_module, build_modules, new_module
from grader.authoring.examples import EXAMPLES, NUMBERS
from grader.authoring.register import read_register
from grader.authoring.soundness import NO_RUFF, check_modules, has_ruff, is_linted
from grader.course.course import Course, find_course, read_course
from grader.course.module import CourseError


@click.group()
def dev() -> None:
    """Write and maintain modules (for course authors).

    \b
    attn dev new sorting  create the files of a new module
    attn dev build        rebuild stubs and golden files from the solutions
    attn dev check        prove that the course is sound, or say what is not
    """


@dev.command()
@click.argument("slug")
@click.option("--title", help="The title that students see; by default made from the name.")
@click.option("--example", type=click.Choice(EXAMPLES), default=NUMBERS, help="What it does until you replace it.")
def new(slug: str, title: str | None, example: str) -> None:
    """Create the files of a new module: small, sound, and yours to fill in.

    \b
    attn dev new sorting
    attn dev new sorting --title "Sorting things"
    attn dev new sorting --example words

    The files of --example numbers double an array of NumPy, those of --example words count the words of a text.
    """
    course = find_course(here(), or_empty=True)
    files = new_module(course, slug, title or slug.replace("_", " ").capitalize(), example)
    course = read_course(course.root)
    files += build_module(course, course.module(slug))
    for path in sorted(files):
        click.echo(path.relative_to(course.root))
    click.echo(f"\nFill them in, then run: attn dev build {slug} && attn dev check {slug}", err=True)


@dev.command()
@click.argument("modules", nargs=-1)
def build(modules: tuple[str, ...]) -> None:
    """Rebuild stubs and golden files from the solutions and suites.

    \b
    attn dev build              every module
    attn dev build 01_warm_up   one module

    Exit status: 0 built, 1 a mistake stopped it; what was written before is named.
    """
    course = course_here()
    with ProofLine() as line:
        built = build_modules(course, chosen(course, modules) + (() if modules else course.optional), line.tell)
    for name, one in built.items():
        names = ", ".join(path.name for path in one.written)
        failed = "" if one.error is None else f"{'; ' if names else ''}NOT BUILT: {one.error}"
        click.echo(f"{name}: {('wrote ' + names if names else '') + failed or 'up to date'}")
    sys.exit(1 if any(one.error for one in built.values()) else 0)


@dev.command()
@click.argument("modules", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print the problems as JSON.")
def check(modules: tuple[str, ...], as_json: bool) -> None:
    """Prove that the course is sound, or say what is not and how to fix it.

    The stub is what the solution generates, and it scores 0. The solution gets full marks. Each misconception is caught
    by two checks, one of them a property. Every check and every limit can fail. Strange results crash no check. Points
    are divided as they should be. Golden files are up to date. What students receive leaks nothing. The files keep the
    settings of ruff in pyproject.toml, if there are any. A register has every sentence of the stub and every check, if
    there is one.

    Exit status: 0 sound, 1 not sound.
    """
    course = course_here()
    lint = is_linted(course) and has_ruff()
    if is_linted(course) and not lint:
        click.echo(f"attn: {NO_RUFF}", err=True)
    with ProofLine() as line:
        wanted = chosen(course, modules) + (() if modules else course.optional)
        results = check_modules(course, wanted, line.tell, lint=lint)
    for result in results if not as_json else ():
        click.echo("\n".join(soundness_lines(result)))
    if as_json:
        entries = [
            {"module": result.module.name, "problems": [vars(problem) for problem in result.problems]}
            for result in results
        ]
        click.echo(json.dumps(entries, indent=1))
    if note := _register_note(course):
        click.echo(f"attn: {note}", err=True)
    sys.exit(1 if any(result.problems for result in results) else 0)


def _register_note(course: Course) -> str:
    """Say how many modules have a register; nothing where a course has none, or one that is told to be wrong."""
    try:
        found = [one for module in course.all_modules if (one := read_register(course, module))]
    except CourseError:
        return ""
    if not found:
        return ""
    promises, unchecked, unproved, unwritten = (
        sum(counts) for counts in zip(*(astuple(one.count) for one in found), strict=True)
    )
    told = f"{len(found)} of {len(course.all_modules)} modules have a register: {promises} promises"
    return f"{told}, {unchecked} not checked, {unproved} not proved; {unwritten} checks verify no sentence"
