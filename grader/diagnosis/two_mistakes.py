"""Two mistakes in one function: the wrong ways that explain together what none explains alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from grader.diagnosis.fingerprints import WrongWay


@dataclass(frozen=True)
class Evidence:
    """The probes on which a wrong way differs from the reference, and those of them that show just its outcome."""

    way: WrongWay
    shown: frozenset[int]
    hit: frozenset[int]


def explain(off: Iterable[int], known: Sequence[Evidence]) -> tuple[WrongWay, ...]:
    """Return the wrong ways that are in every explanation of the probes that are off by two of the known ones.

    Where only one of the two differs from the reference, the outcome must be exactly its own. Where both differ, it may
    be anything: the mistakes mix. A wrong way that some other explanation can do without is not named.
    """
    off = frozenset(off)
    likely = [one for one in known if one.hit]
    pairs = [
        tuple(one.way for one in (a, b) if _alone(one, b if one is a else a))
        for a, b in combinations(likely, 2)
        if off <= a.shown | b.shown and _fits(a, b) and _fits(b, a)
    ]
    if not pairs:
        return ()
    return tuple(way for way in pairs[0] if all(way in others for others in pairs[1:]))


def _alone(one: Evidence, other: Evidence) -> frozenset[int]:
    """Return the probes on which only the first of two differs from the reference."""
    return one.shown - other.shown


def _fits(one: Evidence, other: Evidence) -> bool:
    return _alone(one, other) <= one.hit
