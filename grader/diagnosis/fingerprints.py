"""Fingerprints: the outcomes of a module's probes for the reference and for every known wrong way.

They are kept in the golden file, so that a student's bundle gives the same names as the instructor's grader. The
reference's answers to the questions under Reflect are not in it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from grader.core.compare import as_float64
from grader.core.plain_values import in_order, plain
from grader.course.api import Api
from grader.course.golden import Golden
from grader.diagnosis.observe import Observed
from grader.diagnosis.outcome import MOST_ENTRIES, Alike, ProbeOutcome, Side, Unreadable, compare, is_same
from grader.diagnosis.probe import Probe

_DIGITS, _SHORT = 12, 9  # for float64; and for float32 and smaller, where nine digits are enough
_PLAIN = "python"


@dataclass(frozen=True)
class WrongWay:
    """A known wrong way, read from a golden file."""

    name: str
    likely: str
    hint: str
    look: tuple[str, ...]  # words from the lines that are wrong
    behaves: Mapping[int, int]  # by probe, the number of its outcome; 0, the reference's, if it is missing
    answers: Mapping[str, Any]  # the wrong answers to the questions under Reflect
    grows: Mapping[str, Mapping[str, str]]  # by function and meter, for a way that is right but too expensive


@dataclass(frozen=True)
class Fingerprints:
    """Everything that diagnosis needs to know about a module."""

    api: Api
    probes: tuple[Probe, ...]
    table: tuple[tuple[Mapping[str, Any], ...], ...]  # by probe, the distinct outcomes; the reference's comes first
    ways: tuple[WrongWay, ...]
    _sides: dict[tuple[str, str], Mapping[int, frozenset[Side]]] = field(default_factory=dict)
    _numbers: dict[str, tuple[int, ...]] = field(default_factory=dict)
    _known: dict[tuple[int, int], ProbeOutcome] = field(default_factory=dict)
    _ids: set[int] = field(default_factory=set)  # of the known outcomes, which stay: no other has the same one
    _compared: dict[tuple[int, int, int], Alike] = field(default_factory=dict)

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The functions and methods with probes, in the order of the module."""
        return tuple(dict.fromkeys(probe.path for probe in self.probes))

    def known(self, number: int, place: int) -> ProbeOutcome:
        """Return one of the distinct outcomes of a probe; 0 is the reference's. It is decoded on first use."""
        if (number, place) not in self._known:
            self._known[number, place] = made = outcome_of(self.table[number][place])
            self._ids.add(id(made))
        return self._known[number, place]

    def of_path(self, path: str) -> tuple[int, ...]:
        """Return the numbers of a function's probes."""
        if path not in self._numbers:
            self._numbers[path] = tuple(n for n, probe in enumerate(self.probes) if probe.path == path)
        return self._numbers[path]

    def compare(self, number: int, outcome: ProbeOutcome, place: int) -> Alike:
        """Compare an outcome of a probe with one of the known ones. Two known ones are compared only once."""
        known = self.known(number, place)
        key = number, id(outcome), place
        if key in self._compared:
            return self._compared[key]
        refusing = self.known(number, 0).ended == "refused"
        found = compare(outcome, known, refusing=refusing, any_dtype=self.probes[number].any_dtype)
        if id(outcome) in self._ids:
            self._compared[key] = found
        return found

    def wrong_sides(self, way: WrongWay, path: str) -> Mapping[int, frozenset[Side]]:
        """Return, for each probe of a function, the sides on which a wrong way is wrong."""
        if (way.name, path) not in self._sides:
            self._sides[way.name, path] = {
                number: self.compare(number, self.known(number, way.behaves[number]), 0).wrong
                for number in self.of_path(path)
                if number in way.behaves
            }
        return self._sides[way.name, path]

    def outcome(self, way: WrongWay | None, number: int) -> ProbeOutcome:
        """Return the outcome of a probe for a wrong way, or for the reference."""
        return self.known(number, way.behaves.get(number, 0) if way else 0)

    @cached_property
    def _origins(self) -> dict[str, tuple[WrongWay, ...]]:
        """By function, the wrong ways that show there first; later functions may only show the consequences."""
        found: dict[str, list[WrongWay]] = {path: [] for path in self.paths}
        for way in self.ways:
            numbers = sorted(way.behaves)
            path = next((path for path in self.paths if any(n in way.behaves for n in self.of_path(path))), None)
            if numbers and path is not None:
                found[path].append(way)
        return {path: tuple(ways) for path, ways in found.items()}

    def candidates(self, path: str) -> tuple[tuple[WrongWay, ...], tuple[WrongWay, ...]]:
        """Return the wrong ways that a function can have: its own, and those of functions whose work it does itself."""
        return self._origins[path], self._borrowed[path]

    @cached_property
    def _borrowed(self) -> dict[str, tuple[WrongWay, ...]]:
        """By function, the wrong ways of earlier functions that show in its probes, too, and in no other way.

        A text that names another function of the module is not true of this one.
        """
        found: dict[str, tuple[WrongWay, ...]] = {}
        for path in self.paths:
            numbers = self.of_path(path)
            traces = {way.name: tuple((n, way.behaves[n]) for n in numbers if n in way.behaves) for way in self.ways}
            count = Counter(traces.values())
            others = {part for other in self.paths for part in other.split(".")} - {*path.split(".")}
            names = re.compile(rf"\b(?:{'|'.join(map(re.escape, others))})\b") if others else None
            found[path] = tuple(
                way
                for way in self.ways
                if traces[way.name] and count[traces[way.name]] == 1 and way not in self._origins[path]
                if not (names and names.search(f"{way.likely} {way.hint}"))
            )
        return found

    @cached_property
    def builds_on(self) -> dict[str, frozenset[str]]:
        """By function, the functions that it builds on: a mistake in one of those can make it wrong too."""
        found: dict[str, set[str]] = {path: set() for path in self.paths}
        for origin, ways in self._origins.items():
            for number in (number for way in ways for number in way.behaves):
                found[self.probes[number].path].add(origin)
        return {path: frozenset(origins - {path}) for path, origins in found.items()}


