import math

import numpy as np

# scale factors that were computed before
SCALES = {}
CALLS = 0


def dot_product(a, b):
    global CALLS
    CALLS += 1
    n = len(a)
    if n != len(b):
        raise ValueError(f"cannot multiply {n} entries by {len(b)} entries")
    total = 0.0
    i = n
    while i:
        i -= 1
        total += a[i] * b[i]
    return total


def attention_scores(Q, K):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"cannot compare width {Q.shape[-1]} with width {K.shape[-1]}")
    result = []
    for q in Q:
        row = []
        for k in K:
            row += [dot_product(q, k)]
        result += [row]
    kinds = {Q.dtype.name, K.dtype.name}
    return np.array(result).astype("float32" if kinds == {"float32"} else "float64")


def scale_factor(d_k, variance=1.0):
    try:
        return SCALES[d_k, variance]
    except KeyError:
        SCALES[d_k, variance] = result = variance * math.sqrt(d_k)
        return result


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"cannot compare width {Q.shape[-1]} with width {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"cannot pair {K.shape[-2]} keys with {V.shape[-2]} values")
    if mask is None:
        mask = np.bool_(True)
    mask = np.broadcast_to(mask, tuple(Q.shape[:-1]) + (K.shape[-2],))
    if Q.ndim == 3:
        outs, ws = [], []
        for parts in zip(Q, K, V, mask):
            o, w = scaled_dot_product_attention(*parts)
            outs.append(o), ws.append(w)
        return np.array(outs), np.array(ws)
    S = attention_scores(Q, K).astype(float)
    S /= scale_factor(Q.shape[-1])
    W = []
    for row, seen in zip(S, mask):
        seen = [bool(x) for x in seen]
        if not any(seen):
            W.append([0.0 for _ in seen])
            continue
        top = max(s for s, ok in zip(row, seen) if ok)
        exps = [math.exp(s - top) * 1 if ok else 0.0 for s, ok in zip(row, seen)]
        norm = sum(exps)
        W.append([e / norm for e in exps])
    O = []
    for w in W:
        O.append([dot_product(w, V[:, c]) for c in range(V.shape[-1])])
    names = {x.dtype.name for x in (Q, K, V)}
    kind = "float32" if names == {"float32"} else "float64"
    return np.array(O, dtype=kind), np.array(W, dtype=kind)


if __name__ == "__main__":
    print("dot products so far:", CALLS)

REFLECT_MULTIPLY_ADDS_N512_D64 = 512 * 512 * 64 * 2
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 2 * 2
