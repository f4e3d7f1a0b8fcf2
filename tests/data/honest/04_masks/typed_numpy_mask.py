"""Masks, annotated for mypy --strict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeGuard, Union

import numpy as np
import numpy.typing as npt

BoolMask = npt.NDArray[np.bool_]
AnyMask = Union[npt.NDArray[np.bool_], npt.NDArray[np.integer[Any]], npt.NDArray[np.floating[Any]]]
Lengths = Union[Sequence[int], npt.NDArray[np.integer[Any]]]
Flag = Literal[0, 1]


def _is_float(x: npt.NDArray[Any]) -> TypeGuard[npt.NDArray[np.floating[Any]]]:
    return bool(np.issubdtype(x.dtype, np.floating))


def _require(condition: bool, /, message: str) -> None:
    if not condition:
        raise ValueError(message)


def create_causal_mask(seq_len: int) -> BoolMask:
    _require(seq_len >= 1, f"seq_len must be at least 1, got {seq_len}")
    query: npt.NDArray[np.intp]
    key: npt.NDArray[np.intp]
    query, key = np.ogrid[:seq_len, :seq_len]
    mask: BoolMask = key <= query
    return mask


def create_padding_mask(lengths: Lengths, max_length: int) -> BoolMask:
    length: int
    for length in lengths:
        _require(length >= 0, f"a length must not be negative, got {length}")
        _require(length <= max_length, f"a length must be at most {max_length}, got {length}")
    column: npt.NDArray[np.intp] = np.fromiter((int(n) for n in lengths), dtype=np.intp, count=len(lengths))
    return np.arange(max_length)[None, None, None, :] < column[:, None, None, None]


def combine_masks(*masks: AnyMask) -> BoolMask:
    _require(len(masks) > 0, "combine_masks needs at least one mask")
    combined: BoolMask = np.ones(np.broadcast_shapes(*(np.shape(m) for m in masks)), dtype=np.bool_)
    mask: AnyMask
    for mask in masks:
        combined &= np.asarray(mask).astype(np.bool_)
    return combined


def masked_softmax(scores: npt.NDArray[Any], mask: AnyMask, axis: int = -1) -> npt.NDArray[np.floating[Any]]:
    x: npt.NDArray[np.floating[Any]] = scores if _is_float(scores) else scores.astype(np.float64)
    zero: np.floating[Any] = x.dtype.type(0)
    allowed: BoolMask = np.broadcast_to(np.asarray(mask, dtype=np.bool_), x.shape)
    smallest: npt.NDArray[np.floating[Any]] = np.min(x, axis=axis, keepdims=True)
    top: npt.NDArray[np.floating[Any]] = np.where(allowed, x, smallest).max(axis=axis, keepdims=True)
    shifted: npt.NDArray[np.floating[Any]] = np.where(allowed, x - top, zero)
    # the largest allowed score may be the smallest of all, and then `top` is right as well
    exps: npt.NDArray[np.floating[Any]] = np.where(allowed, np.exp(shifted), zero)
    total: npt.NDArray[np.floating[Any]] = exps.sum(axis=axis, keepdims=True)
    return exps / np.where(total > 0, total, x.dtype.type(1))


REFLECT_BLOCKED_LINKS_CAUSAL_N2048: int = (2048**2 - 2048) // 2
