"""The short screen of `attn profile`: a line for each function, and the first limit that is broken."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cli.ui.cost_screens import broken_lines, verdict_of
from grader.complexity.meter_words import in_words
from grader.core.safe_text import visible

if TYPE_CHECKING:
    from grader.complexity.cost import Cost
    from grader.workspace.own_costs import OwnCost

WIDTH, MOST_FUNCTIONS, MOST_LINES = 80, 10, 8


def profile_screen(found: Sequence[OwnCost], head: str, command: str) -> str:
    """Return what to look at first in 24 rows, and how to see the rest. `command` is that of the module."""
    wrong = [own for own in found if not _is_fine(own)]
    lines = [head, ""]
    shown = sorted(found, key=_is_fine)[:MOST_FUNCTIONS]
    names = short_names([own.contract.function for own in found])
    lines += [_row(own, names[own.contract.function]) for own in found if own in shown]
    if rest := len(found) - len(shown):
        lines.append(f"{'OK':<12} and {rest} more")
    lines += ["", *(_first(wrong[0]) if wrong else ["Every cost keeps its limit."]), ""]
    name = (wrong or list(found))[0].contract.function
    if len(found) > 1:
        plot = f"A plot and numbers: {command} {name}"
        lines += [plot] if len(plot) <= WIDTH else ["A plot and numbers:", f"    {command} {name}"]
    return "\n".join([*lines, f"Everything: {command} --all"])


def short_names(functions: Sequence[str]) -> dict[str, str]:
    """Return what to call each function: a method without its class, if no other has its name."""
    last = [name.rpartition(".")[2] for name in functions]
    return {name: short if last.count(short) == 1 else name for name, short in zip(functions, last, strict=True)}


def _is_fine(own: OwnCost) -> bool:
    return all(cost.verdict == "pass" for cost in own.measured.costs) and not own.measured.forbidden


def _row(own: OwnCost, name: str) -> str:
    """Return the verdict on a function, and its most telling count."""
    if own.measured.forbidden:
        return f"{'NOT ALLOWED':<12} {name}"
    broken = [cost for cost in own.measured.costs if cost.verdict != "pass"]
    if broken:
        return _cut(f"{verdict_of(broken[0]):<12} {name}: {_meters(broken)}")
    telling = next((cost for cost in own.measured.costs if cost.meter != "steps"), own.measured.costs[0])
    return _cut(f"{'OK':<12} {name}: {in_words(telling.meter)} {telling.measured}")


def _meters(costs: Sequence[Cost]) -> str:
    return ", ".join(in_words(cost.meter) for cost in costs)


def _first(own: OwnCost) -> list[str]:
    """Return the first limit that a function breaks, and where."""
    lines = [f"Look first: {own.contract.function}", *_wrapped(own.sizes, "  ")]
    for call in own.measured.forbidden[:1]:
        place = call.event.place
        lines += _wrapped(f"line {place.line} calls {call.event.call}: {own.line(place.file, place.line)}", "  ")
        return [*lines, *_wrapped(call.why, "  ")]
    cost = next(cost for cost in own.measured.costs if cost.verdict != "pass")
    lines += [*_wrapped(f"{in_words(cost.meter)}: {cost.measured or '?'}", "  "), *broken_lines(own, cost)]
    lines += _wrapped(f"Likely: {own.likely}", "  ") if own.likely else []
    return lines[:MOST_LINES]


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(visible(text), WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ")
