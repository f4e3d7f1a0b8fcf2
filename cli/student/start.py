"""The way through the course: `attn start`, `attn next` and `attn complete`."""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.author.dev import chosen
from cli.student.test import checked, current_module, in_words, next_up, noted, tell_which_counts, what_to_do
from cli.ui.arguments import modules_here
from cli.ui.colour import paint

if TYPE_CHECKING:
    from grader.core.report import Report
    from grader.course.course import Course
    from grader.course.module import Module
    from grader.workspace.own_costs import OwnCost
    from grader.workspace.progress import ModuleProgress

ANYWAY = click.option("--anyway", is_flag=True, help="Even if what it builds on, or this, is not all right yet.")


@click.command()
@click.argument("module_name", metavar="MODULE", shell_complete=modules_here)
@click.option("--notebook", is_flag=True, help="Work in a notebook: make one of what you have so far.")
@ANYWAY
def start(module_name: str, notebook: bool, anyway: bool) -> None:
    """Begin a module: what to read, what to edit, what to run.

    \b
    attn start softmax              work in softmax.py
    attn start softmax --notebook   work in softmax.ipynb, made of softmax.py as it is now

    A module is locked until those it builds on are complete.

    Exit status: 0 ready, 2 no such module, or locked.
    """
    from grader.course.course import find_course
    from grader.workspace.progress import progress_of

    course = find_course(Path.cwd())
    module = chosen(course, (module_name,))[0]
    _begin(course, progress_of(course, module), notebook=notebook, anyway=anyway)


@click.command("next")
@click.option("--notebook", is_flag=True, help="Work in a notebook.")
@ANYWAY
def next_module(notebook: bool, anyway: bool) -> None:
    """Begin the first module that is not complete yet."""
    from grader.course.course import find_course
    from grader.workspace.progress import all_progress

    course = find_course(Path.cwd())
    ahead = next_up(all_progress(course))
    if ahead is None:
        click.echo("Every module is complete. Hand in your work: attn submit")
        return
    _begin(course, ahead, notebook=notebook, anyway=anyway)


def _begin(course: Course, progress: ModuleProgress, *, notebook: bool, anyway: bool) -> None:
    module = progress.module
    if not module.stub.is_file() and not module.notebook.is_file():
        raise click.UsageError(f"{module.stub.name} is gone; bring it back with `attn reset {module.slug}`")
    _require_unlocked(progress, anyway=anyway)
    if notebook:
        _make_notebook(module)
    click.echo(f"{module.name}, {module.title} ({module.minutes} min): {in_words(progress)}")
    click.echo("\n".join(what_to_do(course, progress)))


def _require_unlocked(progress: ModuleProgress, *, anyway: bool) -> None:
    if progress.missing and not anyway:
        first = ", ".join(progress.missing)
        raise click.UsageError(f"{progress.module.name} builds on {first}; complete it, or say --anyway")


def _make_notebook(module: Module) -> None:
    """Make a notebook of the script; one that is there already is somebody's work."""
    from grader.core.atomic_file import write_atomically
    from grader.course.notebook import make_notebook

    if module.notebook.is_file():
        click.echo(f"attn: {module.notebook.name} is there already, and is left as it is", err=True)
        return
    write_atomically(module.notebook, make_notebook(module.stub.read_text(encoding="utf-8"), module.slug))


@click.command()
@click.argument("module_name", metavar="[MODULE]", required=False, shell_complete=modules_here)
@ANYWAY
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def complete(module_name: str | None, anyway: bool, as_json: bool) -> None:
    """Finish a module: its visible checks and its costs. What passes goes into your package `mylab`.

    \b
    attn complete softmax    and then, in a later module: from mylab.softmax import softmax

    The modules that build on it are unlocked.

    Exit status: 0 complete, 1 a check or a cost fails, 2 no such module, or locked, 3 a fault of the grader.
    """
    from grader.course.course import find_course
    from grader.workspace.progress import all_progress, progress_of, record_completed, record_report

    course = find_course(Path.cwd())
    module = chosen(course, (module_name,))[0] if module_name else current_module(course)
    _require_unlocked(progress_of(course, module), anyway=anyway)
    report = checked(course, module)
    noted(lambda: record_report(course, module, report))
    tell_which_counts(module)
    costs = _costs(course, module) if all(check.outcome == "passed" for check in report.checks) else []
    done = _is_done(report, costs) and (anyway or not report.diagnoses)
    locked = [one.module.name for one in all_progress(course) if one.missing]
    if done:
        from grader.workspace.mylab import export

        export(course, module)
        record_completed(course, module)
    unlocked = [one.module.name for one in all_progress(course) if not one.missing and one.module.name in locked]
    if as_json:
        entry = {"module": module.name, "complete": done, "unlocked": unlocked, "report": report.as_json()}
        click.echo(json.dumps(entry | {"costs": [_cost_json(cost) for cost in costs]}, indent=1, ensure_ascii=False))
    else:
        click.echo(paint(_screen(module, report, costs, unlocked, done=done, last=module == course.modules[-1])))
    sys.exit(3 if report.score is None else 0 if done else 1)


def _costs(course: Course, module: Module) -> list[OwnCost]:
    from grader.workspace.own_costs import own_costs

    return list(own_costs(course, module)) if module.complexity else []


def _is_done(report: Report, costs: list[OwnCost]) -> bool:
    passed = all(check.outcome == "passed" for check in report.checks)
    return passed and not any(one.verdict == "fail" for cost in costs for one in cost.measured.costs)


def _screen(
    module: Module, report: Report, costs: list[OwnCost], unlocked: list[str], *, done: bool, last: bool
) -> str:
    """Return what became of it: the checks, one line a function for its costs, and what comes next."""
    from cli.ui.report_screens import own_screen

    lines = [own_screen(report), ""]
    for cost in costs:
        broken = [one for one in cost.measured.costs if one.verdict == "fail"]
        word = "TOO MUCH" if broken else "within its law"
        meters = ", ".join(f"{one.meter} {one.measured or '?'}" for one in broken or cost.measured.costs[:1])
        lines += textwrap.wrap(
            f"{word:<15} {cost.contract.function}: {meters}", 80, initial_indent="  ", subsequent_indent=" " * 20
        )
    if not done:
        what = "does not pass yet."
        if _is_done(report, costs):
            what = "passes, but behaves like a known mistake: mend it, or say --anyway."
        elif costs:
            what = f"costs too much: `attn profile {module.slug}` shows where."
        return "\n".join([*lines, "", f"{module.name} {what}"])
    lines += ["", f"{module.name} is complete, and in your package:"]
    lines += [f"  from mylab.{module.slug} import {report.checks[0].target}"]
    lines += [f"Unlocked: {', '.join(unlocked)}"] if unlocked else []
    return "\n".join([*lines, "Next: attn next" if unlocked or not last else "Next: attn submit"])


def _cost_json(cost: OwnCost) -> dict[str, object]:
    fails = [one.meter for one in cost.measured.costs if one.verdict == "fail"]
    return {"function": cost.contract.function, "fails": fails}
