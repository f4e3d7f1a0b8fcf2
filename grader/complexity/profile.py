"""The profile of a function: its measured costs, compared with its contract."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.complexity.contract import METERS, Contract, CostLimit
from grader.complexity.cost import WRONG_RESULTS, Cost, Event
from grader.complexity.judging import cost_of, judge_limit
from grader.complexity.polynomial import Polynomial, Sizes
from grader.complexity.sampling import CostSample, CostSamples, Expected, Sampler
from grader.core.errors import StudentEndedError, StudentError
from grader.sandbox.protocol.call_names import SUM, is_attention
from grader.sandbox.session import Session

MUCH = 2  # times the cost at the large sizes
MOST_TERMS = 8  # of a polynomial that is shown though the large sizes do not confirm it


@dataclass(frozen=True)
class Profile:
    """Everything measured of one function."""

    contract: Contract
    costs: tuple[Cost, ...]
    events: tuple[Event, ...]
    polynomials: Mapping[str, Polynomial]  # by meter, as found at the small sizes
    exact: Mapping[str, Polynomial]  # those of them that the large sizes confirm
    simple: Mapping[str, Polynomial]  # as found at the fewest sizes: the same under every salt
    lacking: tuple[str, ...] | None = None  # the arguments of a call that does not call what the contract needs
    looping: tuple[str, ...] | None = None  # the arguments of a further call whose steps grow, but must be constant


@dataclass(frozen=True)
class _FurtherCalls:
    """The further calls of a contract, made at the same sizes."""

    sizes: Sizes
    samples: list[CostSample]
    looping: tuple[str, ...] | None


def profile(session: Session, contract: Contract, seed: int, expected: Expected | None = None) -> Profile:
    """Measure a function in a fresh worker and compare its costs with its contract.

    With `expected`, a function whose results differ from the reference's earns nothing: its cost has no meaning.
    """
    sampler = Sampler(session, contract, seed, expected)
    try:
        return _profile(sampler)
    except StudentError as error:
        return _profile_of_failure(sampler, error)


def _profile(sampler: Sampler) -> Profile:
    contract = sampler.contract
    sampler.measure_small_sizes()
    samples = sampler.measure([*contract.large, *contract.each_step])
    polynomials = simple = _polynomials(samples)
    other = [limit.meter for limit in contract.limits if not samples.confirms(limit.meter, simple[limit.meter])]
    if other:
        polynomials = _measure_more(sampler, simple, other)
    further = _make_further_calls(sampler)
    problem = _measure_far(sampler, _confirmed(sampler.samples, polynomials))
    costs = _costs(sampler, polynomials)
    if other and any(cost.verdict != "pass" for cost in costs):  # the report says what costs too much, and where
        polynomials = _measure_more(sampler, simple, METERS)
        costs = _costs(sampler, polynomials)
    samples = sampler.samples
    events = _events_of(samples, [(further.sizes, sample) for sample in further.samples])
    costs = [_after(cost, problem) for cost in costs]
    exact, lacking = _confirmed(samples, polynomials), _lacking(samples, further)
    return Profile(contract, tuple(costs), events, polynomials, exact, simple, lacking, further.looping)


def _measure_more(sampler: Sampler, simple: Mapping[str, Polynomial], meters: Collection[str]) -> dict[str, Polynomial]:
    """Measure at further small sizes, enough for these meters, and return the polynomial of each meter."""
    samples = sampler.measure_more_small_sizes(meters)
    return {
        meter: simple[meter] if meter not in meters and samples.holds(meter, simple[meter]) else found
        for meter, found in _polynomials(samples).items()
    }


def _confirmed(samples: CostSamples, polynomials: Mapping[str, Polynomial]) -> dict[str, Polynomial]:
    return {meter: found for meter, found in polynomials.items() if samples.confirms(meter, found)}


def _costs(sampler: Sampler, polynomials: Mapping[str, Polynomial]) -> list[Cost]:
    """Compare everything that was measured with the limits."""
    samples, limits = sampler.samples, sampler.contract.limits
    if not samples.wrong:
        return [judge_limit(sampler.samples, limit, polynomials[limit.meter], sampler.measure) for limit in limits]
    exact = _confirmed(samples, polynomials)
    return [cost_of(samples, limit, str(exact.get(limit.meter, "")), "fail", None, WRONG_RESULTS) for limit in limits]


def _measure_far(sampler: Sampler, exact: Mapping[str, Polynomial]) -> StudentError | None:
    """Measure at the sizes that are far larger than the others; return what stopped it."""
    contract = sampler.contract
    quick = "steps" in exact and not exact["steps"].degree  # it says that it does not loop
    far = [one for one in contract.far if not _costs_too_much(contract, exact, one)]
    try:
        sampler.measure([*contract.ragged, *far, *(contract.farthest if quick else ())])
    except StudentError as error:
        return error
    return None


def _costs_too_much(contract: Contract, exact: Mapping[str, Polynomial], sizes: Sizes) -> bool:
    """Whether a cost that is above its limit anyway would be much higher here: that takes long and decides nothing."""
    beyond = (
        exact[limit.meter]
        for limit in contract.limits
        if limit.meter in exact and exact[limit.meter].beyond(limit.bound)
    )
    return any(found.at(sizes) > MUCH * max(map(found.at, contract.large)) for found in beyond)


def _after(cost: Cost, problem: StudentError | None) -> Cost:
    """Change a cost that passed, if the function did not get through the far sizes: one that ends or hangs fails."""
    if problem is None or cost.verdict != "pass":
        return cost
    if isinstance(problem, StudentEndedError):
        return replace(cost, verdict="fail", message=f"NOT MEASURED at large sizes: {problem.public}")
    return replace(
        cost, verdict="inconclusive", message="it raises an exception at large sizes: an instructor must check"
    )


def _profile_of_failure(sampler: Sampler, error: StudentError) -> Profile:
    """Return the profile of a function that did not get through all sizes: it earns nothing.

    A right solution gets through them with little time and memory. So this one costs too much, or it ends or hangs
    where its cost would show. The small sizes may still show which.
    """
    contract = sampler.contract
    # Where it is graded, the report must not quote student code: that code has seen the hidden inputs.
    why = error if sampler.expected is None else error.public
    polynomials: dict[str, Polynomial] = {}
    if sampler.has_measured(sampler.lattice.points().values()):
        with contextlib.suppress(StudentError):
            polynomials = _polynomials(sampler.measure_more_small_sizes(METERS))
    message = f"NOT MEASURED at large sizes: {why}" if polynomials else f"NOT MEASURED: {why}"
    samples = sampler.samples
    costs = tuple(
        cost_of(samples, limit, _if_beyond(polynomials.get(limit.meter), limit), "fail", None, message)
        for limit in contract.limits
    )
    return Profile(contract, costs, _events_of(samples), polynomials, {}, {})


def _if_beyond(polynomial: Polynomial | None, limit: CostLimit) -> str:
    """Return a polynomial that shows why the large sizes failed. One of very many terms follows no rule."""
    if polynomial is None or len(polynomial.terms) > MOST_TERMS or not polynomial.beyond(limit.bound):
        return ""
    return str(polynomial)


def _polynomials(samples: CostSamples) -> dict[str, Polynomial]:
    return {meter: samples.polynomial(meter) for meter in METERS}


def _make_further_calls(sampler: Sampler) -> _FurtherCalls:
    """Make the further calls of a contract; at two sizes where a limit wants the steps to be constant."""
    contract = sampler.contract
    near, far = (
        contract.fitted(
            [base + steps * step for base, step in zip(contract.lattice.base, contract.lattice.step, strict=True)]
        )
        for steps in (4, 7)
    )
    samples = sampler.measure_further_calls(near)
    looping = None
    if any(limit.meter == "steps" and not limit.bound.degree for limit in contract.limits):
        calls = zip(contract.also, samples, sampler.measure_further_calls(far), strict=True)
        looping = next((args for args, a, b in calls if a.counts["steps"] < b.counts["steps"]), None)
    return _FurtherCalls(near, samples, looping)


def _lacking(samples: CostSamples, further: _FurtherCalls) -> tuple[str, ...] | None:
    """Return the arguments of the first call that does not call what the contract needs."""
    contract = samples.contract
    if not contract.needs:
        return None
    calls = [(contract.args, sample) for sample in samples.by_size.values()]
    calls += zip(contract.also, further.samples, strict=True)
    return next((args for args, sample in calls if not any(map(is_attention, sample.events))), None)


def _events_of(samples: CostSamples, further: Sequence[tuple[Sizes, CostSample]] = ()) -> tuple[Event, ...]:
    """Return the named calls of all samples and of the contract's further calls, each at its first place.

    A sum of products is listed only where it does the multiplications that the contract limits.
    """
    large = [(sizes, samples.by_size[sizes]) for sizes in samples.contract.large if sizes in samples.by_size]
    calls = [(sample, large) for sample in samples.by_size.values()]
    calls += [(sample, [(sizes, sample)]) for sizes, sample in further]
    events: dict[str, int] = {}
    for sample, measured in calls:
        for name, at in sample.events.items():
            if name != SUM or (measured and all(_sums_products(samples.contract, at, *one) for one in measured)):
                events.setdefault(name, at)
    return tuple(Event(samples.contract.function, name, samples.place(at)) for name, at in events.items())


def _sums_products(contract: Contract, at: int, sizes: Sizes, sample: CostSample) -> bool:
    """Whether a place sums as many products as a limit is about. A row times its mask sums fewer."""
    summed = sample.lines["sums"].get(at, 0)
    return all(summed >= limit.smallest_term(sizes) for limit in contract.limits if limit.meter == "smul")
