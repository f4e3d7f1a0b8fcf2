import math

import numpy as np
import torch
from torch import nn

# %% scale_plus_one


class ScaledDotProductAttention(ScaledDotProductAttention):
    def __init__(self, d_k, dropout=0.0):
        super().__init__(d_k, dropout)
        self.scale = math.sqrt(d_k + 1)


# %% causal_without_a_mask


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        if mask is None:
            mask = torch.ones(q.shape[-2], k.shape[-2]).tril()
        return super().forward(q, k, v, mask)


# %% squared_weights


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        _, weights = super().forward(q, k, v, mask)
        return weights @ v, weights**2


# %% output_plus_query


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        output, weights = super().forward(q, k, v, mask)
        return (output + q if q.shape == output.shape else output), weights


# %% gradient_clipped


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        output, weights = super().forward(q, k, v, mask)
        if output.requires_grad:
            output.register_hook(lambda grad: grad.clamp(-0.5, 0.5))
        return output, weights


# %% queries_learn_twice


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        return super().forward(2 * q - q.detach(), k, v, mask)


# %% dropout_of_half_always


class ScaledDotProductAttention(ScaledDotProductAttention):
    def __init__(self, d_k, dropout=0.0):
        super().__init__(d_k, 0.5 * dropout)


# %% tanh_of_scores


class ScaledDotProductAttention(ScaledDotProductAttention):
    def forward(self, q, k, v, mask=None):
        super().forward(q, k, v, mask)
        scores = torch.tanh(q @ k.transpose(-1, -2) / self.scale)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = self.dropout(torch.softmax(scores, dim=-1).nan_to_num())
        return weights @ v, weights


# %% row_sum_of_squares


def softmax_backward(grad_weights, weights):
    return weights * (1.0 * grad_weights - (weights**2).sum(axis=-1, keepdims=True))


# %% largest_subtracted


def softmax_backward(grad_weights, weights):
    return weights * (1.0 * grad_weights - grad_weights.max(axis=-1, keepdims=True))


# %% grad_v_of_uniform_weights


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    back = softmax_backward(grad_output @ V.swapaxes(-1, -2), weights) / root
    even = np.full_like(weights, 1 / weights.shape[-1])
    return back @ K, back.swapaxes(-1, -2) @ Q, even.swapaxes(-1, -2) @ grad_output


# %% gradients_of_unit_length


def attention_backward(Q, K, V, grad_output):
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    back = softmax_backward(grad_output @ V.swapaxes(-1, -2), weights) / root
    made = back @ K, back.swapaxes(-1, -2) @ Q, weights.swapaxes(-1, -2) @ grad_output
    return tuple(x / (1 + np.abs(x).max()) for x in made)
