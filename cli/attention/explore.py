"""`attn explore`: a page with a student's own attention under many settings."""

from __future__ import annotations

import shutil
import sys
import webbrowser
from pathlib import Path

import click

from cli.attention.exploration import begun_modules
from cli.attention.exploration import explore as explore_course
from cli.attention.explorer_page import explorer_page
from cli.attention.own_steps import MODULES
from cli.attention.scaling_table import explored_costs, scaling_table
from cli.attention.sentences import SENTENCES, Sentence, typed
from cli.student.own_checks import tell_which_counts
from cli.ui.here import course_here
from cli.ui.page_file import page_file
from grader.core.atomic_file import write_atomically
from grader.course.course import Course, read_course
from grader.course.module import read_text

NOTHING = "There is nothing of yours to explore yet: begin with the softmax of module 01. Run: attn start softmax"


@click.command()
@click.argument("text", metavar="[SENTENCE]", required=False)
@click.option("--to", type=click.Path(path_type=Path, dir_okay=False), help="The page; else explorer.html here.")
@click.option("--open", "open_it", is_flag=True, help="Open the page in your browser.")
def explore(text: str | None, to: Path | None, open_it: bool) -> None:
    """Write a page to explore your own attention.

    \b
    attn explore --open               write explorer.html and open it
    attn explore "the cat sat"        with a sentence of your own as well

    The page follows a sentence from scores to output, with every number. You can change the scale, the temperature,
    the window, the mask, the positions and the number of heads. The numbers come from your own modules; each step that
    you have not written yet is the course's, and the page says which. Expected numbers are beside yours. If a
    misconception explains the difference, its numbers are there too.

    The page also shows how attention grows with n: entries, bytes, and what your own code was counted to do. It is one
    file that needs no network. Everything was computed before, by your code in the sandbox.

    Exit status: 0 written, 1 nothing to explore yet, 2 no such sentence or file, 3 a fault of the grader.
    """
    sentences = (*_own_sentence(text), *SENTENCES)
    path = page_file(to or Path("explorer.html"))
    course = course_here()
    begun = begun_modules(course)
    if not begun:
        click.echo(NOTHING, err=True)
        sys.exit(1)
    for module in begun:
        tell_which_counts(module)
    found = explore_course(course, sentences)
    scaling = scaling_table(explored_costs(course, found.attention))
    write_atomically(path, explorer_page(found, scaling))
    click.echo(f"wrote {path}")
    if found.by_course:
        click.echo(f"The course stands in for: {', '.join(found.by_course)}. The page says why.", err=True)
    if open_it and not webbrowser.open(path.resolve().as_uri()):
        click.echo(f"attn: no browser could be started. Open {path} yourself", err=True)


def _own_sentence(text: str | None) -> tuple[Sentence, ...]:
    try:
        return () if text is None else (typed(text),)
    except ValueError as error:
        raise click.UsageError(f"{error}.") from None


def site_page(course: Course, scratch: Path) -> str:
    """Return the page of a student whose modules are all right. `scratch` becomes a course with the solutions."""
    shutil.copytree(course.root / "modules", scratch / "modules")
    finished = read_course(scratch)
    for name in MODULES:
        solution = course.solution(course.module(name))
        (scratch / "modules" / name / solution.name).write_text(read_text(solution), encoding="utf-8")
    found = explore_course(finished, SENTENCES)
    return explorer_page(found, scaling_table(explored_costs(finished, found.attention)))
