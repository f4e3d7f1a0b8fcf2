from __future__ import annotations
from dataclasses import dataclass
import numpy as np

def dot_product(a, b):
    if len(a) != len(b):
        raise ValueError(f"len(a) is {len(a)}, len(b) is {len(b)}")
    return Vector(a).times(Vector(b))

@dataclass
class Vector:
    entries: np.ndarray

    def times(self, other: "Vector"):
        total = 0.0
        for position, entry in enumerate(self.entries):
            total += entry * other.entries[position]
        return total

@dataclass(frozen=True)
class Head:
    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    mask: np.ndarray

    def scores(self, i):
        row = attention_scores(self.Q[i : i + 1], self.K)[0]
        return row / row.dtype.type(scale_factor(self.Q.shape[1]))

    def weights(self, i):
        scores = np.where(self.mask[i], self.scores(i), -np.inf)
        if not self.mask[i].any():
            return np.zeros(len(self.K))
        exps = np.exp(scores - scores.max())
        return exps / exps.sum()

    def output(self, weights):
        result = np.zeros(self.V.shape[1])
        for c in range(self.V.shape[1]):
            for j in range(len(self.V)):
                result[c] += weights[j] * self.V[j][c]
        return result

    def run(self):
        weights = [self.weights(i) for i in range(len(self.Q))]
        return np.stack([self.output(row) for row in weights]), np.stack(weights)

def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"Q is {Q.shape[1]} wide, K is {K.shape[1]} wide")
    scores = np.zeros((len(Q), len(K)), dtype=np.promote_types(Q.dtype, np.float32) if Q.dtype.kind == "f" else float)
    for (i, j), _ in np.ndenumerate(scores):
        scores[i, j] = dot_product(Q[i], K[j])
    return scores

def scale_factor(d_k, variance=1.0):
    return (d_k * variance * variance) ** 0.5

def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q is {Q.shape[-1]} wide, K is {K.shape[-1]} wide")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K is {K.shape[-2]} long, V is {V.shape[-2]} long")
    kind = Q.dtype if Q.dtype.kind == "f" else np.float64
    shape = (*Q.shape[:-1], K.shape[-2])
    mask = np.ones(shape, bool) if mask is None else np.broadcast_to(mask, shape).astype(bool)
    if Q.ndim == 2:
        output, weights = Head(Q, K, V, mask).run()
    else:
        heads = [Head(*parts).run() for parts in zip(Q, K, V, mask)]
        output, weights = (np.stack(parts) for parts in zip(*heads))
    return output.astype(kind), weights.astype(kind)

REFLECT_MULTIPLY_ADDS_N512_D64 = 512 * 512 * (64 + 64)
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4
