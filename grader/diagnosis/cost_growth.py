"""Growth: how a function that costs too much grows, in words that do not depend on how it was written."""

from __future__ import annotations

import re
from collections.abc import Mapping

from grader.complexity.cost import CodeLine
from grader.complexity.measurer import FunctionCosts, kind_of
from grader.core.safe_text import one_line
from grader.diagnosis.fingerprints import WrongWay

CALLS = "calls"
_LINE = re.compile(r" in line \d+$")  # where the offence is does not say what it is


def growth(function_costs: FunctionCosts) -> dict[str, str]:
    """Return for each meter that breaks its law the leading terms, without their factors.

    Where the counts are no polynomial, how they grow along a ray says as much. Of a function that calls what it may
    not, it is that which counts.
    """
    if function_costs.forbidden:
        return {CALLS: ", ".join(sorted({kind_of(one.event.call) for one in function_costs.forbidden}))}
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


def offence(function_costs: FunctionCosts, grown: Mapping[str, str]) -> tuple[str, CodeLine | None]:
    """Return what a function does too much of, in words, and where."""
    if function_costs.forbidden:
        event = function_costs.forbidden[0].event
        return f"it calls {one_line(event.call, 60)}, which is not allowed here", event.place
    cost = next(cost for cost in function_costs.profile.costs if cost.meter in grown)
    return f"{cost.meter} like {grown[cost.meter]}; {cost.law or '1'} is allowed", cost.place


def name_growth(ways: tuple[WrongWay, ...], function: str, grown: Mapping[str, str]) -> WrongWay | None:
    """Return the one wrong way that begins in this function and grows just so; None if there is none, or several.

    What only calls a function that costs too much grows like it, but the mistake is not there.
    """
    found = [way for way in ways if grown and next(iter(way.grows), None) == function and way.grows[function] == grown]
    return found[0] if len(found) == 1 else None
