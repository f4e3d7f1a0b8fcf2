# A Python loop over the sentences that runs inside torch: torch.vmap of a function of torch with chunk_size=1 calls it
# once for each sentence, and no line of this file is a step.
# Expected: loses marks: ScaledDotProductAttention

import math

import numpy as np
import torch
from torch import nn


def one_by_one(a, b):
    """Return a @ b, made by a loop over the sentences."""
    if a.dim() == 2:
        return a @ b
    return torch.vmap(torch.matmul, chunk_size=1)(a.flatten(0, -3), b.flatten(0, -3)).unflatten(0, a.shape[:-2])


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()  # must come first: nn.Module stores nothing before this
        self.scale = math.sqrt(d_k)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1]:
            raise ValueError(f"queries have {q.shape[-1]} entries but keys have {k.shape[-1]}")
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f"there are {k.shape[-2]} keys but {v.shape[-2]} values")
        scores = one_by_one(q, k.transpose(-1, -2)) / self.scale  # (..., n_q, n_k)
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            blocked = mask == 0
            nothing = blocked.all(dim=-1, keepdim=True)  # rows with every key blocked
            scores = scores.masked_fill(blocked, -torch.inf).masked_fill(nothing, 0.0)  # no NaN at any point
            weights = torch.softmax(scores, dim=-1).masked_fill(nothing, 0.0)
        weights = self.dropout(weights)  # (..., n_q, n_k)
        return one_by_one(weights, v), weights  # (..., n_q, d_v), (..., n_q, n_k)


def softmax_backward(grad_weights, weights):
    weighed = 1.0 * grad_weights * weights  # (..., n)
    return weighed - weights * weighed.sum(axis=-1, keepdims=True)


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V  # integers become float64; float32 stays float32
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root  # (..., n_q, n_k)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)  # (..., n_q, n_k)

    grad_V = weights.swapaxes(-1, -2) @ grad_output  # (..., n_k, d_v)
    grad_weights = grad_output @ V.swapaxes(-1, -2)  # (..., n_q, n_k)
    grad_raw = softmax_backward(grad_weights, weights) / root  # (..., n_q, n_k)
    grad_Q = grad_raw @ K  # (..., n_q, d_k)
    grad_K = grad_raw.swapaxes(-1, -2) @ Q  # (..., n_k, d_k)
    return grad_Q, grad_K, grad_V


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -0.1875
