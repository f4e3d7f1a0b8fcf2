"""The profile of a function: what it counted up to at many sizes, the polynomial behind it, and the verdict."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import log2
from typing import Any, Literal

import numpy as np

from grader.compare import difference
from grader.complexity.contract import METERS, Contract, Law
from grader.complexity.polynomial import Polynomial, Powers, Sizes
from grader.complexity.prices import SUM
from grader.errors import StudentEndedError, StudentError
from grader.sandbox.client import Session

Verdict = Literal["pass", "fail", "inconclusive"]
Expected = Callable[[tuple[Any, ...], tuple[Any, ...]], Any]
PLACES = 1_000_000  # a place in the student's code is file · PLACES + line
FAILS_ABOVE, DOUBTFUL_ABOVE = 0.6, 0.35
RAY, MIN_TAIL = 12, 5


@dataclass(frozen=True)
class Sample:
    """One measured call: counts by meter, by place in the code, and what was called that has a name of its own."""

    counts: Mapping[str, int]
    lines: Mapping[str, Mapping[int, int]]
    unknown: Mapping[str, int]
    events: Mapping[str, int]
    value: Any


@dataclass(frozen=True)
class Place:
    """A line of a student's file."""

    file: str
    line: int


@dataclass(frozen=True)
class Cost:
    """The verdict on one meter of one function. `measured` is its polynomial, or says how it grows."""

    function: str
    meter: str
    law: str
    measured: str
    verdict: Verdict
    points: float
    place: Place | None
    message: str

    @property
    def target(self) -> str:
        return self.function.partition(".")[0]

    @property
    def earned(self) -> float:
        """Inconclusive keeps its points until somebody has looked."""
        return 0.0 if self.verdict == "fail" else self.points


@dataclass(frozen=True)
class Event:
    """A call with a name of its own, such as a product of arrays, and where it is made."""

    function: str
    call: str
    place: Place

    @property
    def target(self) -> str:
        return self.function.partition(".")[0]


@dataclass(frozen=True)
class Profile:
    """Everything measured of one function."""

    contract: Contract
    costs: tuple[Cost, ...]
    events: tuple[Event, ...]
    polynomials: Mapping[str, Polynomial]  # by meter, those found at the small sizes
    exact: Mapping[str, Polynomial]  # of these, the ones that the large sizes bear out


@dataclass(frozen=True)
class Ray:
    """Sizes in equal steps: base + k · step, for k from 1 to RAY."""

    name: str
    base: Sizes
    step: Sizes

    def sizes(self) -> list[Sizes]:
        return [tuple(b + k * s for b, s in zip(self.base, self.step, strict=True)) for k in range(1, RAY + 1)]


class MalformedSampleError(Exception):
    """A worker's answer that is no measurement."""


def profile(session: Session, contract: Contract, seed: int, expected: Expected | None = None) -> Profile:
    """Measure a function in a fresh worker and hold it against its contract.

    With `expected`, a result that is not the reference's earns nothing: the cost of a wrong answer means nothing.
    """
    try:
        return _Profiler(session, contract, seed, expected).run()
    except StudentEndedError as error:
        verdict: Verdict = "inconclusive"
        message = f"it could not be measured: {error}"
    except StudentError as error:
        verdict, message = "fail", f"it could not be measured: {error}"
    costs = tuple(
        Cost(contract.function, law.meter, law.text, "", verdict, law.points, None, message) for law in contract.laws
    )
    return Profile(contract, costs, (), {}, {})


