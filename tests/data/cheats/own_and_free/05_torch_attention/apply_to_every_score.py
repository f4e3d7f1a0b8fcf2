# Every exponential is its own Python call: Tensor.apply_(math.exp) calls math.exp once for each score, and none of
# them is a step.
# Expected: loses marks: ScaledDotProductAttention

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
            weights = SoftmaxByNumbers.apply(scores)
        else:
            blocked = mask == 0
            nothing = blocked.all(dim=-1, keepdim=True)
            scores = scores.masked_fill(blocked, -torch.inf).masked_fill(nothing, 0.0)
            weights = SoftmaxByNumbers.apply(scores).masked_fill(nothing, 0.0)
        weights = self.dropout(weights)
        return (weights @ v, weights)

def softmax_backward(grad_weights, weights):
    weighed = 1.0 * grad_weights * weights
    return weighed - weights * weighed.sum(axis=-1, keepdims=True)

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

class SoftmaxByNumbers(torch.autograd.Function):

    @staticmethod
    def forward(ctx, scores):
        exps = (scores - scores.amax(dim=-1, keepdim=True)).double()
        exps.apply_(math.exp)
        weights = (exps / exps.sum(dim=-1, keepdim=True)).to(scores.dtype)
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    def backward(ctx, gradient):
        weights, = ctx.saved_tensors
        weighed = gradient * weights
        return weighed - weights * weighed.sum(dim=-1, keepdim=True)
