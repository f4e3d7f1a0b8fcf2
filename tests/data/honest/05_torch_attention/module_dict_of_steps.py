import math
from collections import OrderedDict

import numpy as np
import torch
from torch import nn

from mylab.softmax import softmax as numpy_softmax


class Scale(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.factor = 1 / math.sqrt(width)

    def forward(self, x):
        return x * self.factor


class Block(nn.Module):
    """Blocked scores become minus infinity. Rows without any key become 0 and are repaired by Unblock."""

    def forward(self, scores, mask):
        if mask is None:
            return scores, None
        allowed = mask.to(torch.bool)
        alive = allowed.any(-1, keepdim=True)
        hidden = torch.full_like(scores, -torch.inf)
        return torch.where(alive, torch.where(allowed, scores, hidden), torch.zeros_like(scores)), alive


class Unblock(nn.Module):
    def forward(self, weights, alive):
        return weights if alive is None else torch.where(alive, weights, torch.zeros_like(weights))


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.steps = nn.ModuleDict(
            OrderedDict(
                scale=Scale(d_k), block=Block(), softmax=nn.Softmax(dim=-1), unblock=Unblock(), drop=nn.Dropout(dropout)
            )
        )

    def forward(self, q, k, v, mask=None):
        for name, a, b, axis in (("width", q, k, -1), ("length", k, v, -2)):
            if a.shape[axis] != b.shape[axis]:
                raise ValueError(f"{name}s {a.shape[axis]} and {b.shape[axis]} differ")
        scores = self.steps["scale"](q) @ k.swapaxes(-1, -2)
        scores, alive = self.steps["block"](scores, mask)
        weights = self.steps["softmax"](scores)
        weights = self.steps["unblock"](weights, alive)
        weights = self.steps["drop"](weights)
        return weights @ v, weights


def softmax_backward(grad_weights, weights):
    w = weights * 1.0 if weights.dtype.kind != "f" else weights
    g = grad_weights * 1.0 if grad_weights.dtype.kind != "f" else grad_weights
    return w * (g - np.vecdot(g, w)[..., None])


def attention_backward(Q, K, V, grad_output):
    arrays = [a.astype(float) if a.dtype.kind != "f" else a for a in (Q, K, V, grad_output)]
    Q, K, V, dO = arrays
    root = math.sqrt(Q.shape[-1])
    W = numpy_softmax(Q @ K.swapaxes(-1, -2) / root)
    dS = softmax_backward(dO @ V.swapaxes(-1, -2), W) / root
    return dS @ K, dS.swapaxes(-1, -2) @ Q, W.swapaxes(-1, -2) @ dO


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -0.1875
