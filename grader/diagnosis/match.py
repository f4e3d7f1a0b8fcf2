"""The matcher: finds the known wrong way that a function behaves like.

A call has four sides: the value for good arguments, the refusal of bad ones, changes to the arguments, and the dtype.
Students make mistakes on several sides at once, so a wrong way is compared only on the sides where it is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, permutations

from grader.diagnosis.direction import same_direction
from grader.diagnosis.fingerprints import Fingerprints, WrongWay
from grader.diagnosis.observe import Observed
from grader.diagnosis.outcome import Alike, Likeness, Side

RAISED = frozenset({"raised", "refused", "overflowed"})
MANY = 3  # probes; fewer may be alike by chance
FEW = 2  # probes that show one of more than two mistakes alone
PART = 1 / 3  # of the probes that show a mistake, if others mix with it
MOST_AT_ONCE = 4  # mistakes in one function


@dataclass(frozen=True)
class Deviation:
    """How a function differs from the reference: the most important side, and the probes that show it."""

    side: Side
    probes: tuple[int, ...]


@dataclass(frozen=True)
class Suspect:
    """The probes on which a wrong way differs from the reference, and those of them that show just its outcome."""

    way: WrongWay
    shown: frozenset[int]
    hit: frozenset[int]

    def alone(self, other: Suspect) -> frozenset[int]:
        """Return the probes on which only this one of two differs from the reference."""
        return self.shown - other.shown

    @property
    def is_clear(self) -> bool:
        """Whether it has its own outcome in a good part of its probes: in a few, some other mistake looks like it."""
        return len(self.hit) >= PART * len(self.shown)

    def fits(self, other: Suspect) -> bool:
        """Whether this one has its own outcome wherever the other cannot mix with it."""
        return self.alone(other) <= self.hit


class Matcher:
    """Compares the observed outcomes of one submission with the fingerprints of its module."""

    def __init__(self, prints: Fingerprints, observed: Observed) -> None:
        self.prints = prints
        self.observed = observed
        self._alike: dict[tuple[int, int], Alike] = {}

    def is_lost(self, path: str) -> bool:
        """Whether a function cannot be judged, because its process ended during the probes."""
        return any(number not in self.observed for number in self.prints.of_path(path))

    def is_unwritten(self, path: str) -> bool:
        """Whether a function is missing or not written yet, or calls one that is not."""
        ended = [self.observed[number].ended for number in self.prints.of_path(path)]
        return "missing" in ended or ("unwritten" in ended and "returned" not in ended)

    def unwritten_call(self, path: str) -> str:
        """Return the function that is not written yet, if this one only calls it; empty if it is this one itself."""
        outcomes = [self.observed[number] for number in self.prints.of_path(path)]
        raised = next((one.raised for one in outcomes if one.ended == "unwritten" and one.raised), None)
        if raised is None or not raised.file:
            return ""
        if raised.place is None:  # a module before this one
            return f"a function of {raised.file}"
        own = ("", path, f"{path.partition('.')[0]}.__init__")
        return "" if raised.function in own else raised.function

    def raised_in(self, deviation: Deviation) -> frozenset[str]:
        """Return the function that raised in all the calls that show a deviation, if it is one function."""
        raised = [self.observed[number].raised for number in deviation.probes]
        functions = {one.function if one else "" for one in raised}
        return frozenset(functions if len(functions) == 1 and "" not in functions else ())

    def deviation(self, path: str) -> Deviation | None:
        """Return how a function differs from the reference; None if it does not."""
        numbers = self.prints.of_path(path)
        for side in Side:
            off = tuple(number for number in numbers if side in self.alike(number, 0).wrong)
            if off:
                return Deviation(side, off)
        return None

    def names(self, path: str, deviation: Deviation) -> tuple[WrongWay, ...]:
        """Return the wrong way that a function behaves like, or those that it mixes; none if that is not clear.

        One without any difference comes first, then one with none on this side, then those that explain everything
        together, then one with differences only where the function raises.
        """
        doubts = {way.name: self._doubts(way, path, deviation) for way in chain(*self.prints.candidates(path))}
        found = [way for way in chain(*self.prints.candidates(path)) if doubts[way.name] is not None]
        if exact := self._only(path, [way for way in found if not doubts[way.name]]):
            return exact
        # One that raises where the function raises explains more than one that returns there, whatever the words.
        if found and (closer := self._only(path, self._raising_alike(path, deviation))):
            return closer
        # One that is all of this side comes before several that only explain it together.
        fitting = [way for way in found if self.follows(way, path, deviation.side)]
        if whole := self._only(path, fitting):
            return whole
        suspects, values = self._suspects(path, deviation.side), deviation.side == Side.VALUE
        if together := ways_together(deviation.probes, suspects, values=values):
            return together
        if found:
            return () if fitting else self._only(path, found)
        return with_a_relative(deviation.probes, suspects) if values else ()

    def _raising_alike(self, path: str, deviation: Deviation) -> list[WrongWay]:
        ways = chain(*self.prints.candidates(path))
        return [way for way in ways if self._doubts(way, path, deviation, any_words=True) == 0]

    def _only(self, path: str, ways: Sequence[WrongWay]) -> tuple[WrongWay, ...]:
        """Return the only one of several wrong ways: the function's own come before those of other functions."""
        own = [way for way in ways if way in self.prints.candidates(path)[0]] or ways
        return tuple(own) if len(own) == 1 else ()

    def shown_by(self, way: WrongWay, path: str, deviation: Deviation) -> Deviation:
        """Return the part of a deviation that shows a wrong way, and not another mistake beside it."""
        hit = self._suspect(way, path, deviation.side).hit
        return Deviation(deviation.side, tuple(one for one in deviation.probes if one in hit) or deviation.probes)

    def _suspects(self, path: str, side: Side) -> list[Suspect]:
        return [self._suspect(way, path, side) for way in chain(*self.prints.candidates(path))]

    def _suspect(self, way: WrongWay, path: str, side: Side) -> Suspect:
        shown = [number for number, sides in self.prints.wrong_sides(way, path).items() if side in sides]
        hit = [number for number in shown if self._shows(way, number, side)]
        return Suspect(way, frozenset(shown), frozenset(hit))

    def follows(self, way: WrongWay, path: str, side: Side) -> bool:
        """Whether a function is wrong on this side only because of a wrong way that already has a name."""
        return self._fits(way, self.prints.of_path(path), side)

    def _fits(self, way: WrongWay, numbers: Iterable[int], side: Side) -> bool:
        return not any(side in self.alike(number, way.behaves.get(number, 0)).wrong for number in numbers)

    def affects(self, way: WrongWay, path: str, side: Side) -> bool:
        """Whether a wrong way has consequences for a function on this side."""
        return any(side in sides for sides in self.prints.wrong_sides(way, path).values())

    def is_certain(self, way: WrongWay, path: str, side: Side, earlier: Iterable[WrongWay]) -> bool:
        """Whether no other wrong way fits where the consequences of earlier ones cannot be."""
        mixed = {number for one in earlier for number in self.prints.wrong_sides(one, path)}
        clear = [number for number in self.prints.of_path(path) if number not in mixed]
        if not mixed:
            return True
        others = (
            one for one in chain(*self.prints.candidates(path)) if one is not way and self.affects(one, path, side)
        )
        return not any(self._fits(one, clear, side) for one in others)

    def alike(self, number: int, place: int) -> Alike:
        """Compare the observed outcome of a probe with one of the known outcomes."""
        if (number, place) not in self._alike:
            found = self.prints.compare(number, self.observed[number], place)
            if place and found.value == Likeness.NEAR and self._is_as_small(number, place):
                found = replace(found, value=Likeness.SAME)
            self._alike[number, place] = found
        return self._alike[number, place]

    def _is_as_small(self, number: int, place: int) -> bool:
        """Whether both are a little off in the same direction: the same mistake, such as 1e-9 in a sum, of any size."""
        known, right = self.prints.known(number, place), self.prints.known(number, 0)
        near = (self.alike(number, 0).value, self.prints.compare(number, known, 0).value)
        return set(near) == {Likeness.NEAR} and same_direction(self.observed[number].value, known.value, right.value)

    def _doubts(self, way: WrongWay, path: str, deviation: Deviation, *, any_words: bool = False) -> int | None:
        """Return the number of small differences between a function and a wrong way; None if they do not match.

        With `any_words`, two exceptions are alike whatever they say, but they show nothing.
        """
        side = deviation.side
        wrong = self.prints.wrong_sides(way, path)
        sides = frozenset().union(*wrong.values())
        if side not in sides:
            return None
        doubts, raised, reworded = 0, 0, 0
        # The probes that show the deviation come first: they rule out nearly every other wrong way at once.
        for number in dict.fromkeys((*deviation.probes, *self.prints.of_path(path))):
            if self._raises_instead(way, number):
                raised += 1
                continue
            if any_words and self._raises_too(way, number):
                reworded += 1
                continue
            alike = self.alike(number, way.behaves.get(number, 0))
            if Side.VALUE in sides and _excludes(alike):
                return None
            if Side.INPUTS in sides and alike.touched == "others":
                return None
            if side in (Side.REFUSAL, Side.DTYPE) and side in alike.wrong:
                return None
            doubts += len(alike.wrong)
        # Code that sometimes raises may still have this mistake. Code that hardly ever returns may have any mistake.
        if 2 * (raised + reworded) >= len(self.prints.of_path(path)) or not self._is_decisive(
            way, wrong, side, returned=bool(raised + reworded)
        ):
            return None
        return doubts + raised

    def _raises_instead(self, way: WrongWay, number: int) -> bool:
        """Whether a function raises where both the reference and the wrong way return."""
        if self.observed[number].ended not in {*RAISED, "unwritten"}:
            return False
        known = (self.prints.outcome(None, number), self.prints.outcome(way, number))
        differs = self.alike(number, way.behaves.get(number, 0)).value == Likeness.OTHER
        return differs and all(one.ended == "returned" for one in known)

    def _raises_too(self, way: WrongWay, number: int) -> bool:
        """Whether a function and a wrong way both raise where the reference returns."""
        known = (self.prints.outcome(None, number), self.prints.outcome(way, number))
        return known[0].ended == "returned" and not {self.observed[number].ended, known[1].ended} - RAISED

    def _is_decisive(self, way: WrongWay, wrong: Mapping[int, frozenset[Side]], side: Side, *, returned: bool) -> bool:
        """Whether a probe shows this mistake itself, and not only the absence of another one.

        Code that raises elsewhere, too, must show it by what it has `returned`: two exceptions may only look alike.
        """
        return any(
            side in sides and self._shows(way, number, side)
            for number, sides in wrong.items()
            if not (returned and side == Side.VALUE) or self.observed[number].ended == "returned"
        )

    def _shows(self, way: WrongWay, number: int, side: Side) -> bool:
        """Whether a probe shows a wrong way on this side."""
        # A right value can look like a wrong one that is only less precise, but it shows no mistake.
        if side not in self.alike(number, 0).wrong:
            return False
        alike = self.alike(number, way.behaves[number])
        # The mistake is that an argument was overwritten. The new value depends on the style of the code.
        return alike.touched == "these" if side == Side.INPUTS else side not in alike.wrong


