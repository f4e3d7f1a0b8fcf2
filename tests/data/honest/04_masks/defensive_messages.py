import numbers
import operator

import numpy as np

_KINDS = frozenset("biuf")


def _integer(name, number):
    try:
        return operator.index(number)
    except TypeError as error:
        raise TypeError(f"{name} should be an integer, but is {number!r}") from error


def _mask(mask, name="mask"):
    array = np.asarray(mask)
    if array.dtype.kind not in _KINDS:
        raise TypeError(f"{name} should hold bool, int or float, but its dtype is {array.dtype}")
    if not np.isin(array, (0, 1)).all():
        raise ValueError(f"{name} should hold only 0 and 1")
    return array.astype(bool)


def create_causal_mask(seq_len):
    n = _integer("seq_len", seq_len)
    if n < 1:
        raise ValueError(f"seq_len should be at least 1, but is {n}")
    return ~np.triu(np.ones((n, n), dtype=bool), k=1)


def create_padding_mask(lengths, max_length):
    n = _integer("max_length", max_length)
    array = np.atleast_1d(np.asarray(lengths))
    if array.ndim != 1:
        raise ValueError(f"lengths should have one dimension, but has {array.ndim}")
    for position, length in enumerate(array):
        if not isinstance(length, (numbers.Integral, np.integer)):
            raise TypeError(f"lengths[{position}] should be an integer, but is {length!r}")
        if length < 0:
            raise ValueError(f"lengths[{position}] should be at least 0, but is {length}")
        if length > n:
            raise ValueError(f"lengths[{position}] should be at most {n}, but is {length}")
    out = np.zeros((array.size, 1, 1, n), dtype=bool)
    for row, length in zip(out, array, strict=True):
        row[..., :length] = True
    return out


def combine_masks(*masks):
    if not masks:
        raise ValueError("combine_masks() got no mask")
    checked = [_mask(mask, f"mask {number}") for number, mask in enumerate(masks, 1)]
    try:
        checked = np.broadcast_arrays(*checked)
    except ValueError as error:
        shapes = ", ".join(str(np.shape(mask)) for mask in masks)
        raise ValueError(f"the shapes {shapes} do not broadcast") from error
    result = checked[0].copy()
    for mask in checked[1:]:
        result &= mask
    return result


def masked_softmax(scores, mask, axis=-1):
    scores = np.asarray(scores)
    if scores.dtype.kind not in _KINDS:
        raise TypeError(f"scores should be numbers, but their dtype is {scores.dtype}")
    axis = _integer("axis", axis)
    if not -scores.ndim <= axis < scores.ndim:
        raise ValueError(f"axis {axis} is not an axis of scores with {scores.ndim} dimensions")
    allowed = _mask(mask)
    if allowed.ndim > scores.ndim:
        raise ValueError(f"the mask has {allowed.ndim} dimensions, the scores have only {scores.ndim}")
    x = scores.astype(scores.dtype if scores.dtype.kind == "f" else np.float64, copy=True)
    np.putmask(x, ~np.broadcast_to(allowed, x.shape), -np.inf)
    top = x.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, np.zeros((), x.dtype))
    e = np.exp(x - top)
    total = e.sum(axis=axis, keepdims=True)
    weights = np.divide(e, total, out=np.zeros_like(e), where=total > 0)
    assert weights.dtype == x.dtype and weights.shape == scores.shape
    return weights


REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2096128
