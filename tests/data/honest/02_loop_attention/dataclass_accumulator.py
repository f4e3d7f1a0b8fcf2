# %% [markdown]
# # 02 · Attention in loops
#
# My idea: two small dataclasses. `RunningSum` is the variable `total` with a name, and `QueryRow` is everything
# I know about one query while I walk over the keys.

# %%
from dataclasses import dataclass, field

import numpy as np

# %%
if __name__ == "__main__":
    tokens = ["The", "cat", "sat", "on", "mat"]
    Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])


# %%
@dataclass
class RunningSum:
    """A total that starts at 0 every time one is made (so nothing is left over from the last call)."""

    total: float = 0.0

    def add(self, amount):
        self.total = self.total + amount
        return self


@dataclass
class QueryRow:
    """The scaled scores of one query and which of its keys it may see."""

    scores: np.ndarray
    allowed: np.ndarray
    seen: list[int] = field(init=False)

    def __post_init__(self):
        self.seen = [j for j, ok in enumerate(self.allowed) if ok]

    def exponentials(self):
        """Return {key: exponential}, only for the keys that are allowed."""
        if not self.seen:
            return {}
        largest = max(self.scores[j] for j in self.seen)
        return {j: np.exp(self.scores[j] - largest) for j in self.seen}

    def shares(self):
        """Return {key: weight}. Keys that are not in the dict have the weight 0."""
        exps = self.exponentials()
        total = RunningSum()
        for e in exps.values():
            total.add(e)
        return {j: e / total.total for j, e in exps.items()}


def float_type(*arrays):
    """float32 if everything is float32, otherwise float64."""
    if all(x.dtype == np.float32 for x in arrays):
        return np.float32
    return np.float64


# %%
def dot_product(a, b):
    """Return the sum of a[0]*b[0], a[1]*b[1] and so on: one number."""
    if len(a) != len(b):
        raise ValueError(f"cannot compare a vector of length {len(a)} with one of length {len(b)}")
    total = RunningSum()
    for x, y in zip(a, b, strict=True):
        total.add(x * y)
    return total.total


# %%
# Try dot_product: the query of The and the key of mat.
if __name__ == "__main__":
    print("The · mat:", dot_product(Q[0], K[4]))
    assert np.isclose(dot_product(Q[0], K[4]), 1.5), "the lesson adds it up"


# %%
def attention_scores(Q, K):
    """Return the raw scores, not scaled: entry [i, j] is the dot product of query i and key j."""
    Q, K = np.asarray(Q), np.asarray(K)
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"the queries are {Q.shape[-1]} wide and the keys are {K.shape[-1]} wide")
    scores = np.zeros((len(Q), len(K)), dtype=float_type(Q, K))
    for i, query in enumerate(Q):
        for j, key in enumerate(K):
            scores[i, j] = dot_product(query, key)
    return scores


# %%
if __name__ == "__main__":
    print(attention_scores(Q, K))
    assert np.allclose(attention_scores(Q, K)[1], [3, 0, 2, 1, 0.5]), "see row cat of the raw scores"
    assert attention_scores(Q[:2], K).shape == (2, 5), "two queries against five keys"


# %%
def scale_factor(d_k, variance=1.0):
    """Return the number that scores are divided by: the standard deviation of a dot product."""
    return float(variance * np.sqrt(d_k))


# %%
if __name__ == "__main__":
    assert np.allclose([scale_factor(4), scale_factor(64), scale_factor(4, variance=3.0)], [2, 8, 6])


# %%
def scaled_dot_product_attention(Q, K, V, mask=None):
    """Return (output, weights) of scaled dot-product attention."""
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"the queries are {Q.shape[-1]} wide and the keys are {K.shape[-1]} wide")
    n_q, n_k, d_v = Q.shape[-2], K.shape[-2], V.shape[-1]
    if n_k != V.shape[-2]:
        raise ValueError(f"there are {n_k} keys but {V.shape[-2]} values")

    if mask is None:
        mask = np.ones((n_q, n_k), dtype=bool)
    mask = np.broadcast_to(mask, Q.shape[:-1] + (n_k,))

    if Q.ndim == 3:
        outputs, all_weights = [], []
        for b in range(Q.shape[0]):
            o, w = scaled_dot_product_attention(Q[b], K[b], V[b], mask[b])
            outputs.append(o)
            all_weights.append(w)
        return np.stack(outputs), np.stack(all_weights)

    scores = attention_scores(Q, K) / scale_factor(Q.shape[-1])
    weights = np.zeros_like(scores)
    output = np.zeros((n_q, d_v), dtype=scores.dtype)
    for i in range(n_q):
        row = QueryRow(scores[i], mask[i]).shares()
        for j, weight in row.items():
            weights[i, j] = weight
        for c in range(d_v):
            mixed = RunningSum()
            for j, weight in row.items():
                mixed.add(weight * V[j, c])
            output[i, c] = mixed.total
    return output, weights


# %%
if __name__ == "__main__":
    output, weights = scaled_dot_product_attention(Q, K, V)
    _, causal = scaled_dot_product_attention(Q, K, V, mask=np.tri(5))
    print(output.round(4), weights.round(4), causal.round(4), sep="\n\n")
    assert np.allclose(weights[0], [0.1095, 0.2976, 0.1805, 0.1805, 0.2318], atol=1e-4), "see row The of the weights"
    assert np.allclose(output[0], [0.2254, 0.4135, 0.2964, 0.2964], atol=1e-4), "see row The of the output"
    assert np.allclose(causal[1], [0.8176, 0.1824, 0, 0, 0], atol=1e-4), "see row cat of the causal weights"

# %% [markdown]
# ## Reflect
#
# scores: 512 * 512 * 64, output: 512 * 512 * 64. Twice as many tokens means twice the queries and twice the keys.

# %%
REFLECT_MULTIPLY_ADDS_N512_D64 = 512 * 512 * (64 + 64)
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4
