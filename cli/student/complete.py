"""`attn complete`: the last step of a module."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from cli.student.current import course_and_module
from cli.student.demonstration import result_of
from cli.student.own_checks import run_checks, save_progress, tell_which_counts, where_to_paste
from cli.student.start import require_unlocked
from cli.ui.arguments import modules_here
from cli.ui.colour import paint
from cli.ui.course_bar import course_bar
from cli.ui.own_screen import own_head, own_screen
from cli.ui.progress_line import Pace
from cli.ui.progress_screens import milestone_lines
from cli.ui.report_screens import wrapped
from grader.complexity.meter_words import in_words
from grader.core.json_record import json_text
from grader.core.machine import IN_BROWSER
from grader.course.course import Course
from grader.course.module import Module
from grader.submission.own_file import own_file
from grader.workspace.completion import Completion, export
from grader.workspace.progress import all_progress, progress_of, record_completed
from grader.workspace.reflect import not_right, unanswered_in

if TYPE_CHECKING:
    from grader.workspace.own_costs import OwnCost

MOST_OPEN, MOST_LINES = 6, 2  # open things that are listed, and lines of each


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
    answers under Reflect must be right: what is complete gets nearly full marks.

    Exit status: 0 complete, 1 something is open, 2 no such module, or it is locked, 3 a fault of the grader.
    """
    course, module = course_and_module(module_name)
    shown, status = finish(course, module, anyway=anyway, as_json=as_json)
    click.echo(shown)
    sys.exit(status)


def finish(
    course: Course, module: Module, *, anyway: bool = False, as_json: bool = False, next_line: str | None = None
) -> tuple[str, int]:
    """Run the checks and the costs of a module, complete it if nothing is open, and return the screen and exit status.

    `next_line` says what to do next, if it is not a command: then the terminal is not free to try something, either.
    """
    require_unlocked(progress_of(course, module), anyway=anyway)
    report = run_checks(course, module)
    save_progress(course, module, report)
    tell_which_counts(module)
    unanswered = unanswered_in(module)
    state = Completion(report, (), unanswered, not_right(module, report, unanswered))
    state = replace(state, costs=_costs(course, module) if state.passes else ())
    done = report.score is not None and state.is_complete(anyway=anyway)
    locked = [one.module.name for one in all_progress(course) if one.missing]
    if done:
        export(course, module)
        record_completed(course, module)
    unlocked = [one.module.name for one in all_progress(course) if not one.missing and one.module.name in locked]
    status = 3 if report.score is None else 0 if done else 1
    if as_json:
        entry = {"module": module.name, "complete": done, "unlocked": unlocked, "open": state.open_items()}
        costs = [_cost_json(cost) for cost in state.costs]
        return json_text(entry | {"report": report.as_json(), "costs": costs}), status
    bar = course_bar(course)
    if done:
        last = _next(course, module, unlocked) if next_line is None else next_line
        lines = [*_done_lines(course, module, state, unlocked, bar, free=next_line is None), last]
    else:
        lines = _open_lines(module, state, bar)
    return paint("\n".join(lines).rstrip()), status


def _costs(course: Course, module: Module) -> list[OwnCost]:
    from grader.workspace.own_costs import own_costs  # it imports NumPy: only after the worker of the checks started

    with Pace(1) as pace:
        return list(own_costs(course, module, busy=pace.busy)) if module.complexity else []


def _done_lines(
    course: Course, module: Module, state: Completion, unlocked: list[str], bar: str, *, free: bool
) -> list[str]:
    """Return what a module in the package does."""
    lines = [*_head(state, bar), *_cost_lines(state), ""]
    if accepted := state.open_items():
        lines += [f"{module.name} is in your package, but not complete. Still open:"]
        lines += [_shortened(one) for one in accepted[:MOST_OPEN]]
    else:
        lines += [f"{module.name} is complete and in your package `mylab`."]
    lines += [wrapped(", ".join(unlocked), "Unlocked: ")] if unlocked else []
    result = result_of(module.milestone, course) if module.milestone and not accepted else []
    return [*lines, *milestone_lines(course, module, result, again=free)]


def _next(course: Course, module: Module, unlocked: list[str]) -> str:
    return "Next: attn next" if unlocked or module != course.modules[-1] else "Next: attn submit"


def _open_lines(module: Module, state: Completion, bar: str) -> list[str]:
    """Return what is still open, and one thing to do about it."""
    if not state.passes:
        screen = own_screen(state.report, python=where_to_paste(module), bar=bar)
        return [screen, f"{module.name} is not complete: fix this first."]
    found = state.open_items()
    lines = [*_head(state, bar), *_cost_lines(state), "", f"{module.name} is not complete. Open:"]
    lines += [_shortened(one) for one in found[:MOST_OPEN]]
    lines += [f"  and {len(found) - MOST_OPEN} more"] if len(found) > MOST_OPEN else []
    anyway = f"`attn complete {module.slug} --anyway`" if IN_BROWSER else "--anyway"  # there, it is a button
    if not state.keeps_limits:
        return [*lines, f"`attn profile {module.slug}` shows where a limit is broken."]
    if state.report.diagnoses and state.report.diagnoses[0].kind != "answer":
        return [*lines, f"`attn test {module.slug}` shows the first. Or go on with {anyway}."]
    again = f"Work out a small case by hand, and change the answer in {own_file(module).name}."
    return [*lines, again, f"Then run `attn complete {module.slug}` again, or go on with {anyway}."]


def _head(state: Completion, bar: str) -> list[str]:
    """Return the file, and how much of it is right."""
    return [line for line in own_head(state.report, bar) if line]


def _cost_lines(state: Completion) -> list[str]:
    """Return the limits that are broken, or that all are kept."""
    broken = [(cost, one) for cost in state.costs for one in cost.measured.costs if one.verdict == "fail"]
    if not broken:
        count = sum(len(cost.measured.costs) for cost in state.costs)
        return [f"OK  {count} of {count} costs keep their limits"] if count else []
    from cli.ui.cost_screens import verdict_of  # it imports NumPy, which the worker of the checks needs first

    lines = [f"{verdict_of(one):<12} {cost.contract.function}: {in_words(one.meter)}" for cost, one in broken]
    return lines[:MOST_OPEN]


def _shortened(text: str) -> str:
    lines = wrapped(text, "  - ").splitlines()
    return "\n".join(lines[:MOST_LINES]) + (" …" if len(lines) > MOST_LINES else "")


def _cost_json(cost: OwnCost) -> dict[str, object]:
    fails = [one.meter for one in cost.measured.costs if one.verdict == "fail"]
    return {"function": cost.contract.function, "fails": fails}
