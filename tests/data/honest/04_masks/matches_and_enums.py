import enum
import operator
from functools import reduce, singledispatch

import numpy as np


class Look(enum.IntEnum):
    BLOCKED = 0
    ALLOWED = 1


@singledispatch
def to_lengths(lengths):
    raise TypeError(f"cannot read lengths from {type(lengths).__name__}")


@to_lengths.register(list)
@to_lengths.register(tuple)
def _(lengths):
    return list(lengths)


@to_lengths.register
def _(lengths: np.ndarray):
    return lengths.tolist()


def create_causal_mask(seq_len):
    match seq_len:
        case n if n < 1:
            raise ValueError(f"seq_len {n}")
        case 1:
            return np.full((1, 1), Look.ALLOWED)
        case n:
            # grow the mask: a new token sees everything, and nobody before it sees the new token
            mask = np.full((n, n), int(Look.BLOCKED))
            mask[np.tril_indices(n)] = Look.ALLOWED
            return mask


def create_padding_mask(lengths, max_length):
    rows = []
    for length in to_lengths(lengths):
        match length:
            case _ if length < 0:
                raise ValueError(f"negative length {length}")
            case _ if length > max_length:
                raise ValueError(f"length {length} is above {max_length}")
            case 0:
                rows.append([Look.BLOCKED] * max_length)
            case _:
                rows.append([Look.ALLOWED] * length + [Look.BLOCKED] * (max_length - length))
    return np.array(rows, dtype=np.float32).reshape(-1, 1, 1, max_length)


def combine_masks(*masks):
    match masks:
        case ():
            raise ValueError("nothing to combine")
        case (only,):
            return np.array(only)
        case (first, *rest):
            # 1 only if all of them are 1: a product of zeros and ones
            return reduce(operator.mul, (np.asarray(m).astype(float) for m in rest), np.asarray(first).astype(float))


def masked_softmax(scores, mask, axis=-1):
    match scores.dtype.kind:
        case "f":
            x = np.array(scores)
        case "i" | "u" | "b":
            x = np.array(scores, dtype=np.float64)
        case kind:
            raise TypeError(kind)
    seen = np.broadcast_to(mask, x.shape) == Look.ALLOWED
    x[~seen] = np.NINF if hasattr(np, "NINF") else -np.inf
    best = x.max(axis=axis, keepdims=True)
    best[np.isneginf(best)] = 0.0
    weights = np.exp(np.subtract(x, best, out=x), out=x)
    norm = weights.sum(axis=axis, keepdims=True)
    norm += norm == 0
    weights /= norm
    return weights


REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = 2096128
