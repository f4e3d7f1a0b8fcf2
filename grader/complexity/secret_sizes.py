"""Secret sizes: large ones that are not known before, and some that are far larger or that tiles do not divide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from grader.complexity.contract import Contract
from grader.complexity.polynomial import Sizes

FAR_TIMES = 8  # times the largest other size
FAR_TILES = 4  # times the largest other number of tiles: there may be a step for each pair of tiles
JOINT, JOINT_STEPS = 3, 0.5  # times what the limits allow at the other large sizes
LOOPING = 2  # times the steps at the other sizes, where loops are allowed


def at_secret_sizes(contract: Contract, seed: int) -> Contract:
    """Return the contract with large sizes that are a little larger, with far larger ones, and with a huge one.

    No code can then be written for exactly these sizes. The seed comes from the course's salt. Sizes grow by complete
    steps: a size that is split into two heads stays even.
    """
    rng = np.random.default_rng(seed)
    large = tuple(_grown(contract, sizes, rng, 4) for sizes in contract.large)
    secret = replace(contract, large=large)
    far, farthest = _far_sizes(secret, rng)
    secret = replace(secret, far=far, farthest=farthest, ragged=_ragged_sizes(secret, rng))
    huge = contract.huge and _grown(contract, contract.huge, rng, 16)
    return replace(secret, far=(*far, _joint_sizes(secret)), huge=huge)


def _grown(contract: Contract, sizes: Sizes, rng: np.random.Generator, share: int) -> Sizes:
    """Return sizes of which each is larger by a share that is not known before."""
    return contract.fitted(
        [
            int(size + step * rng.integers(0, size // (share * step) + 1))
            for size, step in zip(contract.counted(sizes), contract.lattice.step, strict=True)
        ]
    )


def _joint_sizes(contract: Contract) -> Sizes:
    """Return sizes that are all large together. At the others some are small, and code may behave only there.

    They are so large that no limit allows more than three times as much as at the other large sizes; of steps, half as
    much, because honest loops would take long.
    """
    base, steps = contract.lattice.base, contract.lattice.step
    allowed = [
        (limit.bound, max(map(limit.bound.at, contract.large)) * (JOINT_STEPS if limit.meter == "steps" else JOINT))
        for limit in contract.limits
        if limit.bound.degree
    ]
    most = [max(of_one) for of_one in zip(*map(contract.counted, contract.large), strict=True)]
    while any(bound.at(contract.fitted(most)) > limit for bound, limit in allowed) and most != list(base):
        most = [b + (m - b) * 9 // 10 // s * s for m, b, s in zip(most, base, steps, strict=True)]
    return contract.fitted(most)


def _far_sizes(contract: Contract, rng: np.random.Generator) -> tuple[tuple[Sizes, ...], tuple[Sizes, ...]]:
    """Return sizes in which one variable is about eight times as large as at any other size (of tiles: four times).

    There is one for each variable where the function must not loop. Else there is one for a variable that the seed
    chooses, and not so far that honest loops would take long; the size without this bound comes second.
    """
    base, steps = contract.lattice.base, contract.lattice.step
    loops = next((limit.bound for limit in contract.limits if limit.meter == "steps" and limit.bound.degree), None)
    variables: Sequence[int] = range(len(base)) if loops is None else [int(rng.integers(len(base)))]
    most_steps = None if loops is None else LOOPING * max(loops.at(sizes) for sizes in contract.large)
    far: list[Sizes] = []
    farthest: list[Sizes] = []
    for chosen in variables:
        most, step = max(contract.counted(sizes)[chosen] for sizes in contract.large), steps[chosen]
        is_tiled = bool(contract.lattice.tiles) and contract.lattice.tiles[chosen] is not None
        size = int((FAR_TILES if is_tiled else FAR_TIMES) * most // step + rng.integers(1, 2 + most // step))
        while True:
            sizes = contract.fitted([base[i] + step * size if i == chosen else base[i] for i in range(len(base))])
            if loops is None or most_steps is None or loops.at(sizes) <= most_steps:
                break
            farthest = farthest or [sizes]
            size = size * 9 // 10
        far.append(sizes)
    return tuple(far), tuple(farthest)


def _ragged_sizes(contract: Contract, rng: np.random.Generator) -> tuple[Sizes, ...]:
    """Return the large sizes with a last tile that is cut, and the largest tile with a size that is smaller."""
    tiles = contract.lattice.tiles
    if not tiles:
        return ()
    ragged = [
        tuple(
            size if tile is None or sizes[tile] < 2 else int(size - rng.integers(1, sizes[tile]))
            for size, tile in zip(sizes, tiles, strict=True)
        )
        for sizes in contract.large
    ]
    widest = max(contract.large, key=lambda sizes: max(sizes[tile] for tile in tiles if tile is not None))
    ragged.append(
        tuple(size if tile is None else max(1, widest[tile] - 1) for size, tile in zip(widest, tiles, strict=True))
    )
    return tuple(_lowered(contract, sizes) for sizes in ragged)


def _lowered(contract: Contract, sizes: Sizes) -> Sizes:
    """Return sizes in which those that `where` says are too large are as large as the others."""
    now = list(sizes)
    for smaller, larger in contract.where:
        now[smaller] = min(now[smaller], now[larger])
    return tuple(now)
