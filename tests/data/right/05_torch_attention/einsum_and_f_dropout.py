import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k: int, dropout: float = 0.0):
        super().__init__()
        self.d_k = d_k
        self.p = dropout

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        scores = torch.einsum("...qd,...kd->...qk", q, k) * self.d_k ** -0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = F.dropout(weights, self.p, self.training)
        output = torch.einsum("...qk,...kd->...qd", weights, v)
        return output, weights


def softmax_backward(grad_weights, weights):
    g, w = np.asarray(grad_weights), np.asarray(weights)
    inner = np.einsum("...i,...i->...", g, w)
    result = w * (g - inner[..., None])
    return result if result.dtype.kind == "f" else result.astype(np.float64)


def attention_backward(Q, K, V, grad_output):
    dtype = Q.dtype if Q.dtype.kind == "f" else np.float64
    Q, K, V, dO = (x.astype(dtype) for x in (Q, K, V, grad_output))
    s = dtype(Q.shape[-1] ** -0.5) if isinstance(dtype, type) else dtype.type(Q.shape[-1] ** -0.5)
    S = np.einsum("...qd,...kd->...qk", Q, K) * s
    P = np.exp(S - S.max(-1, keepdims=True))
    P /= P.sum(-1, keepdims=True)
    dV = np.einsum("...qk,...qd->...kd", P, dO)
    dP = np.einsum("...qd,...kd->...qk", dO, V)
    dS = P * (dP - np.einsum("...qk,...qk->...q", P, dP)[..., None]) * s
    dQ = np.einsum("...qk,...kd->...qd", dS, K)
    dK = np.einsum("...qk,...qd->...kd", dS, Q)
    return dQ, dK, dV


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -0.25 * 0.75
