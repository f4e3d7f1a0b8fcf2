"""The calls that a function makes by name, such as products of arrays."""

from __future__ import annotations

from collections.abc import Sequence

from grader.complexity.contract import Contract
from grader.complexity.cost import Event
from grader.complexity.samples import Sample, Samples
from grader.complexity.tiling import Sizes
from grader.sandbox.protocol.call_names import SUM


def events_of(samples: Samples, further: Sequence[tuple[Sizes, Sample]] = ()) -> tuple[Event, ...]:
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


def _sums_products(contract: Contract, at: int, sizes: Sizes, sample: Sample) -> bool:
    """Whether a place sums as many products as a limit is about. A row times its mask sums fewer."""
    summed = sample.lines["sums"].get(at, 0)
    return all(summed >= limit.smallest_term(sizes) for limit in contract.limits if limit.meter == "smul")
