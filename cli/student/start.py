"""`attn start` and `attn next`: begin a module."""

from __future__ import annotations

import click

from cli.student.current import next_up
from cli.ui.arguments import module_named, modules_here
from cli.ui.course_bar import bar_lines, course_bar
from cli.ui.here import course_here
from cli.ui.progress_screens import ALL_COMPLETE, begin_lines
from grader.core.atomic_file import write_atomically
from grader.course.course import Course
from grader.course.module import Module
from grader.course.notebook import make_notebook
from grader.workspace.progress import ModuleProgress, all_progress, progress_of

ANYWAY = click.option("--anyway", is_flag=True, help="Begin even if the modules it builds on are not complete.")


@click.command()
@click.argument("module_name", metavar="MODULE", shell_complete=modules_here)
@click.option("--notebook", is_flag=True, help="Work in a notebook, made from what you have so far.")
@ANYWAY
def start(module_name: str, notebook: bool, anyway: bool) -> None:
    """Begin a module: what to read, what to edit, what to run.

    \b
    attn start warm_up              work in warm_up.py
    attn start warm_up --notebook   work in warm_up.ipynb, made from warm_up.py

    A module is locked until the modules it builds on are complete.

    Exit status: 0 ready, 2 no such module, or it is locked.
    """
    course = course_here()
    module = module_named(course, module_name)
    _begin(course, progress_of(course, module), notebook=notebook, anyway=anyway)


@click.command("next")
@click.option("--notebook", is_flag=True, help="Work in a notebook.")
@ANYWAY
def next_module(notebook: bool, anyway: bool) -> None:
    """Begin the first module that is not complete yet."""
    course = course_here()
    ahead = next_up(all_progress(course))
    if ahead is None:
        click.echo(ALL_COMPLETE)
        return
    _begin(course, ahead, notebook=notebook, anyway=anyway)


def require_unlocked(progress: ModuleProgress, *, anyway: bool) -> None:
    """Stop with a usage mistake if the module is locked."""
    if progress.missing and not anyway:
        first = ", ".join(progress.missing)
        locked = f"{progress.module.name} is locked until {first} is complete"
        raise click.UsageError(f"{locked}\nUse --anyway to go on without it")


def _begin(course: Course, progress: ModuleProgress, *, notebook: bool, anyway: bool) -> None:
    module = progress.module
    if not module.stub.is_file() and not module.notebook.is_file():
        raise click.UsageError(f"{module.stub.name} is missing. Put the stub back with `attn reset {module.slug}`")
    require_unlocked(progress, anyway=anyway)
    if notebook:
        _make_notebook(module)
    head, *rest = begin_lines(course, progress)
    click.echo("\n".join([*bar_lines(head, course_bar(course)), *rest]))


def _make_notebook(module: Module) -> None:
    """Make a notebook from the script; an existing notebook is the student's work and stays."""
    if module.notebook.is_file():
        click.echo(f"attn: {module.notebook.name} already exists and was not changed", err=True)
        return
    write_atomically(module.notebook, make_notebook(module.stub.read_text(encoding="utf-8"), module.slug))
