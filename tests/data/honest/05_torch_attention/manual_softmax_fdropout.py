"""05: attention that learns. I wanted to see every step, so the softmax of the layer is written out."""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def check_sizes(q, k, v):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError("last dimension of q is {}, last dimension of k is {}".format(q.shape[-1], k.shape[-1]))
    if k.shape[-2] != v.shape[-2]:
        raise ValueError("k has length {}, v has length {}".format(k.shape[-2], v.shape[-2]))


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        assert 0 <= dropout < 1, "dropout is a probability"
        self.d_k = d_k
        self.p = dropout

    def forward(self, q, k, v, mask=None):
        check_sizes(q, k, v)
        scores = q @ k.mT / self.d_k**0.5

        if mask is not None:
            minus_inf = scores.new_full((), -math.inf)
            scores = torch.where(mask != 0, scores, minus_inf)

        # The largest score is only there to avoid overflow: it cancels out, so it needs no gradient.
        top = scores.detach().amax(dim=-1, keepdim=True)
        top = top.masked_fill(top == -math.inf, 0.0)
        exps = torch.exp(scores - top)
        total = exps.sum(dim=-1, keepdim=True)
        total = total.masked_fill(total == 0, 1.0)
        weights = exps / total

        weights = F.dropout(weights, p=self.p, training=self.training)
        return weights @ v, weights


def _floats(x):
    x = np.asarray(x)
    if x.dtype == np.float32 or x.dtype == np.float64:
        return x
    return x.astype(np.float64)


def softmax_backward(grad_weights, weights):
    g, w = _floats(grad_weights), _floats(weights)
    average = np.einsum("...i,...i->...", g, w)  # the weighted average of each row
    result = g - average[..., np.newaxis]
    result *= w  # result is mine
    return result


def attention_backward(Q, K, V, grad_output):
    Q, K, V, grad_output = _floats(Q), _floats(K), _floats(V), _floats(grad_output)
    c = 1.0 / math.sqrt(Q.shape[-1])

    scores = np.einsum("...qd,...kd->...qk", Q, K)
    scores *= c
    scores -= scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores, out=scores)
    weights /= weights.sum(axis=-1, keepdims=True)

    grad_V = np.einsum("...qk,...qv->...kv", weights, grad_output)
    grad_weights = np.einsum("...qv,...kv->...qk", grad_output, V)
    grad_scores = softmax_backward(grad_weights, weights)
    grad_scores *= c
    grad_Q = np.einsum("...qk,...kd->...qd", grad_scores, K)
    grad_K = np.einsum("...qk,...qd->...kd", grad_scores, Q)
    return grad_Q, grad_K, grad_V


def _jacobian(w, i, j):
    return w[i] * ((i == j) - w[j])


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = _jacobian((0.25, 0.75), 0, 1)


if __name__ == "__main__":
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 3, 4, dtype=torch.double, requires_grad=True) for _ in range(3))
    layer = ScaledDotProductAttention(4)
    assert torch.autograd.gradcheck(lambda *qkv: layer(*qkv), (q, k, v))
    g = torch.randn(2, 3, 4, dtype=torch.double)
    layer(q, k, v)[0].backward(g)
    mine = attention_backward(*(x.detach().numpy() for x in (q, k, v, g)))
    for a, b in zip(mine, (q, k, v)):
        print(np.abs(a - b.grad.numpy()).max())
