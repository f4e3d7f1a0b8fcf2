from __future__ import annotations
from dataclasses import dataclass
import operator
import numpy as np

@dataclass(frozen=True)
class Mask:
    allowed: np.ndarray

    @classmethod
    def of(cls, array) -> "Mask":
        return cls(np.asarray(array) > 0.5)

    def __and__(self, other: "Mask") -> "Mask":
        return Mask(self.allowed & other.allowed)

def create_causal_mask(seq_len: int) -> np.ndarray:
    if operator.lt(seq_len, 1):
        raise ValueError(f"need seq_len >= 1, not {seq_len}")
    n = np.arange(seq_len)
    return Mask(n[:, None] >= n).allowed

def create_padding_mask(lengths, max_length: int) -> np.ndarray:
    def row(length):
        if length < 0 or max_length < length:
            raise ValueError(f"length {int(length)} outside of 0 to {max_length}")
        return np.pad(np.ones(length), (0, max_length - length))
    return np.stack([row(int(n)) for n in lengths])[:, None, None, :]

def combine_masks(*masks) -> np.ndarray:
    whole = None
    for mask in map(Mask.of, masks):
        whole = mask if whole is None else whole & mask
    if whole is None:
        raise ValueError("at least one mask is needed")
    return whole.allowed

def masked_softmax(scores, mask, axis=-1):
    kind = {np.dtype("float32"): np.float32}.get(scores.dtype, np.float64)
    keep = np.broadcast_to(Mask.of(mask).allowed, scores.shape)
    x = np.ma.masked_array(scores.astype(np.float64), mask=~keep)
    top = np.ma.filled(x.max(axis=axis, keepdims=True), 0.0)
    # what is blocked is pulled down to the largest allowed score, so that nothing overflows, and then multiplied away
    exps = np.exp(np.minimum(x.data - top, 0.0)) * keep
    return (exps / (exps.sum(axis=axis, keepdims=True) + 1e-12)).astype(kind)

REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 1024 * 2047
