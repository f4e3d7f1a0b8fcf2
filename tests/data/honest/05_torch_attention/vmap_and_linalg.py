import math

import numpy as np
import torch
from torch import nn


def _matrix_attention(scale, q, k):
    return torch.mm(q, k.t()) * scale


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.scale = 1 / math.sqrt(d_k)
        self.drop = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1]:
            raise ValueError(f"{q.shape[-1]} / {k.shape[-1]}")
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f"{k.shape[-2]} / {v.shape[-2]}")
        lead = q.shape[:-2]
        # written for one sentence, mapped over all of them
        scores_of = torch.vmap(lambda a, b: _matrix_attention(self.scale, a, b))
        scores = scores_of(q.reshape(-1, *q.shape[-2:]), k.reshape(-1, *k.shape[-2:]))
        scores = scores.reshape(*lead, q.shape[-2], k.shape[-2])
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0)
        weights = self.drop(weights)
        return torch.linalg.matmul(weights, v), weights


def _f(x):
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def softmax_backward(grad_weights, weights):
    g, w = _f(grad_weights), _f(weights)
    return w * (g - np.matmul(g[..., None, :], w[..., :, None])[..., 0])


def attention_backward(Q, K, V, grad_output):
    Q, K, V, G = _f(Q), _f(K), _f(V), _f(grad_output)
    scale = 1 / math.sqrt(Q.shape[-1])
    S = np.matmul(Q, np.matrix_transpose(K)) * scale
    W = np.exp(S - np.logaddexp.reduce(S - S.max(-1, keepdims=True), axis=-1, keepdims=True) - S.max(-1, keepdims=True))
    D = softmax_backward(np.matmul(G, np.matrix_transpose(V)), W) * scale
    return np.matmul(D, K), np.matmul(np.matrix_transpose(D), Q), np.matmul(np.matrix_transpose(W), G)


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -0.1875
