"""The profile of a function: what it counted up to at many sizes, the polynomial behind it, and the verdict."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Protocol

import numpy as np

from grader.complexity.contract import METERS, Contract, CostLimit
from grader.complexity.cost import CodeLine, Cost, CostVerdict, Event
from grader.complexity.polynomial import Polynomial, Powers, Sizes
from grader.complexity.rays import LENGTH, Ray, degree_of, rays_of
from grader.complexity.samples import MAX_PLACES, PLACES, MalformedSampleError, Sample, argument, read_samples
from grader.core.compare import difference
from grader.core.errors import StudentEndedError, StudentError
from grader.sandbox.protocol.call_names import SUM, is_attention
from grader.sandbox.protocol.recipe import NOTHING, Recipe
from grader.sandbox.session import Session

AT_ONCE = 60  # sizes in one request: its answer has every line that was reached, at every size

CallArguments = tuple[Recipe, tuple[Any, ...]]  # the object that has the method, and what the call is given
FAILS_ABOVE, DOUBTFUL_ABOVE = 0.6, 0.35
# Where counts are no polynomial: what may be missing of an exact law, what may be on top, and how uneven they may be.
MISSING, ON_TOP, UNEVEN = 0.9, 1.25, 1.1


class Expected(Protocol):
    """What the reference makes of a call, and the parameters that its objects, and so everybody's, have."""

    def state(self, init: tuple[Any, ...]) -> Mapping[str, Any]: ...

    def value(self, made: Recipe, args: tuple[Any, ...]) -> Any: ...


@dataclass(frozen=True)
class Profile:
    """Everything measured of one function."""

    contract: Contract
    costs: tuple[Cost, ...]
    events: tuple[Event, ...]
    polynomials: Mapping[str, Polynomial]  # by meter, those found at the small sizes
    exact: Mapping[str, Polynomial]  # of these, the ones that the large sizes bear out
    lacking: tuple[str, ...] | None = None  # the arguments of a call that does without what the contract needs
    looping: tuple[str, ...] | None = None  # those of a further call whose steps grow where the law has them constant


def profile(session: Session, contract: Contract, seed: int, expected: Expected | None = None) -> Profile:
    """Measure a function in a fresh worker and hold it against its contract.

    With `expected`, a result that is not the reference's earns nothing: the cost of a wrong answer means nothing.
    """
    profiler = _Profiler(session, contract, seed, expected)
    try:
        return profiler.run()
    except StudentError as error:
        return profiler.given_up(error)


