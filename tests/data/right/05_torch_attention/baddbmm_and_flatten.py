"""One leading dimension inside: flatten, baddbmm with the mask as a bias, bmm, unflatten."""
import math
import torch
from torch import nn
import numpy as np


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.drop = nn.Dropout(p=dropout)

    def extra_repr(self):
        return f"d_k={self.d_k}"

    def forward(self, q, k, v, mask=None):
        *lead, n_q, width = q.shape
        n_k = k.shape[-2]
        if width != k.shape[-1]:
            raise ValueError("d_k of q is %d but of k is %d" % (width, k.shape[-1]))
        if n_k != v.shape[-2]:
            raise ValueError("%d keys, %d values" % (n_k, v.shape[-2]))
        flat_q, flat_k, flat_v = (x.reshape(-1, x.shape[-2], x.shape[-1]) for x in (q, k, v))
        bias = torch.zeros(flat_q.shape[0], n_q, n_k, dtype=q.dtype, device=q.device)
        scores = torch.baddbmm(bias, flat_q, flat_k.mT, beta=1, alpha=1 / math.sqrt(self.d_k))
        scores = scores.view(*lead, n_q, n_k)
        if mask is None:
            weights = scores.softmax(-1)
        else:
            allowed = mask.to(torch.bool).expand(scores.shape)
            lowest = torch.finfo(scores.dtype).min
            weights = torch.where(allowed, scores, torch.full_like(scores, lowest)).softmax(-1)
            weights = torch.where(allowed, weights, torch.zeros_like(weights))
        weights = self.drop(weights)
        output = torch.bmm(weights.reshape(-1, n_q, n_k), flat_v)
        return output.view(*lead, n_q, v.shape[-1]), weights


def _promote(*arrays):
    kind = np.result_type(*arrays)
    if kind.kind != "f":
        kind = np.dtype("float64")
    return [np.array(a, dtype=kind) for a in arrays]


def softmax_backward(grad_weights, weights):
    g, w = _promote(grad_weights, weights)
    g -= np.sum(g * w, axis=-1, keepdims=True)   # g is a copy of ours
    g *= w
    return g


def attention_backward(Q, K, V, grad_output):
    Q, K, V, grad_output = _promote(Q, K, V, grad_output)
    lead = Q.shape[:-2]
    q, k, v, g = (x.reshape(-1, *x.shape[-2:]) for x in (Q, K, V, grad_output))
    root = float(np.sqrt(Q.shape[-1]))
    s = np.matmul(q / root, k.transpose(0, 2, 1))
    w = np.exp(s - np.max(s, axis=2, keepdims=True))
    w = w / np.sum(w, axis=2, keepdims=True)
    dw = np.matmul(g, v.transpose(0, 2, 1))
    ds = softmax_backward(dw, w)
    return (
        (np.matmul(ds, k) / root).reshape(Q.shape),
        (np.matmul(ds.transpose(0, 2, 1), q / root)).reshape(K.shape),
        np.matmul(w.transpose(0, 2, 1), g).reshape(*lead, *V.shape[-2:]),
    )


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -3 / 16
