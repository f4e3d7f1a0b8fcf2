"""Growth: how a function that costs too much grows, in words that do not depend on how it was written."""

from __future__ import annotations

from collections.abc import Mapping

from grader.complexity.accounts import Account
from grader.diagnosis.fingerprints import Way


def growth(account: Account) -> dict[str, str]:
    """Return for each meter that breaks its law the leading terms, without their factors.

    Where the counts are no polynomial, how they grow along a ray says as much. Nothing for a function that calls what
    it may not: there, that is what to mend.
    """
    found: dict[str, str] = {}
    for cost in account.profile.costs:
        polynomial = account.profile.exact.get(cost.meter)
        if cost.verdict != "fail" or account.forbidden or cost.too_little:
            continue
        if polynomial is not None:
            found[cost.meter] = " + ".join(sorted(polynomial.monomial(powers) for powers in polynomial.leading()))
        elif cost.measured.startswith("("):
            found[cost.meter] = cost.measured
    return found


def name_growth(ways: tuple[Way, ...], function: str, grown: Mapping[str, str]) -> Way | None:
    """Return the one wrong way whose costs grow just so; None if there is none, or several."""
    found = [way for way in ways if grown and way.grows.get(function) == grown]
    return found[0] if len(found) == 1 else None