class _Profiler:
    def __init__(self, session: Session, contract: Contract, seed: int, expected: Expected | None) -> None:
        self.session = session
        self.contract = contract
        self.seed = seed
        self.expected = expected
        self.lattice = contract.quick
        self.files: list[str] = []
        self.seen: dict[Sizes, Sample] = {}
        self.wrong = False
        self.lacking: tuple[str, ...] | None = None
        self.looping: tuple[str, ...] | None = None
        self.places: set[int] = set()

    def run(self) -> Profile:
        contract = self.contract
        self.sample(list(self.lattice.points().values()))
        self.sample(list(contract.large))
        meters = {law.meter for law in contract.limits}
        if not all(self.is_borne_out(meter, self.polynomial(partial(self.count, meter))) for meter in meters):
            self.take_all_sizes()
        polynomials = {meter: self.polynomial(partial(self.count, meter)) for meter in METERS}
        exact = {meter: found for meter, found in polynomials.items() if self.is_borne_out(meter, found)}
        events = self.events()
        if self.wrong:
            message = "its results are wrong, so that its cost means nothing"  # and the right ones are nobody's to read
            costs = tuple(self.cost(law, polynomials[law.meter], "fail", None, message) for law in contract.limits)
        else:
            costs = tuple(self.judged(law, polynomials[law.meter]) for law in contract.limits)
        return Profile(contract, costs, events, polynomials, exact, self.lacking, self.looping)

    def given_up(self, error: StudentError) -> Profile:
        """Return what can be said of a function that did not get through all sizes.

        What raises, exits or does not even get through the smallest sizes earns nothing. One that runs out of time or
        memory at the large ones is judged by the small: too much is too much, and enough is not proven.
        """
        # Where it is graded, what student code has written stays out: it has seen the hidden inputs.
        message = f"it could not be measured: {error if self.expected is None else error.public}"
        tired = isinstance(error, StudentEndedError) and error.ending.kind in ("deadline", "memory")
        polynomials: dict[str, Polynomial] = {}
        if tired and all(sizes in self.seen for sizes in self.lattice.points().values()):
            with contextlib.suppress(StudentError):
                self.take_all_sizes()
                polynomials = {meter: self.polynomial(partial(self.count, meter)) for meter in METERS}
        costs = []
        for law in self.contract.limits:
            found = polynomials.get(law.meter)
            fails = found is None or bool(found.beyond(law.bound))
            costs.append(self.cost(law, found or "", "fail" if fails else "inconclusive", None, message))
        finished = all(sizes in self.seen for sizes in self.contract.large)
        return Profile(self.contract, tuple(costs), self.named() if finished else (), polynomials, {})

    def take_all_sizes(self) -> None:
        """Go on to the sizes that show powers higher than those of the limits."""
        self.lattice = self.contract.lattice
        self.sample(list(self.lattice.points().values()))

    # measuring -------------------------------------------------------------------------------------------

    def sample(self, sizes: Sequence[Sizes]) -> None:
        """Measure at these sizes, in as few requests as their answers can travel in."""
        new = [one for one in sizes if one not in self.seen]
        for some in (new[at : at + AT_ONCE] for at in range(0, len(new), AT_ONCE)):
            arguments = [self.arguments(self.contract.args, one) for one in some]
            for one, args, sample in zip(some, arguments, self.measured(arguments), strict=True):
                self.seen[one] = sample
                self.compare(args, sample)

    def sample_also(self, sizes: Sizes) -> list[Sample]:
        """Make the further calls, for the sake of what they call."""
        arguments = [self.arguments(specs, sizes) for specs in self.contract.also]
        samples = self.measured(arguments)
        for args, sample in zip(arguments, samples, strict=True):
            self.compare(args, sample)
        return samples

    def compare(self, args: CallArguments, sample: Sample) -> None:
        if self.expected is not None and not self.wrong:
            expected = self.expected.value(*args)
            self.wrong = difference(sample.value, expected, self.contract.tolerance) is not None

    def measured(self, arguments: list[CallArguments]) -> list[Sample]:
        if not arguments:
            return []
        function = self.contract.function
        calls = [[made.data, list(args)] for made, args in arguments]
        message = {"op": "measure", "main": self.session.program.main, "path": function.split("."), "calls": calls}
        answer = self.session.request(message, function, self.contract.target)
        try:
            self.files, samples = read_samples(answer)
        except MalformedSampleError:
            raise self.session.malformed(function, self.contract.target) from None
        self.places |= {at for sample in samples for lines in sample.lines.values() for at in lines}
        if len(samples) != len(calls) or len(self.places) > MAX_PLACES:
            raise self.session.malformed(function, self.contract.target)
        return samples

    def arguments(self, specs: tuple[str, ...], sizes: Sizes) -> CallArguments:
        """Return arguments of the constructor and of the call: the same for everybody, new for every size."""
        rng = np.random.default_rng([self.seed, *sizes])
        names = dict(zip(self.contract.lattice.names, sizes, strict=True))
        init = tuple(argument(spec, names, rng) for spec in self.contract.init)
        state = self.expected.state(init) if self.expected is not None and self.contract.is_method else NOTHING
        return Recipe(init, state), tuple(argument(spec, names, rng) for spec in specs)

    # judging ---------------------------------------------------------------------------------------------

    def judged(self, law: CostLimit, polynomial: Polynomial) -> Cost:
        unknown = {name: at for sample in self.seen.values() for name, at in sample.unknown.items()}
        exact = self.is_borne_out(law.meter, polynomial)
        cost = self.by_polynomial(law, polynomial) if exact else self.by_growth(law)
        cost = self.made_elsewhere(law, cost) or cost
        if unknown and (cost.verdict == "pass" or cost.too_little):  # what is missing may have been done there
            name, at = next(iter(unknown.items()))
            message = f"it calls {name}, whose cost is not known"
            return self.cost(law, cost.measured, "inconclusive", self.place(at), message)
        return cost

    def made_elsewhere(self, law: CostLimit, cost: Cost) -> Cost | None:
        """Fail multiplications that Python makes for show, while arrays make as many beside them."""
        if law.meter != "smul" or cost.verdict != "pass":
            return None
        for sizes in self.contract.large:
            lines = self.seen[sizes].lines
            beside = {at: count - lines["smul"].get(at, 0) for at, count in lines["mul"].items()}
            if sum(beside.values()) >= min(law.bound.term(powers, sizes) for powers in law.bound.terms):
                place = self.place(max(beside, key=lambda at: beside[at]))
                message = "as many products are made of whole arrays, beside those of the loop"
                return self.cost(law, cost.measured, "fail", place, message)
        return None

    def is_borne_out(self, meter: str, polynomial: Polynomial) -> bool:
        """Whether a polynomial found at small sizes is also right at the large ones."""
        return all(polynomial.at(sizes) == self.count(meter, sizes) for sizes in self.contract.large)

    def by_polynomial(self, law: CostLimit, polynomial: Polynomial) -> Cost:
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
                    there = f"{found}·{law.bound.monomial(powers)}"
                    message = f"there should be {_term(law.bound, powers)}, and there is {there}"
                    place = self.line_of(law.meter, powers)
                    return replace(self.cost(law, polynomial, "fail", place, message), too_little=found < factor)
        return self.cost(law, polynomial, "pass", None, "")

    def by_growth(self, law: CostLimit) -> Cost:
        """Judge counts that are no polynomial from the smallest sizes on.

        A single line may still be one, such as an array of n²·d under a peak that is the larger of two sums. Else
        what counts is how they grow along rays to larger sizes.
        """
        for at, polynomial in self.lines(law.meter).items():
            beyond = polynomial.beyond(law.bound)
            if beyond and all(polynomial.at(one) == self.count_at(law.meter, at, one) for one in self.contract.large):
                message = f"{_term(polynomial, _largest(beyond))} is more than {law.text}"
                return self.cost(law, f"{polynomial} in line {self.place(at).line}", "fail", self.place(at), message)
        if law.exact is not None and (cost := self.roughly(law, law.exact)):
            return cost
        rays = rays_of(self.contract)
        self.sample(list(dict.fromkeys(sizes for ray in rays for sizes in ray.sizes())))
        growths, doubtful = [], False
        for ray in rays:
            growth = degree_of([self.count(law.meter, sizes) for sizes in ray.sizes()])
            growths.append(f"({ray.name})^{growth:g}")
            allowed = max(sum(p for p, s in zip(powers, ray.step, strict=True) if s) for powers in law.bound.terms)
            if growth > allowed + FAILS_ABOVE and not self.is_dominated(law, ray):
                message = f"it grows like {growths[-1]}, more than {law.text}"
                return self.cost(law, growths[-1], "fail", self.growing_line(law.meter, ray.sizes()), message)
            doubtful = doubtful or (growth > allowed + DOUBTFUL_ABOVE and not self.is_dominated(law, ray))
        measured = "grows like " + ", ".join(growths)
        return self.uneven(law, measured) or self.cost(
            law,
            measured,
            "inconclusive" if doubtful else "pass",
            None,
            "it may grow faster than it should" if doubtful else "",
        )

    def roughly(self, law: CostLimit, exact: int) -> Cost | None:
        """Hold counts that are no polynomial against an exact law, at the large sizes."""
        for sizes in self.contract.large:
            promised, found = float(law.bound.at(sizes)), self.count(law.meter, sizes)
            message = f"there should be about {promised:g} at {sizes}, and there are {found}"
            if found < MISSING * promised:
                return replace(self.cost(law, found, "fail", None, message), too_little=True)
            if found > ON_TOP * exact * promised:
                return self.cost(law, found, "inconclusive", None, message)
        return None

    def uneven(self, law: CostLimit, measured: str) -> Cost | None:
        """Fail counts that are far more, by the measure of the law, at large sizes than at any small one."""
        small = self.lattice.points().values()
        usual = max(self.share(law, sizes) for sizes in small) or 1.0
        for sizes in self.contract.large:
            if self.share(law, sizes) > 3 * usual:
                message = f"at {sizes} it is {self.share(law, sizes) / usual:.0f} times as much of {law.text} as below"
                place = self.growing_line(law.meter, [max(small, key=sum), sizes])
                return self.cost(law, measured, "fail", place, message)
        return None

    def is_dominated(self, law: CostLimit, ray: Ray) -> bool:
        """Whether counts are no larger, by the measure of the law, in the far half of a ray than in the near half."""
        shares = [self.share(law, sizes) for sizes in ray.sizes()]
        return max(shares[LENGTH // 2 :]) <= UNEVEN * max(shares[: LENGTH // 2])

    def share(self, law: CostLimit, sizes: Sizes) -> float:
        return self.count(law.meter, sizes) / float(law.bound.at(sizes))

    def polynomial(self, count: Callable[[Sizes], int]) -> Polynomial:
        points = self.lattice.points()
        return self.lattice.interpolate(lambda index: count(points[index]))

    def count(self, meter: str, sizes: Sizes) -> int:
        return self.seen[sizes].counts[meter]

    def count_at(self, meter: str, at: int, sizes: Sizes) -> int:
        return self.seen[sizes].lines[meter].get(at, 0)

    def line_of(self, meter: str, powers: Powers) -> CodeLine | None:
        """Return the line whose own count has this term; of several, the one with the most of it."""
        found = {at: polynomial.terms.get(powers) for at, polynomial in self.lines(meter).items()}
        most = max((at for at in found if found[at]), key=lambda at: found[at] or 0, default=None)
        return None if most is None else self.place(most)

    def lines(self, meter: str) -> dict[int, Polynomial]:
        """Return the polynomial of each line of the student's code that counts anything."""
        places = sorted({at for sample in self.seen.values() for at in sample.lines[meter]})
        return {at: self.polynomial(partial(self.count_at, meter, at)) for at in places}

    def growing_line(self, meter: str, sizes: Sequence[Sizes]) -> CodeLine | None:
        """Return the line that grew the most between the smallest and the largest of some sizes."""
        first, last = self.seen[sizes[0]].lines[meter], self.seen[sizes[-1]].lines[meter]
        most = max(last, key=lambda at: last[at] - first.get(at, 0), default=None)
        return None if most is None else self.place(most)

    def events(self) -> tuple[Event, ...]:
        """Return what was called by a name of its own, also in the further calls."""
        lattice = self.contract.lattice
        middle, further = (
            tuple(base + far * step for base, step in zip(lattice.base, lattice.step, strict=True)) for far in (4, 7)
        )
        also = self.sample_also(middle)
        if any(law.meter == "steps" and not law.bound.degree for law in self.contract.limits):
            both = zip(self.contract.also, also, self.sample_also(further), strict=True)
            self.looping = next((args for args, a, b in both if a.counts["steps"] < b.counts["steps"]), None)
        if self.contract.needs:
            calls = [(self.contract.args, sample) for sample in self.seen.values()]
            calls += zip(self.contract.also, also, strict=True)
            self.lacking = next((args for args, one in calls if not any(map(is_attention, one.events))), None)
        return self.named([(middle, sample) for sample in also])

    def named(self, also: Sequence[tuple[Sizes, Sample]] = ()) -> tuple[Event, ...]:
        """Return the events of what was measured; sums of products only where they are what the law is about."""
        events: dict[str, int] = {}
        for sizes, sample in (*((sizes, self.seen[sizes]) for sizes in self.seen), *also):
            large = [(one, self.seen[one]) for one in self.contract.large] if sizes in self.seen else [(sizes, sample)]
            for name, at in sample.events.items():
                if name != SUM or all(self.is_product(at, *one) for one in large):
                    events.setdefault(name, at)
        return tuple(Event(self.contract.function, name, self.place(at)) for name, at in events.items())

    def is_product(self, at: int, sizes: Sizes, sample: Sample) -> bool:
        """Whether as many products are summed up at a place as the law is about: a row times its mask is fewer."""
        limits = [law.bound for law in self.contract.limits if law.meter == "smul"]
        summed = sample.lines["sums"].get(at, 0)
        return all(summed >= min(law.term(powers, sizes) for powers in law.terms) for law in limits)

    def place(self, at: int) -> CodeLine:
        file, line = divmod(at, PLACES)
        return CodeLine(self.files[file] if file < len(self.files) else "", line)

    def cost(self, law: CostLimit, measured: Any, verdict: CostVerdict, place: CodeLine | None, message: str) -> Cost:
        text = str(measured)
        return Cost(self.contract.function, law.meter, law.text, text, verdict, law.points, place, message)


def _largest(terms: Mapping[Powers, Fraction]) -> Powers:
    return max(terms, key=lambda powers: (sum(powers), powers))


def _term(polynomial: Polynomial, powers: Powers) -> str:
    return str(Polynomial(polynomial.names, {powers: polynomial.terms[powers]}))
