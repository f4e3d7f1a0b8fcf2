"""Two mistakes in one function: the wrong ways that explain together what none explains alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations

from grader.diagnosis.fingerprints import WrongWay

MANY = 3  # probes; fewer may be alike by chance


@dataclass(frozen=True)
class Evidence:
    """The probes on which a wrong way differs from the reference, and those of them that show just its outcome."""

    way: WrongWay
    shown: frozenset[int]
    hit: frozenset[int]


def explain(off: Iterable[int], known: Sequence[Evidence], *, values: bool) -> tuple[WrongWay, ...]:
    """Return the wrong ways that are in every explanation of the probes that are off by two of the known ones.

    Where only one of the two differs from the reference, the outcome must be exactly its own. Where both differ, it may
    be anything: the mistakes mix. A wrong way that some other explanation can do without is not named. If there is no
    such pair, the second mistake may be a relative of a known one: then only the first must have its own outcomes, in
    many probes. That needs `values`: many mistakes have the same refusals and dtypes, and these do not
    mix. There each must have its own outcome on every probe.
    """
    off = frozenset(off)
    likely = [one for one in known if one.hit]
    pairs = [(a, b) for a, b in permutations(likely, 2) if off <= a.shown | b.shown and _fits(a, b)]
    exact = [{one.way.name for one in (a, b) if _alone(one, b if one is a else a)} for a, b in pairs if _fits(b, a)]
    related = [{a.way.name} for a, b in pairs if len(_alone(a, b)) >= MANY]
    names = set.intersection(*(exact or (related if values else []) or [set()]))
    return tuple(one.way for one in likely if one.way.name in names and (values or one.shown == one.hit))


def _alone(one: Evidence, other: Evidence) -> frozenset[int]:
    """Return the probes on which only the first of two differs from the reference."""
    return one.shown - other.shown


def _fits(one: Evidence, other: Evidence) -> bool:
    return _alone(one, other) <= one.hit
