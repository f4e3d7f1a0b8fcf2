"""The diagnosis of costs: how they grow, in a form that does not depend on the style of the code."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from grader.complexity.cost import CodeLine
from grader.complexity.measurer import FunctionCosts, kind_of
from grader.core.report import Diagnosis
from grader.core.safe_text import one_line
from grader.diagnosis.fingerprints import WrongWay
from grader.diagnosis.wording import command, wrapped

_FORBIDDEN_CALLS = "calls"
_LINE = re.compile(r" in line \d+$")  # the line number depends on the student's file


def growth(function_costs: FunctionCosts) -> dict[str, str]:
    """Return the leading terms, without their factors, for each meter that breaks its limit.

    If the counts are not a polynomial, it is their growth along a ray. If the function makes a forbidden call, only
    the kinds of those calls are returned.
    """
    if function_costs.forbidden:
        return {_FORBIDDEN_CALLS: ", ".join(sorted({kind_of(one.event.call) for one in function_costs.forbidden}))}
    found: dict[str, str] = {}
    for cost in function_costs.profile.costs:
        polynomial = function_costs.profile.exact.get(cost.meter)
        if cost.verdict != "fail" or cost.too_little:
            continue
        if polynomial is not None:
            found[cost.meter] = " + ".join(sorted(polynomial.monomial(powers) for powers in polynomial.leading()))
        else:
            found[cost.meter] = _LINE.sub("", cost.measured)
    return found


def expensive_way(function_costs: Sequence[FunctionCosts], ways: Sequence[WrongWay], slug: str) -> Diagnosis | None:
    """Return a diagnosis for a function whose costs grow like those of a known wrong way.

    The first function that is too expensive decides: the others may be so only because they call it.
    """
    measured = next((one for one in function_costs if growth(one)), None)
    if measured is None:
        return None
    contract, grown = measured.profile.contract, growth(measured)
    way = name_growth(ways, contract.function, grown)
    if way is None:
        return None
    text, place = _offence(measured, grown)
    line = place.line if place else None
    return Diagnosis(
        contract.target, way.name, _text(way, contract.function, text, line, slug), line, contract.function
    )


def _text(way: WrongWay, function: str, offence: str, line: int | None, slug: str) -> str:
    """Return what a student reads about a function that is right but costs too much."""
    parts = [
        wrapped(f"{function}: {offence}", 2),
        wrapped(f"Likely: {way.likely} ({way.name})", 3),
        [f"Look at: line {line}"] if line else [],
        wrapped(f"Think: {way.hint}", 3),
        wrapped(f"Next: fix it, then run {command(f'attn profile {slug} {function}')}", 2),
    ]
    return "\n".join(text for part in parts for text in part)


def _offence(function_costs: FunctionCosts, grown: Mapping[str, str]) -> tuple[str, CodeLine | None]:
    """Return in words what a function does too much of, and where."""
    if function_costs.forbidden:
        event = function_costs.forbidden[0].event
        return f"it calls {one_line(event.call, 60)}, which is not allowed here", event.place
    cost = next(cost for cost in function_costs.profile.costs if cost.meter in grown)
    found = grown[cost.meter].removeprefix("grows like ")
    return f"its cost in {cost.meter} grows like {found}; {cost.law} is allowed", cost.place


def name_growth(ways: Sequence[WrongWay], function: str, grown: Mapping[str, str]) -> WrongWay | None:
    """Return the wrong way that starts in this function and grows like this; None if there is not exactly one.

    A function that only calls an expensive one grows in the same way, but the mistake is not in it.
    """
    found = [way for way in ways if grown and next(iter(way.grows), None) == function and way.grows[function] == grown]
    return found[0] if len(found) == 1 else None
