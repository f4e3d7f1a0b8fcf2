"""First drafts of 05_torch_attention: what is not in a cell is as in the stub."""

import math

import numpy as np
import torch
from torch import nn

# %% minus_1e9
# Blocked scores are -1e9: a row with every key blocked has equal weights, and float16 cannot hold the number
# Expected: ScaledDotProductAttention.forward: value


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1]:
            raise ValueError(f"{q.shape[-1]} and {k.shape[-1]}")
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f"{k.shape[-2]} and {v.shape[-2]}")
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = self.dropout(torch.softmax(scores, dim=-1))
        return weights @ v, weights


# %% no_scale
# The division was forgotten, and dropout is never used; the gradients are not written
# Expected: ScaledDotProductAttention.forward: value


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k

    def forward(self, q, k, v, mask=None):
        scores = q @ k.transpose(-2, -1)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        return weights @ v, weights


# %% backward_without_the_sum
# The layer is not written; the gradient of the softmax is that of a sigmoid
# Expected: softmax_backward: value


def softmax_backward(grad_weights, weights):
    return grad_weights * weights * (1 - weights)


# %% super_forgotten
# The constructor does not call nn.Module's own
# Expected: ScaledDotProductAttention.forward: raises


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        self.scale = d_k**0.5
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        weights = torch.softmax(q @ k.transpose(-2, -1) / self.scale, dim=-1)
        return weights @ v, weights
