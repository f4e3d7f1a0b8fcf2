"""Samples: one measured call each, read from a worker's answer that may be a lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from grader.complexity.contract import METERS, Contract
from grader.complexity.cost import CodeLine
from grader.complexity.known_names import known_name
from grader.complexity.polynomial import Lattice, Polynomial
from grader.complexity.tiling import Sizes
from grader.core.safe_text import one_line

PLACES = 1_000_000  # a place in the student's code is file · PLACES + line
MAX_PLACES = 1_000  # the most lines that one function may reach; each line may have its own polynomial


@dataclass(frozen=True)
class Sample:
    """One measured call: its counts by meter and by place in the code, and the calls that it made by name."""

    counts: Mapping[str, int]
    lines: Mapping[str, Mapping[int, int]]
    unknown: Mapping[str, int]
    events: Mapping[str, int]
    value: Any


@dataclass(frozen=True)
class Samples:
    """Everything measured of one function so far."""

    contract: Contract
    lattice: Lattice  # the small sizes, which the polynomials are found from
    by_size: Mapping[Sizes, Sample]
    files: tuple[str, ...]
    wrong: bool  # whether a result differed from the reference's

    def count(self, meter: str, sizes: Sizes) -> int:
        """Return what a meter counted at these sizes."""
        return self.by_size[sizes].counts[meter]

    def count_at(self, meter: str, at: int, sizes: Sizes) -> int:
        """Return what a meter counted at one place in the code."""
        return self.by_size[sizes].lines[meter].get(at, 0)

    def polynomial(self, meter: str) -> Polynomial:
        """Return the polynomial that a meter's counts at the small sizes give."""
        return self._interpolate(partial(self.count, meter))

    def line_polynomials(self, meter: str) -> dict[int, Polynomial]:
        """Return the polynomial of each line of the student's code that counts anything."""
        places = sorted({at for sample in self.by_size.values() for at in sample.lines[meter]})
        return {at: self._interpolate(partial(self.count_at, meter, at)) for at in places}

    def confirms(self, meter: str, polynomial: Polynomial) -> bool:
        """Whether a polynomial found at the small sizes is also right at the large ones."""
        return all(polynomial.at(sizes) == self.count(meter, sizes) for sizes in self.contract.large)

    def holds(self, meter: str, polynomial: Polynomial) -> bool:
        """Whether a polynomial is right at all small and large sizes."""
        small = self.lattice.points().values()
        return self.confirms(meter, polynomial) and all(polynomial.at(one) == self.count(meter, one) for one in small)

    def place(self, at: int) -> CodeLine:
        """Return the file and line of a place in the code."""
        file, line = divmod(at, PLACES)
        return CodeLine(self.files[file] if file < len(self.files) else "", line)

    def _interpolate(self, count: Callable[[Sizes], int]) -> Polynomial:
        points = self.lattice.points()
        return self.lattice.interpolate(lambda index: count(points[index]))


class MalformedSampleError(Exception):
    """A worker's answer that is not a measurement."""


def read_samples(answer: object) -> tuple[list[str], list[Sample]]:
    """Return the files and the samples of a worker's answer."""
    if type(answer) is not dict or type(answer.get("calls")) is not list or type(answer.get("files")) is not list:
        raise MalformedSampleError
    files = answer["files"]
    if not all(type(file) is str for file in files):
        raise MalformedSampleError
    return [one_line(file)[:200] for file in files], [_sample(call) for call in answer["calls"]]


def _sample(call: object) -> Sample:
    if type(call) is not dict or call.keys() != {"value", "lines", "counts", "unknown", "events"}:
        raise MalformedSampleError
    counts, lines = _numbers(call["counts"], str), call["lines"]
    if counts.keys() != set(METERS) or type(lines) is not dict or lines.keys() != set(METERS):
        raise MalformedSampleError
    by_line = {meter: _numbers(lines[meter], int) for meter in METERS}
    unknown, events = (_named(_numbers(call[key], str)) for key in ("unknown", "events"))
    return Sample(counts, by_line, unknown, events, call["value"])


def _numbers(table: object, key: type) -> dict[Any, int]:
    """Return a table of integers that are not negative. Keys that are places are not negative either."""
    if type(table) is not dict or len(table) > MAX_PLACES:
        raise MalformedSampleError
    for name, value in table.items():
        if type(name) is not key or type(value) is not int or not 0 <= value < 1 << 62:
            raise MalformedSampleError
        if type(name) is int and name < 0:
            raise MalformedSampleError
    return table


def _named(table: dict[str, int]) -> dict[str, int]:
    """Replace names that are not in a library: the student chose them, so a report must not show them."""
    return {known_name(name): at for name, at in table.items()}
