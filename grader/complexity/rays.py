"""Rays: sizes in equal steps, which show how counts grow that are not a polynomial."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from grader.complexity.contract import Contract
from grader.complexity.tiling import Sizes, Tiles, from_tiles

LENGTH, MIN_TAIL = 12, 5


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
