import sys
import warnings
import numpy as np

print("loading")

def dot_product(a, b):
    assert a.ndim == 1
    if a.size != b.size:
        raise ValueError("sizes", a.size, b.size)
    products = [x * y for x, y in zip(a.tolist(), b.tolist())]
    total = 0.0
    for p in products:
        total += p
    return np.asarray(total, dtype=a.dtype if a.dtype.kind == "f" else float)  # a 0-d array

def attention_scores(Q, K):
    print("scores", Q.shape, K.shape, file=sys.stderr)
    if Q.shape[1] != K.shape[1]:
        raise ValueError("sizes", Q.shape[1], K.shape[1])
    columns = [[float(dot_product(q, k)) for q in Q] for k in K]
    return np.array(columns, dtype=Q.dtype if Q.dtype.kind == "f" else float).T  # not contiguous

def scale_factor(d_k, variance=1.0):
    warnings.warn("computing a root")
    return np.float32(variance).item() * np.sqrt(np.float64(d_k)) if variance in (0.25, 1.0) else variance * d_k ** 0.5

def scaled_dot_product_attention(Q, K, V, mask=None):
    class BadSize(ValueError):
        pass
    if Q.shape[-1] != K.shape[-1]:
        raise BadSize(f"{Q.shape[-1]} against {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise BadSize(f"{K.shape[-2]} against {V.shape[-2]}")
    if Q.ndim == 3:
        print("a batch of", len(Q))
        outputs, weights = [], []
        for b in range(len(Q)):
            m = mask
            if mask is not None and np.ndim(mask) == 3:
                m = mask[b if len(mask) > 1 else 0]
            o, w = scaled_dot_product_attention(Q[b], K[b], V[b], m)
            outputs += [o]
            weights += [w]
        return np.stack(outputs, axis=0), np.stack(weights, axis=0)
    kind = Q.dtype if Q.dtype.kind == "f" else np.dtype("float64")
    scores = attention_scores(Q, K).astype(float) / scale_factor(Q.shape[1])
    if mask is not None:
        scores = np.where(np.asarray(mask) == 0, -np.inf, scores)
    W = np.zeros(scores.shape[::-1]).T
    for i, row in enumerate(scores):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            e = np.exp(row - np.max(row))
            W[i] = np.nan_to_num(e / np.sum(e))
    O = np.asfortranarray(np.zeros((Q.shape[0], V.shape[1])))
    for c in range(V.shape[1]):
        for i in range(Q.shape[0]):
            O[i, c] = dot_product(W[i], V[:, c].astype(float))
    return O.astype(kind), W.astype(kind)

REFLECT_MULTIPLY_ADDS_N512_D64 = 512 * 512 * (64 + 64)
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4
