"""Samples: one measured call each. A script says what is called, and the worker's answer may be a lie."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from grader.complexity.arguments import argument, named_spec, script_argument, size_of
from grader.complexity.contract import METERS, Contract
from grader.complexity.cost import CodeLine
from grader.complexity.known_names import known_name
from grader.complexity.polynomial import Lattice, Polynomial, Sizes
from grader.core.compare import difference
from grader.core.safe_text import one_line
from grader.sandbox.protocol.script import NOTHING, OWN, Recipe, Script, ScriptCall
from grader.sandbox.session import Session

PLACES_OF_A_FILE = 1_000_000  # a place in the student's code is file · PLACES_OF_A_FILE + line
MAX_PLACES = 1_000  # the most lines that one function may reach; each line may have its own polynomial


@dataclass(frozen=True)
class CostSample:
    """One measured call: its counts by meter and by place in the code, and the calls that it made by name."""

    counts: Mapping[str, int]
    lines: Mapping[str, Mapping[int, int]]
    unknown: Mapping[str, int]
    events: Mapping[str, int]
    value: Any


@dataclass(frozen=True)
class CostSamples:
    """Everything measured of one function so far."""

    contract: Contract
    lattice: Lattice  # the small sizes, which the polynomials are found from
    by_size: Mapping[Sizes, CostSample]
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
        file, line = divmod(at, PLACES_OF_A_FILE)
        return CodeLine(self.files[file] if file < len(self.files) else "", line)

    def _interpolate(self, count: Callable[[Sizes], int]) -> Polynomial:
        points = self.lattice.points()
        return self.lattice.interpolate(lambda index: count(points[index]))


class MalformedSampleError(Exception):
    """A worker's answer that is not a measurement."""


def read_samples(answer: object) -> tuple[list[str], list[CostSample]]:
    """Return the files and the samples of a worker's answer."""
    if type(answer) is not dict or type(answer.get("calls")) is not list or type(answer.get("files")) is not list:
        raise MalformedSampleError
    files = answer["files"]
    if not all(type(file) is str for file in files):
        raise MalformedSampleError
    return [one_line(file)[:200] for file in files], [_sample(call) for call in answer["calls"]]


def _sample(call: object) -> CostSample:
    if type(call) is not dict or call.keys() != {"value", "lines", "counts", "unknown", "events"}:
        raise MalformedSampleError
    counts, lines = _numbers(call["counts"], str), call["lines"]
    if counts.keys() != set(METERS) or type(lines) is not dict or lines.keys() != set(METERS):
        raise MalformedSampleError
    by_line = {meter: _numbers(lines[meter], int) for meter in METERS}
    unknown, events = (_named(_numbers(call[key], str)) for key in ("unknown", "events"))
    return CostSample(counts, by_line, unknown, events, call["value"])


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


StateOf = Callable[[str, tuple[Any, ...]], Mapping[str, Any]]  # the parameters of a class, for constructor arguments


def no_state(_kind: str, _init: tuple[Any, ...]) -> Mapping[str, Any]:
    """Leave objects with the parameters that their constructor gives them."""
    return NOTHING


def script_at(contract: Contract, specs: Sequence[str], sizes: Sizes, seed: int, state_of: StateOf) -> Script:
    """Return the script of a call with these arguments: the same for every student, with new numbers for each size."""
    return _ScriptMaker(contract, sizes, seed, state_of).script(specs)


class _ScriptMaker:
    def __init__(self, contract: Contract, sizes: Sizes, seed: int, state_of: StateOf) -> None:
        self.contract = contract
        self.names = contract.named(sizes)
        self.rng = np.random.default_rng([seed, *sizes])
        self.state_of = state_of

    def script(self, specs: Sequence[str]) -> Script:
        contract = self.contract
        objects = {OWN: self._object(contract.target, contract.init)} if contract.is_method else {}
        objects |= {name: self._object(one.kind, one.init) for name, one in contract.objects.items()}
        before = tuple(self._call(self._path(call.name), call.args, call.times) for call in contract.before)
        return Script(objects, before, self._call(self._own_path(), specs, contract.times))

    def _object(self, kind: str, specs: Sequence[str]) -> tuple[str, Recipe]:
        made = [(named_spec(spec)[0], argument(spec, self.names, self.rng)) for spec in specs]
        init = tuple(value for name, value in made if not name)
        named = {name: value for name, value in made if name}
        return kind, Recipe(init, self.state_of(kind, init), named=named)

    def _call(self, path: tuple[str, ...], specs: Sequence[str], times: str | None) -> ScriptCall:
        count = None if times is None else size_of(times, self.names)
        made = [(named_spec(spec)[0], script_argument(spec, self.names, self.rng, count)) for spec in specs]
        args = tuple(value for name, value in made if not name)
        return ScriptCall(path, args, {name: value for name, value in made if name}, count)

    def _own_path(self) -> tuple[str, ...]:
        method = self.contract.path.partition(".")[2]
        return (OWN, method) if method else (self.contract.path,)

    def _path(self, name: str) -> tuple[str, ...]:
        """Return what a call of `before` names: in the contract of a method, a plain name is a method, too."""
        owner, _, method = name.rpartition(".")
        if owner:
            return owner, method
        return (OWN, name) if self.contract.is_method else (name,)


