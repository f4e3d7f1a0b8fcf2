from __future__ import annotations

import numpy as np


class Mask:
    """A mask that can be combined with `&` and asked for its size."""

    def __init__(self, entries):
        self._entries = np.asarray(entries).astype(bool)

    @classmethod
    def causal(cls, n):
        place = np.arange(n)
        return cls(np.greater_equal.outer(place, place))

    @classmethod
    def padding(cls, lengths, n):
        return cls(np.less.outer(np.arange(n), lengths).T.reshape(len(lengths), 1, 1, n))

    def __and__(self, other: Mask) -> Mask:
        return Mask(np.bitwise_and(self._entries, other._entries))

    def __invert__(self):
        return Mask(~self._entries)

    def __len__(self):
        return len(self._entries)

    def __getitem__(self, key):
        return Mask(self._entries[key])

    def __eq__(self, other):
        return isinstance(other, Mask) and np.array_equal(self._entries, other._entries)

    __hash__ = None

    def __bool__(self):
        return bool(self._entries.all())

    def __array__(self, dtype=None, copy=None):
        return self._entries.astype(dtype or int)

    def __repr__(self):
        return f"<Mask of {self._entries.shape}, {self._entries.sum()} allowed>"

    @property
    def allowed(self):
        return self._entries


def create_causal_mask(seq_len):
    if seq_len <= 0:
        raise ValueError(f"{seq_len} tokens have no causal mask")
    return Mask.causal(seq_len).allowed


def create_padding_mask(lengths, max_length):
    lengths = np.array(lengths, dtype=np.int64)
    if lengths.size and lengths.max() > max_length:
        raise ValueError(f"length {lengths.max()} exceeds max_length {max_length}")
    if lengths.size and lengths.min() < 0:
        raise ValueError(f"length {lengths.min()} is below 0 (max_length {max_length})")
    return Mask.padding(lengths, max_length).allowed


def combine_masks(*masks):
    try:
        first, *others = map(Mask, masks)
    except ValueError:
        raise ValueError("combine_masks needs at least one mask") from None
    for other in others:
        first = first & other
    return np.array(first)


def masked_softmax(scores, mask, axis=-1):
    s = np.asarray(scores, dtype=np.float32 if scores.dtype == np.float32 else np.float64)
    ok = Mask(np.broadcast_to(mask, s.shape)).allowed
    s = np.where(ok, s, s.dtype.type("-inf"))
    with np.errstate(invalid="ignore"):
        e = np.exp(s - s.max(axis, keepdims=True))
        w = e / e.sum(axis, keepdims=True)
    w[~ok] = 0
    return w


assert Mask.causal(3) == Mask(np.tri(3)) and len(Mask.causal(3)) == 3
assert bool(Mask.causal(3)[2]) and not bool(Mask.causal(3))

REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2_096_128
