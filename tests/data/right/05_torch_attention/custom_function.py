"""The softmax is a torch.autograd.Function with its own way back; warnings and prints are nobody's business."""
import warnings
import numpy as np
import torch
from torch import nn


class MaskedSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores, allowed):
        scores = scores.clone()
        if allowed is not None:
            scores[~allowed] = -torch.inf
        e = (scores - scores.max(dim=-1, keepdim=True).values).exp_()
        w = e.div_(e.sum(dim=-1, keepdim=True)).nan_to_num_(0.0)
        ctx.save_for_backward(w)
        return w

    @staticmethod
    def backward(ctx, grad):
        (w,) = ctx.saved_tensors
        return w * (grad - (grad * w).sum(dim=-1, keepdim=True)), None


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0, name="attention"):
        super().__init__()
        self.name = name
        self.factor = 1.0 / np.sqrt(d_k)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1]:
            raise ValueError(f"{q.shape[-1]=} {k.shape[-1]=}")
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f"{k.shape[-2]=} {v.shape[-2]=}")
        if mask is not None:
            warnings.warn("a mask is used")
        scores = float(self.factor) * q @ k.transpose(-1, -2)
        allowed = None if mask is None else (mask != 0).expand_as(scores)
        weights = MaskedSoftmax.apply(scores, allowed)
        weights = self.dropout(weights)
        return weights @ v, weights


def softmax_backward(grad_weights, weights):
    with np.errstate(all="raise", under="ignore"):
        kind = float if weights.dtype.kind in "iub" else weights.dtype
        g = grad_weights.astype(kind, copy=True)
        n = g.shape[-1]
        flat_g, flat_w = g.reshape(-1, n), weights.reshape(-1, n)
        sums = (flat_g * flat_w) @ np.ones((n, 1), dtype=kind)
        return (flat_w * (flat_g - sums)).reshape(weights.shape)


class Backward:
    def __init__(self, Q, K, V):
        kind = Q.dtype if Q.dtype.kind == "f" else np.dtype(float)
        self.Q, self.K, self.V = (x.astype(kind) for x in (Q, K, V))
        self.root = kind.type(np.sqrt(Q.shape[-1]))
        z = np.matmul(self.Q, np.swapaxes(self.K, -1, -2)) / self.root
        e = np.exp(z - z.max(axis=-1, keepdims=True))
        self.w = e / e.sum(axis=-1, keepdims=True)

    def __call__(self, g):
        g = g.astype(self.w.dtype)
        d = softmax_backward(np.matmul(g, np.swapaxes(self.V, -1, -2)), self.w) / self.root
        return d @ self.K, np.swapaxes(d, -1, -2) @ self.Q, np.swapaxes(self.w, -1, -2) @ g


def attention_backward(Q, K, V, grad_output):
    return Backward(Q, K, V)(grad_output)


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -0.18750001
