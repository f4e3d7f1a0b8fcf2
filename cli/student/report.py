"""`attn report`: a page about a student's own file."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path

import click

from cli.student.current import module_or_current
from cli.student.own_checks import run_checks, save_progress, tell_which_counts
from cli.ui.arguments import modules_here
from cli.ui.here import course_here
from cli.ui.page_file import page_file
from grader.core.atomic_file import write_atomically
from grader.core.errors import StudentError
from grader.course.course import Course
from grader.course.course_file import read_course_file
from grader.course.module import Module
from grader.pages.own_page import own_page
from grader.workspace.own_costs import OwnCost, own_costs


@click.command()
@click.argument("module_name", metavar="[MODULE]", required=False, shell_complete=modules_here)
@click.option("--to", type=click.Path(path_type=Path, dir_okay=False), help="The page; else MODULE-report.html here.")
@click.option("--open", "open_it", is_flag=True, help="Open the page in your browser.")
def report(module_name: str | None, to: Path | None, open_it: bool) -> None:
    """Write a page about your own file.

    \b
    attn report                   the module you are in, or the next one to do
    attn report warm_up --open    write warm_up-report.html and open it

    The page shows what `attn test` and `attn profile` say, and what to do next, with heat maps of your result and the
    expected one. It is one file that needs no network, and you can print it. It has only what you can see anyway: the
    visible checks.

    Exit status: 0 all visible checks pass, 1 some fail, 2 no such module, 3 a fault of the grader.
    """
    course = course_here()
    module = module_or_current(course, module_name)
    path = page_file(to or Path(f"{module.slug}-report.html"))
    tell_which_counts(module)
    found = run_checks(course, module)
    save_progress(course, module, found)
    measured = _costs(course, module) if found.status == "graded" else []
    write_atomically(path, own_page(module, found, measured, read_course_file(course.root).about.colour))
    click.echo(f"wrote {path}")
    if open_it and not webbrowser.open(path.resolve().as_uri()):
        click.echo(f"attn: no browser could be started. Open {path} yourself", err=True)
    if found.score is None:
        sys.exit(3)
    sys.exit(0 if all(check.outcome == "passed" for check in found.checks) else 1)


def _costs(course: Course, module: Module) -> list[OwnCost]:
    """Measure what has a contract; nothing if the file cannot be loaded."""
    try:
        return list(own_costs(course, module)) if module.complexity else []
    except StudentError:
        return []
