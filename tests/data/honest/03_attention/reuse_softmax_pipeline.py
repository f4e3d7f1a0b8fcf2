# %% [markdown]
# # 03 · Attention in arrays
#
# I use my softmax of module 01 again. If this file runs on its own (`python attention.py`) there may be no `mylab`
# on the path, so there is a copy below.

# %%
from functools import reduce

import numpy as np

try:
    from mylab.softmax import softmax
except ImportError:

    def softmax(x, axis=-1):
        """My softmax of module 01."""
        x = np.asarray(x)
        if not np.issubdtype(x.dtype, np.floating):
            x = x.astype(np.float64)
        e = np.exp(x - np.max(x, axis=axis, keepdims=True))
        return e / np.sum(e, axis=axis, keepdims=True)


# %%
def pipeline(*steps):
    """pipeline(f, g, h)(x) is h(g(f(x)))"""
    return lambda x: reduce(lambda value, step: step(value), steps, x)


# %%
def project_qkv(X, W_q, W_k, W_v):
    X = 1.0 * X
    return X @ W_q, X @ W_k, X @ W_v


# %%
class ScaledDotProductAttention:
    """Scaled dot-product attention, with one method for each step."""

    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        width_of_q, width_of_k = Q.shape[-1], K.shape[-1]
        if not width_of_q == width_of_k:
            raise ValueError(f"{width_of_q=} {width_of_k=}")
        return (1.0 * Q) @ np.swapaxes(K, -2, -1)

    def scale_scores(self, scores):
        return scores / self.d_k**0.5

    def compute_weights(self, scaled_scores, mask=None):
        if mask is None:
            return softmax(scaled_scores, axis=-1)
        may_look = np.broadcast_to(np.asarray(mask).astype(bool), np.shape(scaled_scores))
        sees_something = may_look.any(axis=-1, keepdims=True)
        # Rows that see nothing get a softmax of zeros (no NaN, no warning) and are cleared afterwards.
        scores = np.where(may_look, scaled_scores, -np.inf)
        scores = np.where(sees_something, scores, 0.0)
        return np.where(sees_something, softmax(scores, axis=-1), 0.0)

    def compute_output(self, weights, V):
        return weights @ (1.0 * V)

    def forward(self, Q, K, V, mask=None):
        number_of_keys, number_of_values = K.shape[-2], V.shape[-2]
        if not number_of_keys == number_of_values:
            raise ValueError(f"{number_of_keys=} {number_of_values=}")
        weights = pipeline(
            lambda queries: self.compute_scores(queries, K),
            self.scale_scores,
            lambda scores: self.compute_weights(scores, mask),
        )(Q)
        return self.compute_output(weights, V), weights

    def explain(self, Q, K, V, tokens, query_idx=0):
        raw = self.compute_scores(Q, K)[query_idx]
        scaled = self.scale_scores(raw)
        weights = self.compute_weights(scaled)
        output = self.compute_output(weights, V)
        order = np.argsort(-weights, kind="stable")  # the most important first
        story = [f"{tokens[query_idx]} asks {len(tokens)} tokens, the best match first."]
        story += [
            f"{rank:>3}. {tokens[j]:<12} raw={raw[j]:+.4f} scaled={scaled[j]:+.4f} weight={weights[j]:.4f}"
            for rank, j in enumerate(order, start=1)
        ]
        story += ["It gets " + " ".join(f"{x:+.4f}" for x in output)]
        return "\n".join(story)


# %%
if __name__ == "__main__":
    tokens = ["The", "cat", "sat", "on", "mat"]
    Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
    head = ScaledDotProductAttention(d_k=4)
    print(head.explain(Q, K, V, tokens, query_idx=1))
    padding = np.array([[[1, 1, 1, 1, 1]], [[1, 1, 1, 0, 0]]])
    padded = head.forward(np.stack([Q, Q]), np.stack([K, K]), np.stack([V, V]), padding)
    assert np.allclose(padded[1][1, :, 3:], 0)


# %%
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    return ScaledDotProductAttention(d_k).forward(Q, K, V, mask)


# %%
REFLECT_SCORE_VARIANCE_DK512 = 512
REFLECT_SCORE_BYTES_FLOAT32_N8192 = 268_435_456
