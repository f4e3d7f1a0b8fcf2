"""Growth: how counts that are not a polynomial grow along rays, sizes in equal steps."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from grader.complexity.contract import Contract, CostLimit
from grader.complexity.polynomial import Sizes, Tiles, from_tiles
from grader.complexity.sampling import CostSamples

LENGTH = 12  # sizes of a ray: a quarter and half of them show the growth of the increase
MIN_TAIL = 5  # counts that must be a polynomial, so that it is none by chance
UNEVEN = 1.1  # how much larger a share of the limit counts may be further along: lengths are rounded, and tiles cut


@dataclass(frozen=True)
class Ray:
    """Sizes in equal steps: base + k · step, for k from 1 to LENGTH. Sizes that have tiles are counted in tiles."""

    name: str
    base: Sizes
    step: Sizes
    tiles: Tiles = ()

    def sizes(self) -> list[Sizes]:
        counted = (tuple(b + k * s for b, s in zip(self.base, self.step, strict=True)) for k in range(1, LENGTH + 1))
        return [from_tiles(one, self.tiles) for one in counted]


def rays_of(contract: Contract) -> list[Ray]:
    """Return the rays of a contract: each variable alone up to its largest size, then pairs and all variables together.

    Sizes grow by complete steps of the contract: a size that is split into two heads stays even.
    """
    names, base, least = contract.lattice.names, contract.lattice.base, contract.lattice.step
    every = range(len(base))
    most = [max(sizes) for sizes in zip(*map(contract.counted, contract.large), strict=True)]
    steps = [tuple((most[i] - base[i]) // LENGTH // least[i] * least[i] if i == k else 0 for i in every) for k in every]
    steps += [
        tuple(least[i] * (i in chosen) for i in every)
        for count in sorted({2, len(base)})
        for chosen in itertools.combinations(every, count)
    ]
    return [
        Ray("·".join(n for n, s in zip(names, step, strict=True) if s), base, step, contract.lattice.tiles)
        for step in (_kept(contract, step) for step in steps)
        if any(step)
    ]


def _kept(contract: Contract, step: Sizes) -> Sizes:
    """Return a step along which `where` stays true: the larger size grows by at least as much as the smaller one."""
    end = contract.counted(contract.fitted([b + LENGTH * s for b, s in zip(contract.lattice.base, step, strict=True)]))
    grown = ((e - b + LENGTH - 1) // LENGTH for e, b in zip(end, contract.lattice.base, strict=True))
    return tuple(-(-one // least) * least for one, least in zip(grown, contract.lattice.step, strict=True))


def degree_of(counts: Sequence[int]) -> float:
    """Return the degree of counts at equal steps: exact if the larger ones are a polynomial, else an estimate."""
    for start in range(len(counts) - MIN_TAIL + 1):  # code may work differently at small sizes
        differences = list(counts[start:])
        for degree in range(len(differences) - 2):
            differences = [b - a for a, b in itertools.pairwise(differences)]
            if not any(differences):
                return degree
    quarter, half, whole = counts[LENGTH // 4 - 1], counts[LENGTH // 2 - 1], counts[LENGTH - 1]
    if half > quarter and whole > half:
        return log2((whole - half) / (half - quarter))  # of the increase, so that a constant cancels out
    return log2(whole / half) if whole > half > 0 else 0.0


@dataclass(frozen=True)
class Growth:
    """How counts that are not a polynomial grow along a ray, and the power that a limit allows there."""

    ray: Ray
    samples: CostSamples
    degree: float
    allowed: int
    is_irregular: bool  # counts fall to a quarter at a larger size: they depend on the numbers, not on the size
    is_dominated: bool  # they are no larger a share of the limit in the far half than in the near half

    @property
    def text(self) -> str:
        """The growth as a report shows it."""
        return f"({self.ray.name})^{round(self.degree)}"


def growth_along(ray: Ray, samples: CostSamples, limit: CostLimit) -> Growth:
    """Return how the counts of a meter grow along a ray that was measured."""
    counts = [samples.count(limit.meter, sizes) for sizes in ray.sizes()]
    shares = [count / float(limit.bound.at(sizes)) for count, sizes in zip(counts, ray.sizes(), strict=True)]
    return Growth(
        ray,
        samples,
        degree_of(counts),
        allowed=max(sum(p for p, s in zip(powers, ray.step, strict=True) if s) for powers in limit.bound.terms),
        is_irregular=any(4 * count < max(counts[:at]) for at, count in enumerate(counts) if at),
        is_dominated=max(shares[LENGTH // 2 :]) <= UNEVEN * max(shares[: LENGTH // 2]),
    )