class _Profiler:
    def __init__(self, session: Session, contract: Contract, seed: int, expected: Expected | None) -> None:
        self.session = session
        self.contract = contract
        self.seed = seed
        self.expected = expected
        self.files: list[str] = []
        self.seen: dict[Sizes, Sample] = {}
        self.wrong = ""

    def run(self) -> Profile:
        contract = self.contract
        self.sample(list(contract.lattice.points().values()))
        polynomials = {meter: self.polynomial(partial(self.count, meter)) for meter in METERS}
        self.sample(list(contract.large))
        exact = {meter: found for meter, found in polynomials.items() if self.is_borne_out(meter, found)}
        events = self.events(self.sample_also())
        if self.wrong:
            message = f"its results are wrong, so that its cost means nothing: {self.wrong}"
            costs = tuple(self.cost(law, polynomials[law.meter], "fail", None, message) for law in contract.laws)
        else:
            costs = tuple(self.judged(law, polynomials[law.meter]) for law in contract.laws)
        return Profile(contract, costs, events, polynomials, exact)

    # measuring -------------------------------------------------------------------------------------------

    def sample(self, sizes: Sequence[Sizes]) -> None:
        """Measure at these sizes, in one request."""
        new = [one for one in sizes if one not in self.seen]
        arguments = [self.arguments(self.contract.args, one) for one in new]
        for one, args, sample in zip(new, arguments, self.measured(arguments), strict=True):
            self.seen[one] = sample
            self.compare(args, sample)

    def sample_also(self) -> list[Sample]:
        """Make the further calls, for the sake of what they call."""
        sizes = max(self.contract.lattice.points().values(), key=sum)
        arguments = [self.arguments(specs, sizes) for specs in self.contract.also]
        samples = self.measured(arguments)
        for args, sample in zip(arguments, samples, strict=True):
            self.compare(args, sample)
        return samples

    def compare(self, args: tuple[tuple[Any, ...], tuple[Any, ...]], sample: Sample) -> None:
        if self.expected is not None and not self.wrong:
            self.wrong = difference(sample.value, self.expected(*args)) or ""

    def measured(self, arguments: list[tuple[tuple[Any, ...], tuple[Any, ...]]]) -> list[Sample]:
        if not arguments:
            return []
        function = self.contract.function
        calls = [[list(init), list(args)] for init, args in arguments]
        message = {"op": "measure", "main": self.session.program.main, "path": function.split("."), "calls": calls}
        answer = self.session.request(message, function, self.contract.target)
        try:
            self.files, samples = _read(answer)
        except MalformedSampleError:
            raise self.session.malformed(function, self.contract.target) from None
        if len(samples) != len(calls):
            raise self.session.malformed(function, self.contract.target)
        return samples

    def arguments(self, specs: tuple[str, ...], sizes: Sizes) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return arguments of the constructor and of the call: the same for everybody, new for every size."""
        rng = np.random.default_rng([self.seed, *sizes])
        names = dict(zip(self.contract.lattice.names, sizes, strict=True))
        init = tuple(_argument(spec, names, rng) for spec in self.contract.init)
        return init, tuple(_argument(spec, names, rng) for spec in specs)

    # judging ---------------------------------------------------------------------------------------------

    def judged(self, law: Law, polynomial: Polynomial) -> Cost:
        unknown = {name: at for sample in self.seen.values() for name, at in sample.unknown.items()}
        exact = self.is_borne_out(law.meter, polynomial)
        cost = self.by_polynomial(law, polynomial) if exact else self.by_growth(law)
        if unknown and cost.verdict == "pass":
            name, at = next(iter(unknown.items()))
            message = f"it calls {name}, whose cost is not known"
            return self.cost(law, cost.measured, "inconclusive", self.place(at), message)
        return cost

    def is_borne_out(self, meter: str, polynomial: Polynomial) -> bool:
        """Whether a polynomial found at small sizes is also right at the large ones."""
        return all(polynomial.at(sizes) == self.count(meter, sizes) for sizes in self.contract.large)

    def by_polynomial(self, law: Law, polynomial: Polynomial) -> Cost:
        """Judge counts that are exactly a polynomial."""
        beyond = polynomial.beyond(law.bound)
        if beyond:
            worst = _largest(beyond)
            at = self.line_of(law.meter, worst)
            term = _term(polynomial, worst)
            message = f"{term} is more than {law.text or '1'}"
            return self.cost(law, polynomial, "fail", at, message)
        if law.exact is not None:
            for powers, factor in law.bound.terms.items():
                found = polynomial.terms.get(powers, Fraction(0))
                if not factor <= found <= factor * law.exact:
                    message = (
                        f"there should be {_term(law.bound, powers)}, and there is {found}·{law.bound.monomial(powers)}"
                    )
                    return self.cost(law, polynomial, "fail", self.line_of(law.meter, powers), message)
        return self.cost(law, polynomial, "pass", None, "")

    def by_growth(self, law: Law) -> Cost:
        """Judge counts that are no polynomial from the smallest sizes on.

        A single line may still be one, such as an array of n²·d under a peak that is the larger of two sums. Else
        what counts is how they grow along rays to larger sizes.
        """
        for at, polynomial in self.lines(law.meter).items():
            beyond = polynomial.beyond(law.bound)
            if beyond and all(polynomial.at(one) == self.count_at(law.meter, at, one) for one in self.contract.large):
                message = f"{_term(polynomial, _largest(beyond))} is more than {law.text}"
                return self.cost(law, f"{polynomial} in line {self.place(at).line}", "fail", self.place(at), message)
        growths, doubtful = [], False
        for ray in self.rays():
            self.sample(ray.sizes())
            exponent = _degree([self.count(law.meter, sizes) for sizes in ray.sizes()])
            allowed = max(
                sum(p for p, step in zip(powers, ray.step, strict=True) if step) for powers in law.bound.terms
            )
            growths.append(f"({ray.name})^{exponent:g}")
            if exponent > allowed + FAILS_ABOVE:
                message = f"it grows like {growths[-1]}, more than {law.text}"
                return self.cost(law, growths[-1], "fail", self.growing_line(law.meter, ray.sizes()), message)
            doubtful = doubtful or exponent > allowed + DOUBTFUL_ABOVE
        message = "it may grow faster than it should" if doubtful else ""
        return self.cost(law, "grows like " + ", ".join(growths), "inconclusive" if doubtful else "pass", None, message)

    def rays(self) -> list[Ray]:
        """Return the ways to larger sizes: each variable alone as far as it is measured, all sets of them a little."""
        names, base = self.contract.lattice.names, self.contract.lattice.base
        most = [max(sizes) for sizes in zip(*self.contract.large, strict=True)]
        steps = [tuple((most[i] - base[i]) // RAY if i == k else 0 for i in range(len(base))) for k in range(len(base))]
        steps += [
            tuple(int(i in chosen) for i in range(len(base)))
            for count in sorted({2, len(base)})
            for chosen in itertools.combinations(range(len(base)), count)
        ]
        return [Ray("·".join(n for n, s in zip(names, step, strict=True) if s), base, step) for step in steps]

    def polynomial(self, count: Callable[[Sizes], int]) -> Polynomial:
        points = self.contract.lattice.points()
        return self.contract.lattice.interpolate(lambda index: count(points[index]))

    def count(self, meter: str, sizes: Sizes) -> int:
        return self.seen[sizes].counts[meter]

    def count_at(self, meter: str, at: int, sizes: Sizes) -> int:
        return self.seen[sizes].lines[meter].get(at, 0)

    def line_of(self, meter: str, powers: Powers) -> Place | None:
        """Return the line whose own count has this term; of several, the one with the most of it."""
        found = {at: polynomial.terms.get(powers) for at, polynomial in self.lines(meter).items()}
        most = max((at for at in found if found[at]), key=lambda at: found[at] or 0, default=None)
        return None if most is None else self.place(most)

    def lines(self, meter: str) -> dict[int, Polynomial]:
        """Return the polynomial of each line of the student's code that counts anything."""
        places = sorted({at for sample in self.seen.values() for at in sample.lines[meter]})
        return {at: self.polynomial(partial(self.count_at, meter, at)) for at in places}

    def growing_line(self, meter: str, sizes: Sequence[Sizes]) -> Place | None:
        """Return the line that grew the most between the smallest and the largest of some sizes."""
        first, last = self.seen[sizes[0]].lines[meter], self.seen[sizes[-1]].lines[meter]
        most = max(last, key=lambda at: last[at] - first.get(at, 0), default=None)
        return None if most is None else self.place(most)

    def events(self, further: list[Sample]) -> tuple[Event, ...]:
        events: dict[str, int] = {}
        for sample in self.seen.values():
            for name, at in sample.events.items():
                if name != SUM or self.is_product(at):
                    events.setdefault(name, at)
        for sample in further:
            for name, at in sample.events.items():
                if name != SUM:
                    events.setdefault(name, at)
        return tuple(Event(self.contract.function, name, self.place(at)) for name, at in events.items())

    def is_product(self, at: int) -> bool:
        """Whether the products summed up at a place are those the law is about, and not, say, a row times its mask."""
        laws = [law.bound for law in self.contract.laws if law.meter == "smul"]
        return all(
            self.count_at("sums", at, sizes) >= min(law.term(powers, sizes) for powers in law.terms)
            for law in laws
            for sizes in self.contract.large
        )

    def place(self, at: int) -> Place:
        file, line = divmod(at, PLACES)
        return Place(self.files[file] if file < len(self.files) else "", line)

    def cost(self, law: Law, measured: Any, verdict: Verdict, place: Place | None, message: str) -> Cost:
        text = str(measured)
        return Cost(self.contract.function, law.meter, law.text, text, verdict, law.points, place, message)


