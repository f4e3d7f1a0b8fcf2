"""`attn complete`: the last step of a module."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.student.current import module_or_current
from cli.student.own_checks import run_checks, save_progress, tell_which_counts, where_to_paste
from cli.student.start import require_unlocked
from cli.ui.arguments import modules_here
from cli.ui.colour import paint
from cli.ui.report_screens import cost_word, own_screen
from grader.core.json_record import json_text
from grader.core.report import Report
from grader.course.course import Course, find_course
from grader.course.module import Module
from grader.workspace.completion import all_checks_pass, is_complete, meets_contracts
from grader.workspace.mylab import export
from grader.workspace.progress import all_progress, progress_of, record_completed

if TYPE_CHECKING:
    from grader.workspace.own_costs import OwnCost


@click.command()
@click.argument("module_name", metavar="[MODULE]", required=False, shell_complete=modules_here)
@click.option(
    "--anyway",
    is_flag=True,
    help="Even if a module it builds on is not complete, or your code behaves like a known mistake.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def complete(module_name: str | None, anyway: bool, as_json: bool) -> None:
    """Finish a module and add it to your package `mylab`. Its checks must pass and it must keep its contract.

    \b
    attn complete softmax    later modules can then import it from mylab

    This also unlocks the modules that build on it.

    Exit status: 0 complete, 1 a check or a cost fails, 2 no such module, or it is locked, 3 a fault of the grader.
    """
    course = find_course(Path.cwd())
    module = module_or_current(course, module_name)
    require_unlocked(progress_of(course, module), anyway=anyway)
    report = run_checks(course, module)
    save_progress(course, module, report)
    tell_which_counts(module)
    costs = _costs(course, module) if all_checks_pass(report) else []
    done = is_complete(report, costs, anyway=anyway)
    locked = [one.module.name for one in all_progress(course) if one.missing]
    if done:
        export(course, module)
        record_completed(course, module)
    unlocked = [one.module.name for one in all_progress(course) if not one.missing and one.module.name in locked]
    if as_json:
        entry = {"module": module.name, "complete": done, "unlocked": unlocked, "report": report.as_json()}
        click.echo(json_text(entry | {"costs": [_cost_json(cost) for cost in costs]}))
    else:
        click.echo(paint(_screen(module, report, costs, unlocked, done=done, last=module == course.modules[-1])))
    sys.exit(3 if report.score is None else 0 if done else 1)


def _costs(course: Course, module: Module) -> list[OwnCost]:
    from grader.workspace.own_costs import own_costs  # it imports NumPy: only after the worker of the checks started

    return list(own_costs(course, module)) if module.complexity else []


def _screen(
    module: Module, report: Report, costs: list[OwnCost], unlocked: list[str], *, done: bool, last: bool
) -> str:
    """Return the checks, one line for the costs of each function, and what comes next."""
    lines = [own_screen(report, python=where_to_paste(module)), ""]
    for cost in costs:
        broken = [one for one in cost.measured.costs if one.verdict == "fail"]
        shown = broken or cost.measured.costs[:1]
        word = cost_word(shown[0].verdict, shown[0].measured, shown[0].message) if broken else "OK"
        meters = ", ".join(f"{one.meter} {one.measured or '?'}" for one in shown)
        lines += textwrap.wrap(
            f"{word:<12} {cost.contract.function}: {meters}", 80, initial_indent="  ", subsequent_indent=" " * 17
        )
    if not done:
        what = "does not pass yet."
        if meets_contracts(report, costs):
            what = "passes, but behaves like a known mistake. Fix it, or use --anyway."
        elif costs:
            what = f"breaks its contract: `attn profile {module.slug}` shows where."
        return "\n".join([*lines, "", f"{module.name} {what}"])
    lines += ["", f"{module.name} is complete and in your package:"]
    lines += [f"  from mylab.{module.slug} import {report.checks[0].target}"]
    lines += [f"Unlocked: {', '.join(unlocked)}"] if unlocked else []
    return "\n".join([*lines, "Next: attn next" if unlocked or not last else "Next: attn submit"])


def _cost_json(cost: OwnCost) -> dict[str, object]:
    fails = [one.meter for one in cost.measured.costs if one.verdict == "fail"]
    return {"function": cost.contract.function, "fails": fails}
