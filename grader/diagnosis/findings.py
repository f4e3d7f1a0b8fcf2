"""Findings: the first function of each target that differs from the reference."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from grader.core.compare import EXACT, Tolerance, difference
from grader.core.report import StatedProperties
from grader.course.api import REFLECT
from grader.diagnosis.fingerprints import Fingerprints, WrongWay, from_golden_form
from grader.diagnosis.match import Deviation, Matcher
from grader.diagnosis.observe import Observed
from grader.diagnosis.outcome import Side
from grader.diagnosis.simplest import is_odd

_BY_HAND = Tolerance(5e-4, 0.0)  # students type only some of the decimals


class Weight(IntEnum):
    """What is told first: what is wrong, then a dtype that is not as promised, then what is not written yet."""

    WRONG = 0
    DETAIL = 1
    UNWRITTEN = 2
    REFLECT = 3


@dataclass(frozen=True)
class Finding:
    """Where something is wrong, and the wrong way it behaves like, if that is known; `also` if it mixes two.

    An answer under Reflect has no deviation. A function that is not written yet has none either. If it only calls one
    that is not, `calls` names that one.
    """

    target: str
    path: str
    deviation: Deviation | None
    way: WrongWay | None
    also: WrongWay | None = None
    right_before: tuple[str, ...] = ()  # the methods before it, if they are right
    calls: str = ""

    @property
    def weight(self) -> Weight:
        """How soon to tell it."""
        if self.deviation is None:
            return Weight.REFLECT if self.target == REFLECT else Weight.UNWRITTEN
        return Weight.DETAIL if self.deviation.side == Side.DTYPE else Weight.WRONG

    @property
    def is_unwritten(self) -> bool:
        """Whether it only says that something is not written yet."""
        return self.deviation is None and self.way is None


NamedBy = Callable[[str], Collection[str]]  # the names that the code of a function holds, with those that it calls


def findings(
    prints: Fingerprints, observed: Observed, answers: Mapping[str, Any], named_by: NamedBy | None = None
) -> list[Finding]:
    """Return at most one finding for each target, in the order of the module, and one for each question under Reflect.

    A consequence of a wrong way that already has a name is not reported again: one mistake, one name. A function that
    builds on an unnamed mistake, or on two at once, is not reported either: its own code may be right. A function whose
    code does not name the earlier one is judged by itself. What is wrong is told before what is not written yet.
    """
    matcher = Matcher(prints, observed)
    found: list[Finding] = []
    for path in prints.paths:
        target = path.partition(".")[0]
        if any(one.target == target and one.weight == Weight.WRONG for one in found) or matcher.is_lost(path):
            continue
        one = _finding(path, prints, matcher, found, named_by)
        found += [one] if one is not None else []
    # The first of the heaviest of each target; the sort keeps the order of the module.
    chosen = {one.target: one for one in reversed(sorted(found, key=lambda one: one.weight))}
    return [one for one in found if chosen[one.target] is one] + _wrong_answers(prints, answers)


def _finding(
    path: str, prints: Fingerprints, matcher: Matcher, found: Sequence[Finding], named_by: NamedBy | None
) -> Finding | None:
    """Return what is wrong with a function by itself; None if nothing is, or only what an earlier finding explains."""
    target = path.partition(".")[0]
    if matcher.is_unwritten(path):
        return Finding(target, path, None, None, calls=matcher.unwritten_call(path))
    deviation = matcher.deviation(path)
    if deviation is None:
        return None
    if any(one.way and matcher.follows(one.way, path, deviation.side) for one in found):
        return None
    if matcher.raised_in(deviation) & {one.path for one in found}:
        return None
    called = [one for one in found if not one.is_unwritten and _is_called(one.path, path, named_by)]
    # A detail of dtypes explains nothing about a call with the usual numbers.
    plain = any(not is_odd(number, prints) for number in deviation.probes)
    hiding = [one for one in called if (one.way is None or one.also) and (one.weight == Weight.WRONG or not plain)]
    if {one.path for one in hiding} & prints.builds_on[path]:
        return None
    names = (*_names(path, deviation, matcher, [one.way for one in called if one.way]), None, None)
    shown = matcher.shown_by(names[0], path, deviation) if names[0] and names[1] is None else deviation
    return Finding(target, path, shown, names[0], names[1], _right_before(path, prints, matcher))


def _names(path: str, deviation: Deviation, matcher: Matcher, earlier: Sequence[WrongWay]) -> tuple[WrongWay, ...]:
    """Return the names of a function's own mistakes, beside those that what it calls has; none if they may be others.

    Its own mistake and the consequences of an earlier one together may look like a third, which is not there.
    """
    if any(matcher.affects(way, path, deviation.side) for way in earlier):
        return ()
    names = matcher.names(path, deviation)
    return names if len(names) != 1 or matcher.is_certain(names[0], path, deviation.side, earlier) else ()


def _right_before(path: str, prints: Fingerprints, matcher: Matcher) -> tuple[str, ...]:
    """Return the methods before one of the same class, if all of them are right."""
    before = [one for one in prints.paths[: prints.paths.index(path)] if one.startswith(f"{path.partition('.')[0]}.")]
    right = [one for one in before if not matcher.is_lost(one) and matcher.deviation(one) is None]
    return tuple(before) if right == before else ()


def _is_called(earlier: str, path: str, named_by: NamedBy | None) -> bool:
    """Whether a function may call an earlier one: its code names it. Without code it may.

    It may get an object of another class as an argument, and call that without a name.
    """
    owner, _, name = earlier.rpartition(".")
    return named_by is None or (owner != "" and owner != path.rpartition(".")[0]) or name in named_by(path)


def stated_properties(prints: Fingerprints, observed: Observed) -> tuple[StatedProperties, ...]:
    """Return, for each function, how many of its probes have the reference's outcome. A lost probe has not."""
    matcher = Matcher(prints, observed)
    return tuple(
        StatedProperties(path, sum(n in observed and not matcher.alike(n, 0).wrong for n in numbers), len(numbers))
        for path in prints.paths
        if (numbers := prints.of_path(path))
    )


def _wrong_answers(prints: Fingerprints, answers: Mapping[str, Any]) -> list[Finding]:
    """Return a finding for each question whose answer only one wrong way gives."""
    given: dict[str, list[WrongWay]] = {}
    for way in prints.ways:
        if way.answers and all(_answers_so(way, name, answers) for name in way.answers):
            given.setdefault(next(iter(way.answers)), []).append(way)
    return [Finding(REFLECT, name, None, ways[0]) for name, ways in given.items() if len(ways) == 1]


def _answers_so(way: WrongWay, name: str, answers: Mapping[str, Any]) -> bool:
    wrong = from_golden_form(way.answers[name])
    whole = type(wrong) is not float or wrong.is_integer()
    return name in answers and difference(answers[name], wrong, EXACT if whole else _BY_HAND) is None


def diagnosed_names(prints: Fingerprints, way: WrongWay) -> list[str]:
    """Return the names that diagnosis gives to a wrong way: only its own name, if the probes are good."""
    observed = {number: prints.outcome(way, number) for number in range(len(prints.probes))}
    answers = {name: from_golden_form(answer) for name, answer in way.answers.items()}
    if way.grows:
        return [other.name for other in prints.ways if other.grows == way.grows]
    return [one.way.name for one in findings(prints, observed, answers) if one.way]
