"""`attn complete`: the last step of a module."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from cli.student.current import module_or_current
from cli.student.own_checks import run_checks, save_progress, tell_which_counts, where_to_paste
from cli.student.start import require_unlocked
from cli.ui.arguments import modules_here
from cli.ui.colour import paint
from cli.ui.here import course_here
from cli.ui.own_screen import own_screen
from cli.ui.progress_screens import milestone_lines
from cli.ui.report_screens import wrapped
from grader.core.json_record import json_text
from grader.core.machine import IN_BROWSER
from grader.core.report import cost_word
from grader.course.course import Course
from grader.course.module import Module
from grader.workspace.completion import Completion, export
from grader.workspace.progress import all_progress, progress_of, record_completed
from grader.workspace.reflect import unanswered_in

if TYPE_CHECKING:
    from grader.workspace.own_costs import OwnCost


@click.command()
@click.argument("module_name", metavar="[MODULE]", required=False, shell_complete=modules_here)
@click.option(
    "--anyway",
    is_flag=True,
    help="Even if a module it builds on is not complete, a question is open, or a small call gives another result.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def complete(module_name: str | None, anyway: bool, as_json: bool) -> None:
    """Finish a module and add it to your package `mylab`. This also unlocks the modules that build on it.

    \b
    attn complete warm_up    later modules can then import it from mylab

    Its checks must pass and its costs keep their limits. Your functions must do what their descriptions state, and the
    questions under Reflect must be answered: what is complete gets nearly full marks.

    Exit status: 0 complete, 1 something is open, 2 no such module, or it is locked, 3 a fault of the grader.
    """
    course = course_here()
    module = module_or_current(course, module_name)
    require_unlocked(progress_of(course, module), anyway=anyway)
    report = run_checks(course, module)
    save_progress(course, module, report)
    tell_which_counts(module)
    state = Completion(report, (), unanswered_in(module))
    state = replace(state, costs=_costs(course, module) if state.passes else ())
    done = report.score is not None and state.is_complete(anyway=anyway)
    locked = [one.module.name for one in all_progress(course) if one.missing]
    if done:
        export(course, module)
        record_completed(course, module)
    unlocked = [one.module.name for one in all_progress(course) if not one.missing and one.module.name in locked]
    if as_json:
        entry = {"module": module.name, "complete": done, "unlocked": unlocked, "open": state.open_items()}
        click.echo(json_text(entry | {"report": report.as_json(), "costs": [_cost_json(cost) for cost in state.costs]}))
    else:
        lines = [_screen(module, state, unlocked, done=done)]
        if done:
            lines += milestone_lines(course, module)
            lines += ["Next: attn next" if unlocked or module != course.modules[-1] else "Next: attn submit"]
        click.echo(paint("\n".join(lines)))
    sys.exit(3 if report.score is None else 0 if done else 1)


def _costs(course: Course, module: Module) -> list[OwnCost]:
    from grader.workspace.own_costs import own_costs  # it imports NumPy: only after the worker of the checks started

    return list(own_costs(course, module)) if module.complexity else []


def _screen(module: Module, state: Completion, unlocked: list[str], *, done: bool) -> str:
    """Return the checks, one line for the costs of each function, and what is open or unlocked."""
    lines = [own_screen(state.report, python=where_to_paste(module)), ""]
    for cost in state.costs:
        broken = [one for one in cost.measured.costs if one.verdict == "fail"]
        shown = broken or cost.measured.costs[:1]
        word = cost_word(shown[0].verdict, shown[0].measured, shown[0].message) if broken else "OK"
        meters = ", ".join(f"{one.meter} {one.measured or '?'}" for one in shown)
        lines += textwrap.wrap(
            f"{word:<12} {cost.contract.function}: {meters}", 80, initial_indent="  ", subsequent_indent=" " * 17
        )
    if not done:
        lines += ["", f"{module.name} is not complete. Open:", *(wrapped(one, "  - ") for one in state.open_items())]
        if state.keeps_limits:
            anyway = f"`attn complete {module.slug} --anyway`" if IN_BROWSER else "--anyway"  # there, it is a button
            lines.append(f"Fix it (`attn hint` helps), or use {anyway}.")
        elif state.passes:
            lines.append(f"`attn profile {module.slug}` shows where a limit is broken.")
        return "\n".join(lines)
    lines += ["", f"{module.name} is complete and in your package:"]
    lines += [f"  from mylab.{module.slug} import {state.report.checks[0].target}"]
    return "\n".join([*lines, wrapped(", ".join(unlocked), "Unlocked: ")] if unlocked else lines)


def _cost_json(cost: OwnCost) -> dict[str, object]:
    fails = [one.meter for one in cost.measured.costs if one.verdict == "fail"]
    return {"function": cost.contract.function, "fails": fails}
