from math import sqrt

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F


class ScaledDotProductAttention(nn.Module):
    """The scale is a buffer, so that it moves with the layer. It has no axes, so it never changes a dtype."""

    scale: Tensor

    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout should be in [0, 1), got {dropout}")
        self.register_buffer("scale", torch.tensor(sqrt(d_k), dtype=torch.float64), persistent=False)
        self.drop = nn.Dropout(p=dropout) if dropout else nn.Identity()

    def forward(self, q, k, v, mask=None):
        self._check(q, k, v)
        scores = torch.matmul(q, k.mT).div(self.scale)
        if mask is None:
            weights = F.softmax(scores, dim=-1)
        else:
            blocked = mask.logical_not()
            dead = blocked.all(dim=-1, keepdim=True)
            scores = scores.masked_fill(blocked, float("-inf")).masked_fill(dead, 0.0)
            weights = F.softmax(scores, dim=-1).masked_fill(dead, 0.0)
        weights = self.drop(weights)
        return torch.matmul(weights, v), weights

    @staticmethod
    def _check(q, k, v):
        if q.shape[-1] != k.shape[-1]:
            raise ValueError(f"the widths {q.shape[-1]} and {k.shape[-1]} of q and k differ")
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f"the lengths {k.shape[-2]} and {v.shape[-2]} of k and v differ")


def softmax_backward(grad_weights, weights):
    dtype = np.result_type(grad_weights, weights)
    dtype = dtype if np.issubdtype(dtype, np.floating) else np.float64
    product = np.multiply(grad_weights, weights, dtype=dtype)
    product -= weights * product.sum(axis=-1, keepdims=True)
    return product


def _stable_softmax(x):
    x = x - np.maximum.reduce(x, axis=-1, keepdims=True)
    np.exp(x, out=x)
    x /= np.add.reduce(x, axis=-1, keepdims=True)
    return x


def attention_backward(Q, K, V, grad_output):
    dtype = np.result_type(Q, K, V, grad_output)
    if dtype.kind != "f":
        dtype = np.dtype(np.float64)
    Q, K, V, G = (np.asarray(x, dtype=dtype) for x in (Q, K, V, grad_output))
    root = sqrt(Q.shape[-1])
    q = Q / root  # fold the scale into the queries
    W = _stable_softmax(np.matmul(q, K.mT))
    dS = softmax_backward(np.matmul(G, V.mT), W)
    return np.matmul(dS, K) / root, np.matmul(dS.mT, q), np.matmul(W.mT, G)


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -3 / 16
