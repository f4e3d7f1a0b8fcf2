"""The verdict on one limit, from the samples of a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from grader.complexity.contract import EACH_STEP, CostLimit
from grader.complexity.cost import CodeLine, Cost, CostVerdict
from grader.complexity.polynomial import Polynomial, Powers
from grader.complexity.rays import LENGTH, Ray, degree_of, rays_of
from grader.complexity.samples import Samples
from grader.complexity.tiling import Sizes, without_cut_tiles

FAILS_ABOVE, DOUBTFUL_ABOVE = 0.6, 0.35
# For counts that are not a polynomial: the share of an exact limit that must be there, how far above it they may be,
# and how uneven they may be.
MISSING, ON_TOP, UNEVEN = 0.9, 1.25, 1.1
# How many times a limit a count may be at the large sizes, and what is always allowed. Limits have no constants and
# right solutions stay below a third of this, so a count above it may be a constant that hides growth.
MOST_TIMES = {"mem": 1_000}
MOST_TIMES_ELSE = 100
ALWAYS = {"steps": 200, "mem": 16_384}
ALWAYS_ELSE = 1_000
JUMP = 3  # how much larger a share of the limit counts may be at larger sizes

Measure = Callable[[Sequence[Sizes]], Samples]  # measures at more sizes, and returns all samples


def judge(samples: Samples, limit: CostLimit, polynomial: Polynomial, measure: Measure) -> Cost:
    """Decide whether a function keeps a limit; `polynomial` is what its counts at the small sizes give."""
    unknown = {name: at for sample in samples.by_size.values() for name, at in sample.unknown.items()}
    if samples.confirms(limit.meter, polynomial):
        cost = _judge_polynomial(samples, limit, polynomial)
    else:
        rays = rays_of(samples.contract)
        cost = (
            _judge_line(samples, limit)
            or _judge_rough_count(samples, limit)
            or _judge_growth(measure(_sizes_along(rays)), limit, rays)
        )
    cost = _judge_each_step(samples, limit, polynomial, cost)
    cost = _judge_constants(samples, limit, _judge_array_products(samples, limit, cost))
    cost = _judge_ragged(samples, limit, polynomial, _judge_far(samples, limit, polynomial, cost))
    if unknown and (cost.verdict == "pass" or cost.too_little):  # the missing work may be done in the unknown call
        name, at = next(iter(unknown.items()))
        message = f"your code calls {name}, whose cost is unknown: an instructor must check"
        return cost_of(samples, limit, cost.measured, "inconclusive", samples.place(at), message)
    return cost


def cost_of(
    samples: Samples, limit: CostLimit, measured: Any, verdict: CostVerdict, place: CodeLine | None, message: str
) -> Cost:
    """Return the cost of a function by the meter of a limit."""
    function = samples.contract.function
    return Cost(function, limit.meter, limit.text, str(measured), verdict, limit.points, place, message)


def _judge_polynomial(samples: Samples, limit: CostLimit, polynomial: Polynomial) -> Cost:
    """Judge counts that are exactly a polynomial."""
    beyond = polynomial.beyond(limit.bound)
    if beyond:
        worst = _largest(beyond)
        place = _line_with_term(samples, limit.meter, worst)
        return cost_of(
            samples, limit, polynomial, "fail", place, f"{_term(polynomial, worst)} is more than {limit.text}"
        )
    if limit.exact is not None:
        for powers, factor in limit.bound.terms.items():
            found = polynomial.terms.get(powers, Fraction(0))
            if not factor <= found <= factor * limit.exact:
                message = f"expected {_term(limit.bound, powers)}, found {found}·{limit.bound.monomial(powers)}"
                place = _line_with_term(samples, limit.meter, powers)
                cost = cost_of(samples, limit, polynomial, "fail", place, message)
                return replace(cost, too_little=found < factor)
    return cost_of(samples, limit, polynomial, "pass", None, "")


def _judge_line(samples: Samples, limit: CostLimit) -> Cost | None:
    """Fail a single line whose counts are a polynomial beyond the limit, although those of the function are not one.

    An example is an array of n²·d entries where the peak of memory is the larger of two sums.
    """
    large = samples.contract.large
    for at, polynomial in samples.line_polynomials(limit.meter).items():
        beyond = polynomial.beyond(limit.bound)
        if beyond and all(polynomial.at(one) == samples.count_at(limit.meter, at, one) for one in large):
            place = samples.place(at)
            message = f"{_term(polynomial, _largest(beyond))} is more than {limit.text}"
            return cost_of(samples, limit, f"{polynomial} in line {place.line}", "fail", place, message)
    return None


def _judge_rough_count(samples: Samples, limit: CostLimit) -> Cost | None:
    """Compare counts that are not a polynomial with an exact limit, at the large sizes."""
    if limit.exact is None:
        return None
    for sizes in samples.contract.large:
        expected, found = float(limit.bound.at(sizes)), samples.count(limit.meter, sizes)
        if found < MISSING * expected:
            message = f"expected {limit.text}, found fewer"
            return replace(cost_of(samples, limit, "", "fail", None, message), too_little=True)
        if found > ON_TOP * limit.exact * expected:
            message = f"expected {limit.text}, found more, and not by a rule: an instructor must check"
            return cost_of(samples, limit, "", "inconclusive", None, message)
    return None


def _judge_growth(samples: Samples, limit: CostLimit, rays: Sequence[Ray]) -> Cost:
    """Judge counts that are not a polynomial by how they grow along rays to larger sizes."""
    if any(_is_irregular([samples.count(limit.meter, sizes) for sizes in ray.sizes()]) for ray in rays):
        message = "its cost changes from size to size without a rule: an instructor must check"
        return cost_of(samples, limit, "", "inconclusive", None, message)
    growths, doubtful = [], False
    for ray in rays:
        growth = degree_of([samples.count(limit.meter, sizes) for sizes in ray.sizes()])
        growths.append(f"({ray.name})^{round(growth)}")
        allowed = max(sum(p for p, s in zip(powers, ray.step, strict=True) if s) for powers in limit.bound.terms)
        if growth > allowed + FAILS_ABOVE and not _is_dominated(samples, limit, ray):
            message = f"grows like {growths[-1]}, which is more than {limit.text}"
            place = _growing_line(samples, limit.meter, ray.sizes())
            return cost_of(samples, limit, growths[-1], "fail", place, message)
        doubtful = doubtful or (growth > allowed + DOUBTFUL_ABOVE and not _is_dominated(samples, limit, ray))
    measured = "grows like " + ", ".join(growths)
    if cost := _judge_jump(samples, limit, measured):
        return cost
    if doubtful:
        message = "it may grow faster than allowed: an instructor must check"
        return cost_of(samples, limit, measured, "inconclusive", None, message)
    return cost_of(samples, limit, measured, "pass", None, "")


def _is_irregular(counts: Sequence[int]) -> bool:
    """Whether counts fall to a quarter from one size to a larger one: they depend on the numbers, not on the size."""
    return any(4 * count < max(counts[:at]) for at, count in enumerate(counts) if at)


def _judge_constants(samples: Samples, limit: CostLimit, cost: Cost) -> Cost:
    """Leave a cost that is far above its limit to the instructor: a large constant can hide growth."""
    times = MOST_TIMES.get(limit.meter, MOST_TIMES_ELSE)
    counts = ((samples.count(limit.meter, sizes), limit.bound.at(sizes)) for sizes in samples.contract.large)
    if cost.verdict != "pass" or all(count <= times * bound + _always(limit) for count, bound in counts):
        return cost
    message = f"it costs many times {limit.text}, which can hide growth: an instructor must check"
    return cost_of(samples, limit, cost.measured, "inconclusive", None, message)


def _judge_jump(samples: Samples, limit: CostLimit, measured: str) -> Cost | None:
    """Fail counts that are a far larger share of the limit at the large sizes than at any small one."""
    small = samples.lattice.points().values()
    usual = max(_share(samples, limit, sizes) for sizes in small) or 1.0
    for sizes in samples.contract.large:
        share = _share(samples, limit, sizes)
        if share > JUMP * usual:
            message = f"at large sizes it costs several times what growth like {limit.text} predicts"
            place = _growing_line(samples, limit.meter, [max(small, key=sum), sizes])
            return cost_of(samples, limit, measured, "fail", place, message)
    return None


def _judge_each_step(samples: Samples, limit: CostLimit, polynomial: Polynomial, cost: Cost) -> Cost:
    """Fail a sequence in which only some steps are expensive, and later ones more so: growth by doubling."""
    run = samples.contract.each_step
    for sizes in (run[at : at + EACH_STEP] for at in range(0, len(run), EACH_STEP)):
        if cost.verdict == "fail" or all(samples.count(limit.meter, one) == polynomial.at(one) for one in sizes):
            continue
        shares = {one: _share(samples, limit, one) for one in sizes}
        usual = sorted(shares, key=lambda one: shares[one])[EACH_STEP // 2]
        worst = max(sizes[EACH_STEP // 2 :], key=lambda one: shares[one])
        earlier = max(shares[one] for one in sizes[EACH_STEP // 4 : EACH_STEP // 2])
        if shares[worst] > max(JUMP * shares[usual], 2**FAILS_ABOVE * earlier):
            message = f"some steps of a sequence cost many times what the others do, and more than {limit.text}"
            place = _growing_line(samples, limit.meter, [usual, worst])
            cost = cost_of(samples, limit, "not a polynomial", "fail", place, message)
    return cost


def _judge_far(samples: Samples, limit: CostLimit, polynomial: Polynomial, cost: Cost) -> Cost:
    """Judge the sizes that are far larger than all others: code may behave only where it expects to be measured."""
    if cost.verdict != "pass":
        return cost
    far = (*samples.contract.far, *samples.contract.farthest)
    for sizes in (one for one in far if one in samples.by_size):
        count = samples.count(limit.meter, sizes)
        if samples.confirms(limit.meter, polynomial) and count == polynomial.at(sizes):
            continue
        if count > limit.bound.at(sizes) * _most_share(samples, limit) * JUMP + _always(limit):
            message = f"at large sizes it costs several times what growth like {limit.text} predicts"
            return cost_of(samples, limit, cost.measured, "fail", None, message)
        if limit.exact is not None and count < MISSING * limit.bound.at(sizes):
            message = f"expected {limit.text}, found fewer"
            return replace(cost_of(samples, limit, "", "fail", None, message), too_little=True)
    return cost


def _judge_ragged(samples: Samples, limit: CostLimit, polynomial: Polynomial, cost: Cost) -> Cost:
    """Judge the sizes that their tiles do not divide. A cut tile costs at most what a complete one does.

    Counts there are no polynomial. They lie between those of the sizes without the cut tiles and with complete ones.
    """
    tiles = samples.contract.lattice.tiles
    exact = limit.exact is not None and samples.confirms(limit.meter, polynomial)
    for sizes in (one for one in samples.contract.ragged if one in samples.by_size and cost.verdict == "pass"):
        count = samples.count(limit.meter, sizes)
        most = ON_TOP * polynomial.at(sizes) if exact else limit.bound.at(sizes) * _most_share(samples, limit) * JUMP
        if count > most + _always(limit):
            message = f"where the last tile is cut, it costs several times what {limit.text} allows"
            place = _growing_line(samples, limit.meter, [samples.lattice.at([0] * len(sizes)), sizes])
            cost = cost_of(samples, limit, cost.measured, "fail", place, message)
        elif limit.exact is not None and count < MISSING * limit.bound.at(without_cut_tiles(sizes, tiles)):
            message = f"expected {limit.text}, found fewer where the last tile is cut"
            cost = replace(cost_of(samples, limit, "", "fail", None, message), too_little=True)
    return cost


def _most_share(samples: Samples, limit: CostLimit) -> float:
    """Return the largest share of the limit at the large and the small sizes, at least 1."""
    usual = (*samples.contract.large, *samples.lattice.points().values())
    return max(1.0, *(_share(samples, limit, sizes) for sizes in usual))


def _always(limit: CostLimit) -> int:
    return ALWAYS.get(limit.meter, ALWAYS_ELSE)


def _judge_array_products(samples: Samples, limit: CostLimit, cost: Cost) -> Cost:
    """Fail Python multiplications that are only for show, while array operations make as many again."""
    if limit.meter != "smul" or cost.verdict != "pass":
        return cost
    for sizes in samples.contract.large:
        lines = samples.by_size[sizes].lines
        by_arrays = {at: count - lines["smul"].get(at, 0) for at, count in lines["mul"].items()}
        if sum(by_arrays.values()) >= limit.smallest_term(sizes):
            place = samples.place(max(by_arrays, key=lambda at: by_arrays[at]))
            message = "array operations make as many products again as the loop does"
            return cost_of(samples, limit, cost.measured, "fail", place, message)
    return cost


def _sizes_along(rays: Sequence[Ray]) -> list[Sizes]:
    return list(dict.fromkeys(sizes for ray in rays for sizes in ray.sizes()))


def _is_dominated(samples: Samples, limit: CostLimit, ray: Ray) -> bool:
    """Whether counts are no larger a share of the limit in the far half of a ray than in the near half."""
    shares = [_share(samples, limit, sizes) for sizes in ray.sizes()]
    return max(shares[LENGTH // 2 :]) <= UNEVEN * max(shares[: LENGTH // 2])


def _share(samples: Samples, limit: CostLimit, sizes: Sizes) -> float:
    return samples.count(limit.meter, sizes) / float(limit.bound.at(sizes))


def _line_with_term(samples: Samples, meter: str, powers: Powers) -> CodeLine | None:
    """Return the line whose own count has the most of this term."""
    found = {at: polynomial.terms.get(powers) for at, polynomial in samples.line_polynomials(meter).items()}
    most = max((at for at in found if found[at]), key=lambda at: found[at] or 0, default=None)
    return None if most is None else samples.place(most)


def _growing_line(samples: Samples, meter: str, sizes: Sequence[Sizes]) -> CodeLine | None:
    """Return the line that grew the most between the first and the last of these sizes."""
    first, last = samples.by_size[sizes[0]].lines[meter], samples.by_size[sizes[-1]].lines[meter]
    most = max(last, key=lambda at: last[at] - first.get(at, 0), default=None)
    return None if most is None else samples.place(most)


def _largest(terms: Mapping[Powers, Fraction]) -> Powers:
    return max(terms, key=lambda powers: (sum(powers), powers))


def _term(polynomial: Polynomial, powers: Powers) -> str:
    return str(replace(polynomial, terms={powers: polynomial.terms[powers]}))