def _excludes(alike: Alike) -> bool:
    """Whether values are too different. Values of another dtype may be far apart: they overflow or are cut off."""
    return alike.value == Likeness.OTHER or (alike.value == Likeness.FAR and alike.dtype)


def ways_together(off: Iterable[int], known: Sequence[Suspect], *, values: bool) -> tuple[WrongWay, ...]:
    """Return the wrong ways that are in every explanation of the probes that are off, by as few known ones as possible.

    Where only one of them differs from the reference, the outcome must be exactly its own. Where several differ, it may
    be anything: the mistakes mix. A wrong way that some other explanation can do without is not named. Many mistakes
    have the same refusals and dtypes, and these do not mix: without `values`, there are at most two, and each must have
    its own outcome on every probe.
    """
    off = frozenset(off)
    likely = [one for one in known if one.hit]
    sizes = range(2, MOST_AT_ONCE + 1 if values else 3)
    explanations = next(filter(None, (_explanations(off, likely, size) for size in sizes)), [])
    return _in_all(explanations, [one for one in likely if values or one.shown == one.hit])


def with_a_relative(off: Iterable[int], known: Sequence[Suspect]) -> tuple[WrongWay, ...]:
    """Return the wrong way beside which there is a relative of a known one, which has none of its own outcomes.

    The wrong way must have its own outcomes, in many probes.
    """
    off = frozenset(off)
    likely = [one for one in known if one.hit]
    explanations = [
        {first.way.name}
        for first, second in permutations(likely, 2)
        if off <= first.shown | second.shown and first.is_clear
        if first.fits(second) and len(first.alone(second)) >= MANY
    ]
    return _in_all(explanations, likely)


def _in_all(explanations: Sequence[set[str]], known: Sequence[Suspect]) -> tuple[WrongWay, ...]:
    names = set.intersection(*explanations) if explanations else set()
    return tuple(one.way for one in known if one.way.name in names)


def _explanations(off: frozenset[int], likely: Sequence[Suspect], size: int) -> list[set[str]]:
    """Return the names that each explanation by so many wrong ways cannot do without."""
    found = []
    for group in combinations(likely, size):
        if not off <= frozenset().union(*(one.shown for one in group)):
            continue
        alone = [one.shown.difference(*(other.shown for other in group if other is not one)) for one in group]
        if all(probes <= one.hit for one, probes in zip(group, alone, strict=True)):
            least = 1 if size == 2 else FEW
            pairs = zip(group, alone, strict=True)
            found.append({one.way.name for one, probes in pairs if len(probes) >= least and one.is_clear})
    return found
