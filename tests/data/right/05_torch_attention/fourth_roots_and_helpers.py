"""Queries and keys share the scale, as careful kernels do; the mask is a product with finite numbers only."""
from functools import partial
import math
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def _same(name, a, b):
    if a != b:
        raise ValueError(f"{name}: {a} is not {b}")


class Softmax(nn.Module):
    def forward(self, x, allowed=None):
        if allowed is None:
            return F.softmax(x, -1)
        top = torch.where(allowed, x, torch.tensor(-torch.inf, dtype=x.dtype)).max(-1, keepdim=True).values
        top = torch.nan_to_num(top, neginf=0.0).detach()
        exps = torch.exp(torch.where(allowed, x - top, torch.tensor(-torch.inf, dtype=x.dtype)))
        total = exps.sum(-1, keepdim=True)
        return exps / torch.where(total == 0, torch.ones_like(total), total)


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.root = math.pow(d_k, 0.25)
        self.softmax = Softmax()
        self.after = nn.Sequential(nn.Identity(), nn.Dropout(dropout))

    def forward(self, q, k, v, mask=None):
        _same("widths", q.shape[-1], k.shape[-1])
        _same("lengths", k.shape[-2], v.shape[-2])
        scores = torch.matmul(q / self.root, (k / self.root).swapaxes(-1, -2))
        allowed = None if mask is None else mask.bool().broadcast_to(scores.shape)
        weights = self.after(self.softmax(scores, allowed))
        return torch.matmul(weights, v), weights


T = partial(np.swapaxes, axis1=-1, axis2=-2)


def softmax_backward(grad_weights, weights):
    centred = grad_weights - np.vecdot(grad_weights * 1.0, weights, axis=-1)[..., np.newaxis]
    return np.multiply(centred, weights)


def attention_backward(Q, K, V, grad_output):
    Q, K, V = np.multiply(Q, 1.0), np.multiply(K, 1.0), np.multiply(V, 1.0)
    scale = Q.shape[-1] ** 0.5
    scores = T(K @ T(Q)) / scale
    weights = np.exp(scores - scores.max(-1)[..., None])
    weights = weights / weights.sum(-1)[..., None]
    back = softmax_backward(T(V @ T(grad_output)), weights) / scale
    return np.matmul(back, K), np.matmul(T(back), Q), np.matmul(T(weights), grad_output)


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -(0.25 - 0.25 ** 2)
