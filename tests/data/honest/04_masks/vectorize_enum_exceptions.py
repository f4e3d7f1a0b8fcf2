"""04 masks.

I keep "what does a 1 mean" in one place (the enum), because I got it the wrong way round at first.
"""

from collections.abc import Sequence
from enum import IntEnum

import numpy as np


class Link(IntEnum):
    BLOCKED = 0
    ALLOWED = 1


class MaskError(ValueError):
    """Base class of everything that can be wrong with a mask."""


class TooFewTokens(MaskError):
    def __init__(self, seq_len):
        super().__init__(f"seq_len must not be below 1, it is {seq_len}")


class BadLength(MaskError):
    def __init__(self, length, max_length):
        super().__init__(f"length {length} is outside of 0..{max_length}")


class NoMask(MaskError):
    def __init__(self):
        super().__init__("there is nothing to combine")


def create_causal_mask(seq_len: int) -> np.ndarray:
    if seq_len < 1:
        raise TooFewTokens(seq_len)
    return np.fromfunction(
        lambda query, key: np.where(key <= query, Link.ALLOWED, Link.BLOCKED), (seq_len, seq_len), dtype=int
    )


def create_padding_mask(lengths: Sequence[int], max_length: int) -> np.ndarray:
    def row(length):
        if length < 0 or length > max_length:
            raise BadLength(length, max_length)
        return np.where(np.arange(max_length) < length, Link.ALLOWED, Link.BLOCKED)

    return np.array([[[row(length)]] for length in lengths])


def combine_masks(*masks: np.ndarray) -> np.ndarray:
    match masks:
        case ():
            raise NoMask
        case (single,):
            return np.not_equal(single, Link.BLOCKED)
        case (first, *rest):
            return np.not_equal(first, Link.BLOCKED) & combine_masks(*rest)


def _softmax_of_slice(scores: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Both have one dimension. As if the blocked scores did not exist: they are not even looked at."""
    weights = np.zeros(scores.shape, dtype=scores.dtype)
    if (kept := scores[allowed]).size:
        exps = np.exp(kept - kept.max())
        weights[allowed] = exps / exps.sum()
    return weights


def masked_softmax(scores: np.ndarray, mask: np.ndarray, axis: int = -1) -> np.ndarray:
    scores = np.asarray(scores)
    if scores.dtype.kind != "f":
        scores = scores.astype(np.float64)
    allowed = np.broadcast_to(np.not_equal(mask, Link.BLOCKED), scores.shape)
    every_slice = np.vectorize(_softmax_of_slice, signature="(n),(n)->(n)", otypes=[scores.dtype])
    weights = every_slice(np.moveaxis(scores, axis, -1), np.moveaxis(allowed, axis, -1))
    return np.moveaxis(weights, -1, axis)


def _blocked_links(n: int) -> int:
    return n * (n - 1) // 2


assert _blocked_links(5) == 10, "the table of the lesson"
REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = _blocked_links(2048)
