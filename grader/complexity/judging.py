"""The judge: compares what was measured of a function with one limit, by the table VERDICTS at the end of this file.

The first row whose condition holds gives the verdict and the sentence. Each threshold says why it has its value, and
what was seen in 4 234 limits of the implementations and cheats in `tests/data/`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Literal

from grader.complexity.contract import EACH_STEP, CostLimit
from grader.complexity.cost import CodeLine, Cost, CostVerdict
from grader.complexity.growth import Growth, Ray, growth_along, rays_of
from grader.complexity.polynomial import Polynomial, Powers, Sizes, without_cut_tiles
from grader.complexity.sampling import CostSamples

# Powers above what a limit allows, for counts that are not a polynomial. A logarithm more shows as 0.36 at most, half a
# power as 0.5: a person decides. A whole power shows as 1. Seen: 0 where a limit is kept, 0.39 in doubt, else 0.84 up.
FAILS_ABOVE, DOUBTFUL_ABOVE = 0.6, 0.35
# The share of an exact limit that must be there. Right code does all of it; seen where work is missing: 0.86 or less.
LEAST_SHARE = 0.9
# How far above an exact limit a count may be that no rule describes: a cut tile costs at most what a complete one does.
# Seen beside a cut tile: 0.99 where a limit is kept, else 1.33 or more.
ON_TOP = 1.25
# How many times a limit a count may be at the large sizes, and what is always allowed: setting up costs something.
# Limits have no constants, so an honest one passes: seen up to 87, and 78 of memory, where an entry is 8 bytes.
# A count above it may be a constant that hides growth: seen from 132 on, and from 4 036 of memory.
MOST_TIMES = {"mem": 1_000}
MOST_TIMES_ELSE = 100
ALWAYS = {"steps": 200, "mem": 16_384}
ALWAYS_ELSE = 1_000
# How many times its usual share of the limit a count may be where it may not expect to be measured. Smaller terms make
# the share fall with the size, and a buffer that doubles makes it 2. Seen: 2.7 where a limit is kept, else 11 or more.
JUMP = 3

Measure = Callable[[Sequence[Sizes]], CostSamples]  # measures at more sizes, and returns all samples
Off = Literal["fewer", "more"]


@dataclass(frozen=True)
class Case:
    """A limit, and what was measured of a function; `polynomial` is what the counts at the small sizes give."""

    samples: CostSamples
    limit: CostLimit
    polynomial: Polynomial
    measure: Measure

    @cached_property
    def is_confirmed(self) -> bool:
        """Whether the counts are exactly the polynomial."""
        return self.samples.confirms(self.limit.meter, self.polynomial)

    @cached_property
    def growths(self) -> tuple[Growth, ...]:
        """How the counts grow along rays to larger sizes; empty if they change without a rule. Measures there."""
        rays: list[Ray] = rays_of(self.samples.contract)
        samples = self.measure(list(dict.fromkeys(sizes for ray in rays for sizes in ray.sizes())))
        found = tuple(growth_along(ray, samples, self.limit) for ray in rays)
        return () if any(growth.is_irregular for growth in found) else found

    @cached_property
    def usual_share(self) -> float:
        """The largest share of the limit at the large and the small sizes, at least 1."""
        return max(1.0, *map(self.share, (*self.samples.contract.large, *self.samples.lattice.points().values())))

    @property
    def measured(self) -> str:
        """What a report says was measured, if nothing about the counts themselves is wrong."""
        if self.is_confirmed:
            return str(self.polynomial)
        return "grows like " + ", ".join(growth.text for growth in self.growths)

    @property
    def always(self) -> int:
        """What is allowed at every size."""
        return ALWAYS.get(self.limit.meter, ALWAYS_ELSE)

    def count(self, sizes: Sizes) -> int:
        """Return what was counted at these sizes."""
        return self.samples.count(self.limit.meter, sizes)

    def share(self, sizes: Sizes) -> float:
        """Return how many times the limit was counted at these sizes."""
        return self.count(sizes) / float(self.limit.bound.at(sizes))


@dataclass(frozen=True)
class Grounds:
    """Why a row of the table applies: the words of its sentence, the line, and what is shown as measured."""

    measured: str
    place: CodeLine | None = None
    words: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Rule:
    """A row of VERDICTS. With `too_little`, work is missing: it may be done in a call whose cost is unknown."""

    name: str
    condition: Callable[[Case], Grounds | None]
    verdict: CostVerdict
    sentence: str
    too_little: bool = False


def judge_limit(samples: CostSamples, limit: CostLimit, polynomial: Polynomial, measure: Measure) -> Cost:
    """Decide whether a function keeps a limit; `polynomial` is what its counts at the small sizes give."""
    row, fact = applying_row(Case(samples, limit, polynomial, measure))
    message = row.sentence.format(limit=limit.text, **fact.words)
    if row.verdict == "inconclusive":
        message += ": an instructor must check"
    cost = cost_of(samples, limit, fact.measured, row.verdict, fact.place, message)
    return replace(cost, too_little=row.too_little)


def applying_row(case: Case) -> tuple[Rule, Grounds]:
    """Return the row of the table that applies, and why."""
    row, fact = next((row, fact) for row in VERDICTS if (fact := row.condition(case)) is not None)
    if row.too_little and (unknown := _unknown_call(case)):
        return UNKNOWN_CALL, replace(unknown, measured=fact.measured)
    return row, fact


def cost_of(
    samples: CostSamples, limit: CostLimit, measured: str, verdict: CostVerdict, place: CodeLine | None, message: str
) -> Cost:
    """Return the cost of a function by the meter of a limit."""
    function = samples.contract.function
    return Cost(function, limit.meter, limit.text, measured, verdict, limit.points, place, message)


# Counts that are exactly a polynomial ---------------------------------------------------------------------


def _beyond(case: Case) -> Grounds | None:
    beyond = case.polynomial.beyond(case.limit.bound) if case.is_confirmed else {}
    if not beyond:
        return None
    worst = _largest(beyond)
    return Grounds(case.measured, _line_with_term(case, worst), {"term": _term(case.polynomial, worst)})


def _coefficient(case: Case, off: Off) -> Grounds | None:
    """Return the first term of an exact limit whose coefficient is not in its range, if it is off in this way."""
    bound, exact = case.limit.bound, case.limit.exact
    if not case.is_confirmed or exact is None:
        return None
    for powers, factor in bound.terms.items():
        found = case.polynomial.terms.get(powers, Fraction(0))
        if not factor <= found <= factor * exact:
            if (off == "fewer") != (found < factor):
                return None
            words = {"expected": _term(bound, powers), "found": f"{found}·{bound.monomial(powers)}"}
            return Grounds(case.measured, _line_with_term(case, powers), words)
    return None


# Counts that are not a polynomial -------------------------------------------------------------------------


def _line_beyond(case: Case) -> Grounds | None:
    """Find a single line whose own counts are a polynomial beyond the limit.

    An example is an array of n²·d entries where the peak of memory is the larger of two sums.
    """
    if case.is_confirmed:
        return None
    samples, meter, large = case.samples, case.limit.meter, case.samples.contract.large
    for at, polynomial in samples.line_polynomials(meter).items():
        beyond = polynomial.beyond(case.limit.bound)
        if beyond and all(polynomial.at(one) == samples.count_at(meter, at, one) for one in large):
            place = samples.place(at)
            return Grounds(f"{polynomial} in line {place.line}", place, {"term": _term(polynomial, _largest(beyond))})
    return None


def _rough_count(case: Case, off: Off) -> Grounds | None:
    """Compare counts with an exact limit at the large sizes: the first that is off decides."""
    if case.is_confirmed or case.limit.exact is None:
        return None
    for sizes in case.samples.contract.large:
        expected, found = float(case.limit.bound.at(sizes)), case.count(sizes)
        is_fewer = found < LEAST_SHARE * expected
        if is_fewer or found > ON_TOP * case.limit.exact * expected:
            return Grounds("") if is_fewer == (off == "fewer") else None
    return None


def _growths(case: Case) -> Sequence[Growth]:
    """Return how counts grow that follow a rule, though they are not a polynomial."""
    return () if case.is_confirmed or _rough_more(case) else case.growths


def _grows(case: Case) -> Grounds | None:
    for growth in _growths(case):
        if growth.degree > growth.allowed + FAILS_ABOVE and not growth.is_dominated:
            place = _growing_line(growth.samples, case.limit.meter, growth.ray.sizes())
            return Grounds(growth.text, place, {"growth": growth.text})
    return None


def _jumps(case: Case) -> Grounds | None:
    """Find counts that are a far larger share of the limit at the large sizes than at any small one."""
    if not _growths(case):
        return None
    small = case.samples.lattice.points().values()
    usual = max(map(case.share, small)) or 1.0
    for sizes in case.samples.contract.large:
        if case.share(sizes) > JUMP * usual:
            return Grounds(case.measured, _growing_line(case.samples, case.limit.meter, [max(small, key=sum), sizes]))
    return None


def _is_irregular(case: Case) -> Grounds | None:
    return Grounds("") if not case.is_confirmed and not case.growths else None


def _may_grow(case: Case) -> Grounds | None:
    doubtful = (one for one in _growths(case) if one.degree > one.allowed + DOUBTFUL_ABOVE and not one.is_dominated)
    return Grounds(case.measured) if any(doubtful) else None


# All counts -----------------------------------------------------------------------------------------------


def _some_steps(case: Case) -> Grounds | None:
    """Find a sequence in which only some steps are expensive, and later ones more so: growth by doubling.

    Steps of the last half are compared with those of the second quarter, about half as far along the sequence.
    """
    run = case.samples.contract.each_step
    for steps in (run[at : at + EACH_STEP] for at in range(0, len(run), EACH_STEP)):
        if all(case.count(one) == case.polynomial.at(one) for one in steps):
            continue
        usual = sorted(steps, key=case.share)[EACH_STEP // 2]
        worst = max(steps[EACH_STEP // 2 :], key=case.share)
        earlier = max(map(case.share, steps[EACH_STEP // 4 : EACH_STEP // 2]))
        if case.share(worst) > max(JUMP * case.share(usual), 2**FAILS_ABOVE * earlier):
            return Grounds("not a polynomial", _growing_line(case.samples, case.limit.meter, [usual, worst]))
    return None


def _array_products(case: Case) -> Grounds | None:
    """Find Python multiplications that are only for show, while array operations make as many again."""
    for sizes in case.samples.contract.large if case.limit.meter == "smul" else ():
        lines = case.samples.by_size[sizes].lines
        by_arrays = {at: count - lines["smul"].get(at, 0) for at, count in lines["mul"].items()}
        if sum(by_arrays.values()) >= case.limit.smallest_term(sizes):
            return Grounds(case.measured, case.samples.place(max(by_arrays, key=lambda at: by_arrays[at])))
    return None


def _large_constant(case: Case) -> Grounds | None:
    times = MOST_TIMES.get(case.limit.meter, MOST_TIMES_ELSE)
    for sizes in case.samples.contract.large:
        if case.count(sizes) > times * case.limit.bound.at(sizes) + case.always:
            return Grounds(case.measured)
    return None


def _far(case: Case, off: Off) -> Grounds | None:
    """Look at the sizes that are far larger than all others: code may behave only where it expects to be measured."""
    contract, bound = case.samples.contract, case.limit.bound
    for sizes in (*contract.far, *contract.farthest):
        if sizes not in case.samples.by_size:
            continue
        count = case.count(sizes)
        if case.is_confirmed and count == case.polynomial.at(sizes):
            continue
        if count > bound.at(sizes) * case.usual_share * JUMP + case.always:
            return Grounds(case.measured) if off == "more" else None
        if case.limit.exact is not None and count < LEAST_SHARE * bound.at(sizes):
            return Grounds("") if off == "fewer" else None
    return None


def _cut_tile(case: Case, off: Off) -> Grounds | None:
    """Look at the sizes that their tiles do not divide. A cut tile costs at most what a complete one does.

    Counts there are no polynomial. They lie between those of the sizes without the cut tiles and with complete ones.
    """
    samples, bound, exact = case.samples, case.limit.bound, case.limit.exact
    for sizes in (one for one in samples.contract.ragged if one in samples.by_size):
        count = case.count(sizes)
        if exact is not None and case.is_confirmed:
            most = ON_TOP * case.polynomial.at(sizes)
        else:
            most = bound.at(sizes) * case.usual_share * JUMP
        if count > most + case.always:
            small = samples.lattice.at([0] * len(sizes))
            place = _growing_line(samples, case.limit.meter, [small, sizes])
            return Grounds(case.measured, place) if off == "more" else None
        if exact is not None and count < LEAST_SHARE * bound.at(
            without_cut_tiles(sizes, samples.contract.lattice.tiles)
        ):
            return Grounds("") if off == "fewer" else None
    return None


def _unknown_call(case: Case) -> Grounds | None:
    """Find a call whose cost is unknown: work that is missing, or growth, may be in it."""
    unknown = {name: at for sample in case.samples.by_size.values() for name, at in sample.unknown.items()}
    for name, at in unknown.items():
        return Grounds(case.measured, case.samples.place(at), {"name": name})
    return None


# Lines and terms ------------------------------------------------------------------------------------------


def _line_with_term(case: Case, powers: Powers) -> CodeLine | None:
    """Return the line whose own count has the most of this term."""
    lines = case.samples.line_polynomials(case.limit.meter)
    found = {at: factor for at, polynomial in lines.items() if (factor := polynomial.terms.get(powers))}
    most = max(found, key=lambda at: found[at], default=None)
    return None if most is None else case.samples.place(most)


def _growing_line(samples: CostSamples, meter: str, sizes: Sequence[Sizes]) -> CodeLine | None:
    """Return the line that grew the most between the first and the last of these sizes."""
    first, last = samples.by_size[sizes[0]].lines[meter], samples.by_size[sizes[-1]].lines[meter]
    most = max(last, key=lambda at: last[at] - first.get(at, 0), default=None)
    return None if most is None else samples.place(most)


def _largest(terms: Mapping[Powers, Fraction]) -> Powers:
    return max(terms, key=lambda powers: (sum(powers), powers))


def _term(polynomial: Polynomial, powers: Powers) -> str:
    return str(replace(polynomial, terms={powers: polynomial.terms[powers]}))


_small_coefficient, _large_coefficient = partial(_coefficient, off="fewer"), partial(_coefficient, off="more")
_rough_fewer, _rough_more = partial(_rough_count, off="fewer"), partial(_rough_count, off="more")
_far_fewer, _far_more = partial(_far, off="fewer"), partial(_far, off="more")
_cut_fewer, _cut_more = partial(_cut_tile, off="fewer"), partial(_cut_tile, off="more")
TOO_MUCH_FAR = "at large sizes it costs several times what growth like {limit} predicts"
SOME_STEPS = "some steps of a sequence cost many times what the others do, and more than {limit}"
FEWER_IN_A_CUT_TILE = "expected {limit}, found fewer where the last tile is cut"
UNKNOWN_CALL = Rule("unknown call", _unknown_call, "inconclusive", "your code calls {name}, whose cost is unknown")
# The first row that applies decides. What fails by its growth comes before what is doubtful, so that a fail says why.
VERDICTS: tuple[Rule, ...] = (
    Rule("beyond", _beyond, "fail", "{term} is more than {limit}"),
    Rule("small coefficient", _small_coefficient, "fail", "expected {expected}, found {found}", too_little=True),
    Rule("large coefficient", _large_coefficient, "fail", "expected {expected}, found {found}"),
    Rule("line beyond", _line_beyond, "fail", "{term} is more than {limit}"),
    Rule("fewer", _rough_fewer, "fail", "expected {limit}, found fewer", too_little=True),
    Rule("grows", _grows, "fail", "grows like {growth}, which is more than {limit}"),
    Rule("jumps", _jumps, "fail", TOO_MUCH_FAR),
    Rule("some steps", _some_steps, "fail", SOME_STEPS),
    Rule("more", _rough_more, "inconclusive", "expected {limit}, found more, and not by a rule"),
    Rule("irregular", _is_irregular, "inconclusive", "its cost changes from size to size without a rule"),
    Rule("may grow", _may_grow, "inconclusive", "it may grow faster than allowed"),
    Rule("array products", _array_products, "fail", "array operations make as many products again as the loop does"),
    Rule("large constant", _large_constant, "inconclusive", "it costs many times {limit}, which can hide growth"),
    Rule("far: more", _far_more, "fail", TOO_MUCH_FAR),
    Rule("far: fewer", _far_fewer, "fail", "expected {limit}, found fewer", too_little=True),
    Rule("cut tile: more", _cut_more, "fail", "where the last tile is cut, it costs several times what {limit} allows"),
    Rule("cut tile: fewer", _cut_fewer, "fail", FEWER_IN_A_CUT_TILE, too_little=True),
    UNKNOWN_CALL,
    Rule("kept", lambda case: Grounds(case.measured), "pass", ""),
)