def fingerprint_data(
    probes: Sequence[Probe], reference: Observed, wrong: Mapping[str, Observed]
) -> tuple[list[list[dict[str, Any]]], dict[str, dict[str, int]]]:
    """Return the table of outcomes, and the places of each wrong way in it, as plain data."""
    rows = [[reference[number]] for number in range(len(probes))]
    behaves: dict[str, dict[str, int]] = {}
    for name, observed in wrong.items():
        behaves[name] = {}
        for number, outcome in sorted(observed.items()):
            if place := _place(rows[number], outcome, probes[number]):
                behaves[name][str(number)] = place
    return [[outcome_data(outcome) for outcome in row] for row in rows], behaves


def _place(row: list[ProbeOutcome], outcome: ProbeOutcome, probe: Probe) -> int:
    """Return the place of an outcome among the known ones. A new one is added."""
    if outcome is row[0]:  # most wrong ways leave most probes as they are
        return 0
    refusing = row[0].ended == "refused"
    for place, known in enumerate(row):
        both_returned = outcome.ended == known.ended == "returned"
        if both_returned and not refusing and not is_same(outcome.value, known.value):
            continue
        if not compare(outcome, known, refusing=refusing, any_dtype=probe.any_dtype).wrong:
            return place
    # A refusal is in the author's words, and a student has their own.
    row.append(replace(outcome, cause="") if refusing and outcome.ended == "refused" else outcome)
    return len(row) - 1


