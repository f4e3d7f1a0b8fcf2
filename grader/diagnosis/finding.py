"""Findings: for each target the first function that departs from the reference, and the wrong way it behaves like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.api import REFLECT
from grader.diagnosis.fingerprints import Fingerprints, Way
from grader.diagnosis.match import Deviation, Matcher
from grader.diagnosis.observe import Observed
from grader.diagnosis.outcome import Likeness, decode, likeness


@dataclass(frozen=True)
class Finding:
    """Where something is wrong, and what it is, if that is known.

    An answer under Reflect has no deviation, and nor has a function that is not written yet.
    """

    target: str
    path: str
    deviation: Deviation | None
    way: Way | None


def findings(prints: Fingerprints, observed: Observed, answers: Mapping[str, Any]) -> list[Finding]:
    """Return at most one finding a target, in the order of the module.

    What follows from a wrong way that is named already is not found again: one mistake, one name. And nothing is named
    that builds on something wrong without a name: its own code may be right.
    """
    matcher = Matcher(prints, observed)
    found: list[Finding] = []
    for path in prints.paths:
        target = path.partition(".")[0]
        if any(one.target == target for one in found) or matcher.is_lost(path):
            continue
        if matcher.is_unwritten(path):
            found.append(Finding(target, path, None, None))
            continue
        deviation = matcher.deviation(path)
        if deviation is None:
            continue
        if any(one.way and matcher.follows(one.way, path, deviation.side) for one in found):
            continue
        unknown = {one.path for one in found if one.way is None}
        way = None if unknown & prints.builds_on[path] else matcher.name(path, deviation)
        found.append(Finding(target, path, deviation, way))
    return found + _wrong_answers(prints, answers)


def _wrong_answers(prints: Fingerprints, answers: Mapping[str, Any]) -> list[Finding]:
    for name in prints.api.constants:
        ways = [way for way in prints.ways if name in answers and _answers_so(way, name, answers[name])]
        if len(ways) == 1:
            return [Finding(REFLECT, name, None, ways[0])]
    return []


def _answers_so(way: Way, name: str, answer: Any) -> bool:
    return name in way.answers and likeness(answer, decode(way.answers[name])) == Likeness.SAME


def self_portrait(prints: Fingerprints, way: Way) -> list[str]:
    """Return the names that a wrong way itself is given: its own alone, if the probes are good."""
    observed = {number: prints.outcome(way, number) for number in range(len(prints.probes))}
    answers = {name: decode(answer) for name, answer in way.answers.items()}
    if way.grows:
        return [other.name for other in prints.ways if other.grows == way.grows]
    return [one.way.name for one in findings(prints, observed, answers) if one.way]
