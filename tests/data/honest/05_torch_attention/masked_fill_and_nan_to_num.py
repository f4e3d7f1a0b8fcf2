import math

import numpy as np
import torch
from torch import nn


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1]:
            raise ValueError(f"q is {q.shape[-1]} wide, k is {k.shape[-1]} wide")
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f"k is {k.shape[-2]} long, v is {v.shape[-2]} long")
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = torch.nan_to_num(torch.softmax(scores, dim=-1), nan=0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


def softmax_backward(grad_weights, weights):
    grad_weights, weights = np.asarray(grad_weights), np.asarray(weights)
    total = np.sum(grad_weights * weights, axis=-1, keepdims=True)
    result = weights * (grad_weights - total)
    return result if result.dtype.kind == "f" else result.astype(np.float64)


def attention_backward(Q, K, V, grad_output):
    Q, K, V, grad_output = (x if x.dtype.kind == "f" else x.astype(float) for x in (Q, K, V, grad_output))
    scale = math.sqrt(Q.shape[-1])
    S = Q @ K.swapaxes(-1, -2) / scale
    W = np.exp(S - S.max(axis=-1, keepdims=True))
    W /= W.sum(axis=-1, keepdims=True)
    dV = W.swapaxes(-1, -2) @ grad_output
    dW = grad_output @ V.swapaxes(-1, -2)
    dS = softmax_backward(dW, W) / scale
    return dS @ K, dS.swapaxes(-1, -2) @ Q, dV


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -0.25 * 0.75