AT_ONCE = 60  # sizes in one request; the answer lists every line reached at every size, so it must stay small


class Expected(Protocol):
    """The reference's results, and the parameters that the objects of every submission are given."""

    def state(self, kind: str, init: tuple[Any, ...]) -> Mapping[str, Any]: ...

    def value(self, script: Script) -> Any: ...


class Sampler:
    """Measures one function of one submission."""

    def __init__(self, session: Session, contract: Contract, seed: int, expected: Expected | None) -> None:
        self.session = session
        self.contract = contract
        self.seed = seed
        self.expected = expected
        self.lattice = contract.quick
        self._files: list[str] = []
        self._by_size: dict[Sizes, CostSample] = {}
        self._wrong = False
        self._places: set[int] = set()

    @property
    def samples(self) -> CostSamples:
        """What has been measured so far."""
        return CostSamples(self.contract, self.lattice, dict(self._by_size), tuple(self._files), self._wrong)

    def has_measured(self, sizes: Iterable[Sizes]) -> bool:
        """Whether all of these sizes have been measured."""
        return all(one in self._by_size for one in sizes)

    def measure(self, sizes: Sequence[Sizes]) -> CostSamples:
        """Measure at these sizes, in as few requests as possible."""
        new = [one for one in sizes if one not in self._by_size]
        for some in (new[at : at + AT_ONCE] for at in range(0, len(new), AT_ONCE)):
            scripts = [self.script_at(one) for one in some]
            for one, script, sample in zip(some, scripts, self._request(scripts), strict=True):
                self._by_size[one] = sample
                self._compare(script, sample)
        return self.samples

    def measure_small_sizes(self) -> CostSamples:
        """Measure at the sizes that show any power that the limits allow."""
        return self.measure(list(self.lattice.points().values()))

    def measure_more_small_sizes(self, meters: Collection[str]) -> CostSamples:
        """Measure at the sizes that also show higher powers than those of the limits of these meters."""
        self.lattice = self.contract.lattice_beyond(meters)
        return self.measure_small_sizes()

    def measure_further_calls(self, sizes: Sizes) -> list[CostSample]:
        """Make the further calls of the contract. They matter for what they call, not for their cost."""
        scripts = [self._script(specs, sizes) for specs in self.contract.also]
        samples = self._request(scripts)
        for script, sample in zip(scripts, samples, strict=True):
            self._compare(script, sample)
        return samples

    def script_at(self, sizes: Sizes) -> Script:
        """Return the script of the measured call at these sizes."""
        return self._script(self.contract.args, sizes)

    def _compare(self, script: Script, sample: CostSample) -> None:
        if self.expected is not None and not self._wrong:
            expected, found = (self._compared(value) for value in (self.expected.value(script), sample.value))
            self._wrong = difference(found, expected, self.contract.tolerance) is not None

    def _compared(self, value: Any) -> Any:
        """Return what is compared of a result: all of it, or one part of it, or that part of each in a list."""
        if self.contract.compare is None:
            return value
        if self.contract.times is not None and type(value) is list:
            return [_part(one, self.contract.compare) for one in value]
        return _part(value, self.contract.compare)

    def _request(self, scripts: list[Script]) -> list[CostSample]:
        if not scripts:
            return []
        function = self.contract.function
        calls = [script.data for script in scripts]
        path = self.contract.path.split(".")
        message = {"op": "measure", "main": self.session.program.main, "path": path, "calls": calls}
        answer = self.session.request(message, function, self.contract.target)
        try:
            self._files, samples = read_samples(answer)
        except MalformedSampleError:
            raise self.session.failure(function, self.contract.target) from None
        self._places |= {at for sample in samples for lines in sample.lines.values() for at in lines}
        if len(samples) != len(calls) or len(self._places) > MAX_PLACES:
            raise self.session.failure(function, self.contract.target)
        return samples

    def _script(self, specs: tuple[str, ...], sizes: Sizes) -> Script:
        state_of = no_state if self.expected is None else self.expected.state
        return script_at(self.contract, specs, sizes, self.seed, state_of)


def _part(value: Any, index: int) -> Any:
    return value[index] if type(value) in (tuple, list) and index < len(value) else None
