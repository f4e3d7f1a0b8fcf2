import numpy as np
import torch


def softmax(x, dim):
    x = x - x.amax(dim, keepdim=True).detach()
    e = x.exp()
    return e / e.sum(dim, keepdim=True)


class ScaledDotProductAttention(torch.nn.Module):
    """The scale is a buffer in float32, and dropout is our own."""

    def __init__(self, d_k, dropout=0.0):
        super(ScaledDotProductAttention, self).__init__()
        self.register_buffer("scale", torch.sqrt(torch.tensor(d_k, dtype=torch.float32)))
        self.dropout = dropout

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1]:
            raise ValueError(f"expected equal widths, got {q.shape[-1]} and {k.shape[-1]}")
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f"expected equal lengths, got {k.shape[-2]} and {v.shape[-2]}")
        scores = torch.matmul(q, k.transpose(-2, -1)) / self.scale
        if mask is not None:
            mask = mask != 0
            scores = scores.masked_fill(~mask, float("-inf"))
            # rows without a key get zeros for scores now, and zeros for weights later
            scores = scores.masked_fill(~mask.any(-1, keepdim=True), 0)
        attention = softmax(scores, -1)
        if mask is not None:
            attention = attention * mask
        if self.training and self.dropout > 0:
            keep = torch.bernoulli(torch.full_like(attention, 1 - self.dropout))
            attention = attention * keep / (1 - self.dropout)
        return torch.matmul(attention, v), attention


def softmax_backward(grad_weights, weights):
    s = np.sum(1.0 * grad_weights * weights, axis=-1)
    return (grad_weights - np.expand_dims(s, -1)) * weights


def attention_backward(Q, K, V, grad_output):
    to = np.swapaxes
    half = np.sqrt(Q.shape[-1], dtype=Q.dtype if Q.dtype.kind == "f" else np.float64)
    x = np.matmul(Q, to(K, -1, -2)) / half
    x = x - x.max(axis=-1, keepdims=True)
    A = np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)
    output = A @ V                                      # for a short cut: the row sums are output times gradient
    dA = grad_output @ to(V, -1, -2)
    rows = (grad_output * output).sum(axis=-1, keepdims=True)
    dS = A * (dA - rows) / half
    return dS @ K, to(dS, -1, -2) @ Q, to(A, -1, -2) @ grad_output


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = np.float32(-0.1875)
