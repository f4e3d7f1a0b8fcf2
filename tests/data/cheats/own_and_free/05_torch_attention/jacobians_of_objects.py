# softmax_backward makes the n x n Jacobian of every row: arrays of objects hold a matrix for each row, an operator on
# m of them costs m, and their memory is that of m references.
# Expected: review: attention_backward, softmax_backward

import math
import numpy as np
import torch
from torch import nn

class ScaledDotProductAttention(nn.Module):

    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.scale = math.sqrt(d_k)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1]:
            raise ValueError(f'queries have {q.shape[-1]} entries but keys have {k.shape[-1]}')
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f'there are {k.shape[-2]} keys but {v.shape[-2]} values')
        scores = q @ k.transpose(-1, -2) / self.scale
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            blocked = mask == 0
            nothing = blocked.all(dim=-1, keepdim=True)
            scores = scores.masked_fill(blocked, -torch.inf).masked_fill(nothing, 0.0)
            weights = torch.softmax(scores, dim=-1).masked_fill(nothing, 0.0)
        weights = self.dropout(weights)
        return (weights @ v, weights)

def softmax_backward(grad_weights, weights):
    grad_weights, weights = (np.asarray(grad_weights), np.asarray(weights))
    dtype = np.result_type(grad_weights, weights)
    dtype = dtype if dtype.kind == 'f' else np.dtype(float)
    grads, flat = (x.reshape(-1, x.shape[-1]).astype(dtype) for x in (grad_weights, weights))
    if not flat.size:
        return np.zeros(weights.shape, dtype)
    rows, columns = (objects(np.asmatrix(flat)), objects(flat[:, :, None]))
    by_row = objects(np.asmatrix(grads))
    jacobians = columns * objects(flat[:, None, :])
    shares = by_row * (jacobians + ZERO)
    return (grads * flat - np.asarray(np.concatenate(shares))).reshape(weights.shape)

def attention_backward(Q, K, V, grad_output):
    Q, K, V = (1.0 * Q, 1.0 * K, 1.0 * V)
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    grad_V = weights.swapaxes(-1, -2) @ grad_output
    grad_weights = grad_output @ V.swapaxes(-1, -2)
    grad_raw = softmax_backward(grad_weights, weights) / root
    grad_Q = grad_raw @ K
    grad_K = grad_raw.swapaxes(-1, -2) @ Q
    return (grad_Q, grad_K, grad_V)
REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = None
REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -0.1875
ZERO = np.empty(1, dtype=object)
ZERO[0] = np.asmatrix(np.zeros((1, 1), np.float32))

def objects(rows):
    return np.fromiter(rows, dtype=object, count=len(rows))
