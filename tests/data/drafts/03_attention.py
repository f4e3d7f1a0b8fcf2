"""First drafts of 03_attention: what is not in a cell is as in the stub."""

import numpy as np

# %% forgotten_self
# A plain product, which keeps integers, and then a method that is called without `self`
# Expected: ScaledDotProductAttention.scale_scores: raises


def project_qkv(X, W_q, W_k, W_v):
    return X @ W_q, X @ W_k, X @ W_v


class ScaledDotProductAttention:
    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"widths {Q.shape[-1]} and {K.shape[-1]}")
        return Q @ np.swapaxes(K, -1, -2)

    def scale_scores(self, scores):
        return scores / np.sqrt(d_k)

    def compute_weights(self, scaled_scores, mask=None):
        raise NotImplementedError

    def compute_output(self, weights, V):
        return weights @ V

    def forward(self, Q, K, V, mask=None):
        raise NotImplementedError


# %% softmax_before_the_mask
# Plain products keep integers; the weights are masked after the softmax
# Expected: ScaledDotProductAttention.compute_weights: value


def project_qkv(X, W_q, W_k, W_v):
    return X @ W_q, X @ W_k, X @ W_v


class ScaledDotProductAttention:
    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q has width {Q.shape[-1]}, K has width {K.shape[-1]}")
        return Q @ K.swapaxes(-1, -2)

    def scale_scores(self, scores):
        return scores / self.d_k**0.5

    def compute_weights(self, scaled_scores, mask=None):
        e = np.exp(scaled_scores - scaled_scores.max(axis=-1, keepdims=True))
        w = e / e.sum(axis=-1, keepdims=True)
        if mask is not None:
            w = w * mask
        return w

    def compute_output(self, weights, V):
        return weights @ V

    def forward(self, Q, K, V, mask=None):
        w = self.compute_weights(self.scale_scores(self.compute_scores(Q, K)), mask)
        return self.compute_output(w, V), w


# %% inverted_mask
# `~mask`: an error for floats, and of integers it is never 0
# Expected: ScaledDotProductAttention.compute_weights: raises or value


def project_qkv(X, W_q, W_k, W_v):
    X = np.asarray(X, dtype=X.dtype if X.dtype.kind == "f" else float)
    return X @ W_q, X @ W_k, X @ W_v


class ScaledDotProductAttention:
    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"Q has width {Q.shape[-1]}, K has width {K.shape[-1]}")
        return Q @ K.swapaxes(-1, -2)

    def scale_scores(self, scores):
        return scores / np.sqrt(self.d_k)

    def compute_weights(self, scaled_scores, mask=None):
        if mask is not None:
            scaled_scores = np.where(~mask, -np.inf, scaled_scores)
        e = np.exp(scaled_scores - scaled_scores.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)


# %% transposed_with_T
# `K.T` turns all axes of a batch round; the plain case is right, and the rest is not written
# Expected: ScaledDotProductAttention.compute_scores: value


def project_qkv(X, W_q, W_k, W_v):
    X = X if X.dtype.kind == "f" else X.astype(np.float64)
    return X @ W_q, X @ W_k, X @ W_v


class ScaledDotProductAttention:
    def __init__(self, d_k):
        self.d_k = d_k

    def compute_scores(self, Q, K):
        if Q.shape[-1] != K.shape[-1]:
            raise ValueError(f"widths differ: {Q.shape[-1]} and {K.shape[-1]}")
        Q = Q if Q.dtype.kind == "f" else Q.astype(np.float64)
        return Q @ K.T


# %% function_only
# The class is left for later; the function has the formula, without a mask and without refusals
# Expected: scaled_dot_product_attention: value


def project_qkv(X, W_q, W_k, W_v):
    X = X if X.dtype.kind == "f" else X.astype(np.float64)
    return X @ W_q, X @ W_k, X @ W_v


def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ K.T / np.sqrt(K.shape[1])
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return weights @ V, weights
