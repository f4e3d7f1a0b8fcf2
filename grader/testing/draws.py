"""Random inputs that are never degenerate: they show what a check is about, whatever the course's salt is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np

Drawn = TypeVar("Drawn")
TRIES = 1000


def draw_until(
    rng: np.random.Generator, make: Callable[[np.random.Generator], Drawn], shows: Callable[[Drawn], bool]
) -> Drawn:
    """Draw inputs again until they show what the check is about.

    `shows` is a condition on the inputs, or on the right answer for them. It never sees a student's result.
    """
    for _ in range(TRIES):
        drawn = make(rng)
        if shows(drawn):
            return drawn
    raise RuntimeError(f"none of {TRIES} random inputs shows what the check is about: change how they are made")


def spread_numbers(rng: np.random.Generator, shape: tuple[int, ...], spread: float, axis: int = -1) -> np.ndarray:
    """Return random numbers whose largest and smallest along an axis differ by exactly `spread`.

    A slice of one entry has no spread.
    """
    numbers = rng.normal(size=shape)
    lowest, highest = numbers.min(axis=axis, keepdims=True), numbers.max(axis=axis, keepdims=True)
    middle, width = (lowest + highest) / 2, highest - lowest
    scaled: np.ndarray = middle + (numbers - middle) * (spread / np.where(width > 0, width, 1.0))
    return scaled


def mixed_mask(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return a random mask of zeros and ones that is neither a causal mask nor a padding mask.

    Every row, along the last axis, allows an entry and blocks one. Of rows with three entries or more, one allows two,
    so that its softmax depends on the scores. Where there are several rows, they are not all the same; an entry above
    the diagonal is allowed, and one on it or below it is blocked. A row of one entry allows it. A square mask of three
    rows or more is another one when it is transposed.
    """
    # One matrix at a time: many matrices would rarely all be mixed at once.
    masks = [draw_until(rng, lambda rng: _open_rows(rng, shape[-2:]), _is_mixed) for _ in range(math.prod(shape[:-2]))]
    return np.array(masks).reshape(shape)


def _open_rows(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    mask = rng.integers(0, 2, size=shape)
    mask[..., -1], mask[..., 0] = 0, 1  # in this order, for rows of one entry
    permuted: np.ndarray = rng.permuted(mask, axis=-1)
    return permuted


def _is_mixed(mask: np.ndarray) -> bool:
    if mask.shape[-1] > 2 and mask.sum(axis=-1).max() < 2:
        return False
    if mask.ndim < 2 or 1 in mask.shape:
        return True
    lower = np.tri(len(mask), mask.shape[1])
    rows_differ = (mask != mask[:1]).any()
    sees_later, blocks_earlier = (mask * (1 - lower)).any(), ((1 - mask) * lower).any()
    is_symmetric = len(mask) == mask.shape[1] > 2 and (mask == mask.T).all()
    return bool(rows_differ and sees_later and blocks_earlier and not is_symmetric)


def derangement(rng: np.random.Generator, count: int) -> np.ndarray:
    """Return a random order of 0 to `count - 1` in which every number has moved."""
    order = rng.permutation(count)
    place = np.empty(count, dtype=int)
    place[order] = np.roll(order, 1)
    return place


def mixed_lengths(rng: np.random.Generator, count: int, longest: int) -> list[int]:
    """Return random lengths from 1 to `longest`, of which only one is the longest. They are not sorted either way.

    Of two lengths, the first is the longest.
    """
    lengths = [int(length) for length in rng.integers(1, longest, size=count)]
    lengths[int(rng.integers(1, count - 1)) if count > 2 else 0] = longest
    return lengths
