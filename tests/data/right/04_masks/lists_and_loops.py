import math
import numpy as np

def create_causal_mask(seq_len):
    if seq_len <= 0:
        raise ValueError("seq_len = %d, but at least one token is needed" % seq_len)
    rows = []
    for i in range(seq_len):
        row = []
        for j in range(seq_len):
            row.append(1 if i >= j else 0)
        rows.append(row)
    return np.array(rows)

def create_padding_mask(lengths, max_length):
    rows = []
    for n in list(lengths):
        if n > max_length:
            raise ValueError(f"sentence of {n} tokens, room for {max_length}")
        if n < 0:
            raise ValueError(f"sentence of {n} tokens")
        rows.append([[[1.0] * int(n) + [0.0] * (max_length - int(n))]])
    return np.array(rows)

def combine_masks(*masks):
    if len(masks) == 0:
        raise ValueError
    shape = np.broadcast_shapes(*[m.shape for m in masks])
    result = np.ones(shape, dtype=int)
    for m in masks:
        big = np.broadcast_to(m, shape)
        for where in np.ndindex(*shape):
            if not big[where]:
                result[where] = 0
    return result

def one_slice(xs, oks):
    kept = [x for x, ok in zip(xs, oks) if ok]
    if not kept:
        return [0.0] * len(xs)
    top = max(kept)
    exps = [math.exp(x - top) if ok else 0.0 for x, ok in zip(xs, oks)]
    total = math.fsum(exps)
    return [e / total for e in exps]

def masked_softmax(scores, mask, axis=-1):
    dtype = np.float32 if scores.dtype == np.float32 else np.float64
    x = np.moveaxis(scores, axis, -1)
    ok = np.moveaxis(np.broadcast_to(mask, scores.shape), axis, -1)
    out = np.zeros(x.shape, dtype)
    for where in np.ndindex(*x.shape[:-1]):
        out[where] = one_slice(x[where].tolist(), ok[where].tolist())
    return np.moveaxis(out, -1, axis)

REFLECT_BLOCKED_LINKS_CAUSAL_N2048 = sum(range(2048))
