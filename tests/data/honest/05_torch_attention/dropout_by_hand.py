import math

import numpy as np
import torch
from torch import nn


class InvertedDropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        assert 0.0 <= p < 1.0, p
        self.p = p

    def forward(self, x):
        if not self.training or self.p == 0.0:
            return x
        keep = torch.rand_like(x) >= self.p
        return x * keep / (1.0 - self.p)


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.inverted_dropout = InvertedDropout(dropout)

    def forward(self, q, k, v, mask=None):
        *lead, n_q, d_q = q.shape
        *_, n_k, d_k = k.shape
        *_, n_v, d_v = v.shape
        if d_q != d_k:
            raise ValueError(f"d_k: {d_q} in q, {d_k} in k")
        if n_k != n_v:
            raise ValueError(f"n_k: {n_k} in k, {n_v} in v")
        # fold all leading axes into one and use the batched product
        scores = torch.bmm(q.reshape(-1, n_q, d_q), k.reshape(-1, n_k, d_k).transpose(1, 2))
        scores = scores.reshape(*lead, n_q, n_k) * (1.0 / math.sqrt(self.d_k))
        if mask is not None:
            lowest = torch.finfo(scores.dtype).min
            blocked = mask.eq(0)
            scores = scores.masked_fill(blocked, lowest)
            weights = scores.softmax(-1).masked_fill(blocked, 0.0)
        else:
            weights = scores.softmax(-1)
        weights = self.inverted_dropout(weights)
        output = torch.bmm(weights.reshape(-1, n_q, n_k), v.reshape(-1, n_k, d_v))
        return output.reshape(*lead, n_q, d_v), weights


def softmax_backward(grad_weights, weights):
    grad_weights = np.array(grad_weights, dtype=np.result_type(grad_weights, np.float32))
    weights = np.array(weights, dtype=np.result_type(weights, np.float32))
    # dL/ds = J^T g with J = diag(w) - w w^T, without ever making J
    diag_part = weights * grad_weights
    outer_part = weights * diag_part.sum(axis=-1, keepdims=True)
    return diag_part - outer_part


def attention_backward(Q, K, V, grad_output):
    Q, K, V, grad_output = [np.asarray(a, dtype=np.result_type(a, np.float32)) for a in (Q, K, V, grad_output)]
    c = 1.0 / math.sqrt(Q.shape[-1])
    logits = c * np.matmul(Q, np.moveaxis(K, -1, -2))
    logits -= logits.max(axis=-1, keepdims=True)
    P = np.exp(logits)
    P /= P.sum(axis=-1, keepdims=True)
    dP = np.matmul(grad_output, np.moveaxis(V, -1, -2))
    dL = c * softmax_backward(dP, P)
    return np.matmul(dL, K), np.matmul(np.moveaxis(dL, -1, -2), Q), np.matmul(np.moveaxis(P, -1, -2), grad_output)


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -(0.25 * 0.75)
