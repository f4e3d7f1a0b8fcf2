"""Findings: the first function of each target that differs from the reference."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from grader.core.compare import EXACT, Tolerance, difference
from grader.core.report import StatedProperties
from grader.course.api import REFLECT
from grader.diagnosis.fingerprints import Fingerprints, WrongWay, from_golden_form
from grader.diagnosis.match import Deviation, Matcher
from grader.diagnosis.observe import Observed

_BY_HAND = Tolerance(5e-4, 0.0)  # students type only some of the decimals


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
    calls: str = ""

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
        earlier = next((one for one in found if one.target == target), None)
        if (earlier and not earlier.is_unwritten) or matcher.is_lost(path):
            continue
        if matcher.is_unwritten(path):
            if earlier is None:
                found.append(Finding(target, path, None, None, calls=matcher.unwritten_call(path)))
            continue
        deviation = matcher.deviation(path)
        if deviation is None:
            continue
        if any(one.way and matcher.follows(one.way, path, deviation.side) for one in found):
            continue
        called = [one for one in found if not one.is_unwritten and _is_called(one.path, path, named_by)]
        if {one.path for one in called if one.way is None or one.also} & prints.builds_on[path]:
            continue
        # Its own mistake and the consequences of an earlier one together may look like a third, which is not there.
        mixed = any(one.way and matcher.affects(one.way, path, deviation.side) for one in called)
        names = (*(() if mixed else matcher.names(path, deviation)), None, None)
        shown = matcher.shown_by(names[0], path, deviation) if names[0] and names[1] is None else deviation
        found = [one for one in found if one is not earlier]
        found.append(Finding(target, path, shown, names[0], names[1]))
    return found + _wrong_answers(prints, answers)


def _is_called(earlier: str, path: str, named_by: NamedBy | None) -> bool:
    """Whether a function may call an earlier one: its code names it. Without code it may."""
    return named_by is None or earlier.rpartition(".")[2] in named_by(path)


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