def _degree(counts: Sequence[int]) -> float:
    """Return the degree of counts at equal steps: exactly if the larger ones are a polynomial, else by doubling."""
    for start in range(len(counts) - MIN_TAIL + 1):  # code may do something else where sizes are small
        differences = list(counts[start:])
        for degree in range(len(differences) - 2):
            differences = [b - a for a, b in itertools.pairwise(differences)]
            if not any(differences):
                return degree
    quarter, half, whole = counts[RAY // 4 - 1], counts[RAY // 2 - 1], counts[RAY - 1]
    if half > quarter and whole > half:
        return log2((whole - half) / (half - quarter))  # of the increase, so that a constant drops out
    return log2(whole / half) if whole > half > 0 else 0.0


def _largest(terms: Mapping[Powers, Fraction]) -> Powers:
    return max(terms, key=lambda powers: (sum(powers), powers))


def _term(polynomial: Polynomial, powers: Powers) -> str:
    return str(Polynomial(polynomial.names, {powers: polynomial.terms[powers]}))


def _argument(spec: str, names: Mapping[str, int], rng: np.random.Generator) -> Any:
    kind, *parts = spec.split()
    if kind == "value":
        return float(parts[0])
    sizes = [names.get(part) or int(part) for part in parts]
    match kind:
        case "array":
            return rng.normal(size=sizes)
        case "mask":
            return np.ones(sizes, dtype=bool)  # what a loop leaves out would make its cost depend on chance
        case "size":
            return sizes[0]
        case _:  # lengths
            return [sizes[1] - 1] * sizes[0]


def _read(answer: object) -> tuple[list[str], list[Sample]]:
    """Take a worker's answer apart without believing a word of it."""
    if type(answer) is not dict or type(answer.get("calls")) is not list or type(answer.get("files")) is not list:
        raise MalformedSampleError
    files = answer["files"]
    if not all(type(file) is str for file in files):
        raise MalformedSampleError
    return files, [_sample(call) for call in answer["calls"]]


def _sample(call: object) -> Sample:
    if type(call) is not dict or call.keys() != {"value", "lines", "counts", "unknown", "events"}:
        raise MalformedSampleError
    counts, lines = _numbers(call["counts"], str), call["lines"]
    if counts.keys() != set(METERS) or type(lines) is not dict or lines.keys() != set(METERS):
        raise MalformedSampleError
    by_line = {meter: _numbers(lines[meter], int) for meter in METERS}
    return Sample(counts, by_line, _numbers(call["unknown"], str), _numbers(call["events"], str), call["value"])


def _numbers(table: object, key: type) -> dict[Any, int]:
    """Return a table of whole numbers."""
    if type(table) is not dict:
        raise MalformedSampleError
    if not all(type(k) is key and type(v) is int and 0 <= v < 1 << 62 for k, v in table.items()):
        raise MalformedSampleError
    return table
