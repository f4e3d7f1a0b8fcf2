"""Matching: which known wrong way a function behaves like, if just one.

What a call does has four sides: the values of good arguments, the refusal of bad ones, the arguments afterwards, and
the dtype. Students make mistakes on several sides at once, so a wrong way is held against the sides it is wrong on.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from grader.diagnosis.fingerprints import Fingerprints, Way
from grader.diagnosis.observe import Observed
from grader.diagnosis.outcome import Alike, Likeness, Outcome, compare


class Side(IntEnum):
    """The sides of a call, the most telling first."""

    VALUE = 0
    REFUSAL = 1
    INPUTS = 2
    DTYPE = 3


@dataclass(frozen=True)
class Deviation:
    """Where a function departs from the reference: the most telling side, and the probes that show it there."""

    side: Side
    probes: tuple[int, ...]


class Matcher:
    """Holds what was observed of one submission against the fingerprints of its module."""

    def __init__(self, prints: Fingerprints, observed: Observed) -> None:
        self.prints = prints
        self.observed = observed
        self._alike: dict[tuple[int, int], Alike] = {}

    def is_lost(self, path: str) -> bool:
        """Whether nothing is known of a function, because it did not live through its probes."""
        return any(number not in self.observed for number in self.prints.of_path(path))

    def is_unwritten(self, path: str) -> bool:
        """Whether a function is not there yet."""
        return any(self.observed[number].ended in ("unwritten", "missing") for number in self.prints.of_path(path))

    def deviation(self, path: str) -> Deviation | None:
        """Return how a function departs from the reference, if it does."""
        numbers = self.prints.of_path(path)
        for side in Side:
            off = tuple(number for number in numbers if not _agrees(self.alike(number, 0), side))
            if off:
                return Deviation(side, off)
        return None

    def name(self, path: str, deviation: Deviation) -> Way | None:
        """Return the one wrong way that a function behaves like; None if there is none, or several."""
        found = [
            (doubts, way)
            for way in self.prints.origins[path]
            if (doubts := self._doubts(way, path, deviation.side)) is not None
        ]
        exact = [way for doubts, way in found if not doubts]
        if exact:
            return exact[0] if len(exact) == 1 else None
        return found[0][1] if len(found) == 1 else None

    def follows(self, way: Way, path: str, side: Side) -> bool:
        """Whether what is wrong with a function on some side follows from a wrong way that is named already."""
        return all(
            _agrees(self.alike(number, way.behaves.get(number, 0)), side) for number in self.prints.of_path(path)
        )

    def alike(self, number: int, place: int) -> Alike:
        """Compare what was observed with one of the known outcomes of a probe."""
        if (number, place) not in self._alike:
            self._alike[number, place] = self._compare(number, self.observed[number], place)
        return self._alike[number, place]

    def _compare(self, number: int, outcome: Outcome, place: int) -> Alike:
        row = self.prints.outcomes[number]
        any_dtype = self.prints.probes[number].any_dtype
        return compare(outcome, row[place], refusing=row[0].ended == "refused", any_dtype=any_dtype)

    def _doubts(self, way: Way, path: str, side: Side) -> int | None:
        """Return in how many lesser ways a function differs from a wrong one; None if it is not that one."""
        numbers = self.prints.of_path(path)
        wrong = {number: self._own(number, way.behaves[number]) for number in numbers if number in way.behaves}
        sides = {one for one in Side for alike in wrong.values() if not _agrees(alike, one)}
        if side not in sides or not self._is_decisive(way, wrong, side):
            return None
        doubts = 0
        for number in numbers:
            alike = self.alike(number, way.behaves.get(number, 0))
            if Side.VALUE in sides and _excludes(alike):
                return None
            if Side.INPUTS in sides and not alike.inputs:
                return None
            if not _agrees(alike, side) and side != Side.VALUE:
                return None
            doubts += sum(not _agrees(alike, one) for one in Side)
        return doubts

    def _own(self, number: int, place: int) -> Alike:
        """Return how a wrong way's outcome compares with the reference's."""
        return self._compare(number, self.prints.outcomes[number][place], 0)

    def _is_decisive(self, way: Way, wrong: dict[int, Alike], side: Side) -> bool:
        """Whether some probe shows the very mistake, and not just the lack of another."""
        return any(
            not _agrees(own, side) and _agrees(self.alike(number, way.behaves[number]), side)
            for number, own in wrong.items()
        )


def _excludes(alike: Alike) -> bool:
    """Whether values are too different; those of another dtype may overflow or be cut where the others are not."""
    return alike.value == Likeness.OTHER or (alike.value == Likeness.FAR and alike.dtype)


def _agrees(alike: Alike, side: Side) -> bool:
    match side:
        case Side.VALUE:
            return alike.value == Likeness.SAME
        case Side.REFUSAL:
            return alike.refusal
        case Side.INPUTS:
            return alike.inputs
        case Side.DTYPE:
            return alike.dtype
