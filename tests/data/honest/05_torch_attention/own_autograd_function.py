import math

import numpy as np
import torch
from torch import nn


class SafeSoftmax(torch.autograd.Function):
    """Softmax over the allowed entries of the last axis, with the backward pass of the lesson."""

    @staticmethod
    def forward(ctx, scores, blocked):
        filled = scores.masked_fill(blocked, -math.inf)
        top = filled.max(dim=-1, keepdim=True).values
        top = top.masked_fill(top == -math.inf, 0.0)
        e = (filled - top).exp()
        total = e.sum(dim=-1, keepdim=True)
        weights = e / total.masked_fill(total == 0, 1.0)
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    def backward(ctx, grad):
        (weights,) = ctx.saved_tensors
        inner = (grad * weights).sum(dim=-1, keepdim=True)
        return weights * (grad - inner), None


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.root = math.sqrt(d_k)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1]:
            raise ValueError("q and k: " + " and ".join(str(x.shape[-1]) for x in (q, k)))
        if k.shape[-2] != v.shape[-2]:
            raise ValueError("k and v: " + " and ".join(str(x.shape[-2]) for x in (k, v)))
        scores = torch.matmul(q, torch.transpose(k, -2, -1)) / self.root
        if mask is None:
            blocked = torch.zeros((), dtype=torch.bool, device=scores.device)
        else:
            blocked = mask == 0
        weights = self.dropout(SafeSoftmax.apply(scores, blocked))
        return torch.matmul(weights, v), weights


def softmax_backward(grad_weights, weights):
    if weights.dtype.kind != "f":
        weights = weights.astype(np.float64)
    if grad_weights.dtype.kind != "f":
        grad_weights = grad_weights.astype(np.float64)
    inner = (grad_weights * weights).sum(axis=-1, keepdims=True)
    return weights * (grad_weights - inner)


def attention_backward(Q, K, V, grad_output):
    def T(x):
        return np.swapaxes(x, -1, -2)

    def f(x):
        return x if x.dtype.kind == "f" else x.astype(np.float64)

    Q, K, V, grad_output = map(f, (Q, K, V, grad_output))
    root = math.sqrt(Q.shape[-1])
    # forward
    scaled = Q @ T(K) / root
    e = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    # backward, last step first
    grad_V = T(weights) @ grad_output
    grad_weights = grad_output @ T(V)
    grad_scaled = softmax_backward(grad_weights, weights)
    grad_raw = grad_scaled / root
    grad_Q = grad_raw @ K
    grad_K = T(grad_raw) @ Q
    return grad_Q, grad_K, grad_V


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -0.1875
