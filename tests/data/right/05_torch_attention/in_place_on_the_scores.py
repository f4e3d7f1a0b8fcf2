import math
import numpy as np
import torch
import torch.nn as nn

print("loading torch_attention")


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k, self.rate = d_k, dropout
        self.dropout = nn.Dropout(dropout)
        self.last = None

    def forward(self, q, k, v, mask=None):
        print("attending", tuple(q.shape))
        self._check(q, k, v)
        scores = q @ k.transpose(-1, -2)
        scores /= math.sqrt(self.d_k)                      # scores are ours: in place is fine
        if mask is not None:
            scores.masked_fill_(mask == 0, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        weights = torch.nan_to_num(weights, nan=0.0)
        weights = self.dropout(weights)
        self.last = weights.detach()                       # to look at, never used again
        return torch.matmul(weights, v), weights

    @staticmethod
    def _check(q, k, v):
        if q.shape[-1] != k.shape[-1]:
            raise ValueError(f"q: {list(q.shape)}, k: {list(k.shape)}")
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f"k: {list(k.shape)}, v: {list(v.shape)}")


def softmax_backward(grad_weights, weights):
    out = np.empty(weights.shape, dtype=np.result_type(grad_weights, weights, np.float32)
                   if weights.dtype == np.float32 else np.float64)
    np.multiply(grad_weights, weights, out=out, casting="unsafe")
    total = out.sum(axis=-1, keepdims=True)
    out -= total * weights
    return out


def attention_backward(Q, K, V, grad_output):
    if Q.dtype.kind in "iu":
        Q, K, V, grad_output = (x.astype(float) for x in (Q, K, V, grad_output))
    d = Q.shape[-1] ** 0.5
    KT, VT = np.moveaxis(K, -1, -2), np.moveaxis(V, -1, -2)
    w = Q @ KT
    w /= d
    w -= w.max(axis=-1, keepdims=True)
    np.exp(w, out=w)
    w /= w.sum(axis=-1, keepdims=True)
    gS = softmax_backward(grad_output @ VT, w)
    gS /= d
    gK = np.moveaxis(np.moveaxis(Q, -1, -2) @ gS, -1, -2)     # not contiguous
    gV = np.moveaxis(np.moveaxis(grad_output, -1, -2) @ w, -1, -2)
    return gS @ K, gK, gV


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -0.1875
