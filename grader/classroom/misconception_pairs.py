"""Misconceptions that the same students have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from grader.classroom.class_results import StudentResult

Named = tuple[str, str]  # module and misconception
FEWEST = 2  # one student with two misconceptions shows nothing


@dataclass(frozen=True)
class MisconceptionPair:
    """Two misconceptions: how many students have both, and how many have each."""

    first: Named
    second: Named
    both: int
    of_first: int
    of_second: int


def misconceptions_by_student(results: Iterable[StudentResult]) -> dict[str, set[Named]]:
    """Return the misconceptions of each student in all modules, by the id of the student."""
    found: dict[str, set[Named]] = {}
    for one in results:
        for name in one.misconceptions:
            found.setdefault(one.mark.id, set()).add((one.mark.module, name))
    return found


def misconception_pairs(results: Iterable[StudentResult], most: int = 50) -> tuple[MisconceptionPair, ...]:
    """Return the pairs that most students have, the most frequent first."""
    by_student = misconceptions_by_student(results).values()
    single = Counter(name for names in by_student for name in names)
    pairs = Counter(pair for names in by_student for pair in combinations(sorted(names), 2))
    found = [
        MisconceptionPair(first, second, both, single[first], single[second])
        for (first, second), both in pairs.items()
        if both >= FEWEST
    ]
    return tuple(sorted(found, key=lambda one: (-one.both, one.first, one.second))[:most])