def answer_data(names: Sequence[str], reference: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the wrong answers of a wrong way."""
    data = {name: golden_form(found[name]) for name in names if name in found}
    return {name: answer for name, answer in data.items() if answer != golden_form(reference.get(name))}


def read_fingerprints(golden: Golden, probes: tuple[Probe, ...]) -> Fingerprints | None:
    """Return the fingerprints of a golden file; None if it was made for other probes."""
    if len(golden.probes) != len(probes):
        return None
    table = tuple(tuple(row) for row in golden.probes)
    return Fingerprints(golden.api, probes, table, ways_of(golden.misconceptions))


def ways_of(entries: Mapping[str, Mapping[str, Any]]) -> tuple[WrongWay, ...]:
    """Return the wrong ways that a golden file lists."""
    return tuple(
        WrongWay(
            name=name,
            likely=str(entry["likely"]),
            hint=str(entry["hint"]),
            look=tuple(entry.get("look", ())),
            behaves={int(number): place for number, place in entry.get("behaves", {}).items()},
            answers=entry.get("answers", {}),
            grows=entry.get("grows", {}),
        )
        for name, entry in entries.items()
    )


# The form in which a golden file keeps outcomes ------------------------------------------------------------


def golden_form(value: Any) -> Any:
    """Return a value in a form for JSON. A value without such a form becomes an object, which equals no other value."""
    value = plain(value)
    if value is None or type(value) is bool:
        return value
    if type(value) in (str, bytes):
        return _text_form(value) if len(value) <= MOST_ENTRIES else {"object": True}
    if type(value) in (tuple, list):
        return {type(value).__name__: [golden_form(item) for item in value[:MOST_ENTRIES]]}
    if type(value) in (set, frozenset):
        return {type(value).__name__: [golden_form(item) for item in in_order(value)[:MOST_ENTRIES]]}
    if type(value) is dict and all(type(key) is str for key in value):
        return {"dict": {key: golden_form(item) for key, item in value.items()}}
    if type(value) is dict:
        return {"pairs": [[golden_form(key), golden_form(item)] for key, item in value.items()]}
    if type(value) is int and abs(value) >= 10**_DIGITS:
        return {"integer": hex(value)}
    if type(value) is complex:
        return {"complex": [_digits(value.real), _digits(value.imag)]}
    if type(value) in (int, float):
        return {"number": _digits(float(value)), "dtype": "int" if type(value) is int else _PLAIN}
    array = as_float64(value)
    if array is None or array.size > MOST_ENTRIES:
        return {"object": True}
    dtype = str(value.dtype)
    if not array.ndim and isinstance(value, np.generic):  # an array or tensor without axes stays an array
        return {"number": _digits(float(array)), "dtype": dtype}
    digits = _SHORT if dtype.endswith(("float32", "float16")) else _DIGITS
    return {"array": [_digits(x, digits) for x in array.ravel().tolist()], "shape": list(array.shape), "dtype": dtype}


def _text_form(value: str | bytes) -> dict[str, str]:
    """Return the form of a text. Some characters exist only inside Python, not in a file."""
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if value.isascii() or value.encode("utf-8", "replace").decode() == value:
        return {"text": value}
    return {"surrogates": value.encode("utf-8", "surrogatepass").hex()}


def from_golden_form(data: Any) -> Any:
    """Return what `golden_form` wrote."""
    if data is None or type(data) is bool:
        return data
    (kind, content), *_ = data.items()
    match kind:
        case "text":
            return content
        case "tuple":
            return tuple(map(from_golden_form, content))
        case "list":
            return list(map(from_golden_form, content))
        case "set":
            return set(map(from_golden_form, content))
        case "frozenset":
            return frozenset(map(from_golden_form, content))
        case "bytes":
            return bytes.fromhex(content)
        case "surrogates":
            return bytes.fromhex(content).decode("utf-8", "surrogatepass")
        case "integer":
            return int(content, 16)
        case "complex":
            return complex(*map(float, content))
        case "pairs":
            return {from_golden_form(key): from_golden_form(item) for key, item in content}
        case "dict":
            return {key: from_golden_form(item) for key, item in content.items()}
        case "number":
            return _number(float(content), data["dtype"])
        case "array":
            flat = np.array([float(x) for x in content])
            return _typed(flat.reshape(data["shape"]), data["dtype"])
    return Unreadable()


def _number(value: float, dtype: str) -> Any:
    if dtype == "int":
        return int(value)
    return value if dtype == _PLAIN else np.dtype(dtype).type(value)


def _typed(array: np.ndarray, dtype: str) -> Any:
    if dtype.startswith("torch."):
        import torch

        return torch.from_numpy(array).to(getattr(torch, dtype.removeprefix("torch.")))
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def _digits(value: float, digits: int = _DIGITS) -> float | str:
    return float(f"{value:.{digits}g}") if math.isfinite(value) else str(value)


def is_kept(outcome: ProbeOutcome) -> bool:
    """Whether a golden file keeps the value of an outcome: it is not too large, and of a type with a form."""
    return is_same(outcome.value, from_golden_form(golden_form(outcome.value)))


def outcome_data(outcome: ProbeOutcome) -> dict[str, Any]:
    """Return an outcome as plain data for a golden file."""
    data: dict[str, Any] = {"ended": outcome.ended}
    if outcome.ended == "returned":
        data["value"] = golden_form(outcome.value)
    if outcome.numbers:
        data["numbers"] = list(outcome.numbers)
    if outcome.cause:
        data["cause"] = outcome.cause
    if outcome.changed:
        data["changed"] = {name: golden_form(value) for name, value in outcome.changed.items()}
    return data


def outcome_of(data: Mapping[str, Any]) -> ProbeOutcome:
    """Return what `outcome_data` wrote."""
    changed = {name: from_golden_form(value) for name, value in data.get("changed", {}).items()}
    numbers, cause = tuple(data.get("numbers", ())), str(data.get("cause", ""))
    return ProbeOutcome(data["ended"], from_golden_form(data.get("value")), numbers, changed, cause)
