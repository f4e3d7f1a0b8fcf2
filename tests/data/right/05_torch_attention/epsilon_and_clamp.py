"""Every step by hand, with a small number beside the sum."""
import torch
import numpy as np


class ScaledDotProductAttention(torch.nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.keep = 1.0 - dropout

    def _scores(self, q, k):
        return q.matmul(k.movedim(-1, -2)) / self.d_k ** 0.5

    def _softmax(self, scores, mask):
        if mask is not None:
            scores = torch.where(mask != 0, scores, float("-inf"))
        largest = scores.max(dim=-1, keepdim=True).values.clamp(min=torch.finfo(scores.dtype).min)
        exps = (scores - largest).exp()
        return exps / (exps.sum(dim=-1, keepdim=True) + torch.finfo(scores.dtype).tiny)

    def _dropout(self, weights):
        if not self.training or self.keep == 1.0:
            return weights
        kept = torch.rand_like(weights) < self.keep
        return torch.where(kept, weights / self.keep, torch.zeros_like(weights))

    def forward(self, q, k, v, mask=None):
        n, m = k.shape[-2], v.shape[-2]
        if q.shape[-1] != k.shape[-1]:
            raise ValueError("widths %s and %s" % (q.shape[-1], k.shape[-1]))
        elif n != m:
            raise ValueError("lengths %s and %s" % (n, m))
        else:
            weights = self._dropout(self._softmax(self._scores(q, k), mask))
            return (weights @ v, weights)


def softmax_backward(grad_weights, weights):
    grad = grad_weights + np.zeros_like(weights, dtype=weights.dtype if weights.dtype.kind == "f" else np.float64)
    grad = grad - np.sum(grad * weights, -1)[..., np.newaxis]
    return grad * weights


def attention_backward(Q, K, V, grad_output):
    Q, K, V, grad_output = [x + 0.0 for x in (Q, K, V, grad_output)]
    sqrt_d = float(Q.shape[-1]) ** 0.5
    last_two = list(range(Q.ndim - 2)) + [Q.ndim - 1, Q.ndim - 2]
    raw = np.matmul(Q, K.transpose(last_two))
    scaled = raw / sqrt_d
    e = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    d_w = np.matmul(grad_output, V.transpose(last_two))
    d_v = np.matmul(w.transpose(last_two), grad_output)
    d_scaled = softmax_backward(d_w, w)
    d_raw = d_scaled / sqrt_d
    d_q = np.matmul(d_raw, K)
    d_k = np.matmul(d_raw.transpose(last_two), Q)
    return d_q, d_k, d_v


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -0.1875
