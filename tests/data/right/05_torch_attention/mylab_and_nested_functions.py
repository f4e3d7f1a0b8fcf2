import numpy as np
import torch
from torch import nn
from mylab.softmax import softmax
from mylab.attention import scaled_dot_product_attention


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        nn.Module.__init__(self)
        self.d_k = torch.as_tensor(float(d_k))          # neither a buffer nor a parameter
        self.dropout = dropout

    def weights(self, q, k, mask):
        scores = q.matmul(k.transpose(-1, -2)).div(self.d_k.sqrt().item())
        if mask is None:
            return scores.softmax(dim=-1)
        open_rows = mask.ne(0).any(dim=-1, keepdim=True)
        scores = scores.where(mask.ne(0), scores.new_tensor(float("-inf")))
        scores = scores.where(open_rows, scores.new_zeros(()))
        return scores.softmax(dim=-1) * open_rows.to(scores.dtype)

    def forward(self, q, k, v, mask=None):
        for name, one, other in (("width", q.shape[-1], k.shape[-1]), ("length", k.shape[-2], v.shape[-2])):
            if one != other:
                raise ValueError(f"{name} {one} against {other}")
        weights = nn.functional.dropout(self.weights(q, k, mask), p=self.dropout, training=self.training)
        return weights.matmul(v), weights

    def __repr__(self):
        return "attention!"


def softmax_backward(grad_weights, weights):
    def row_sums(x):
        return np.add.reduce(x, axis=x.ndim - 1, keepdims=True)

    product = np.true_divide(grad_weights, 1) * weights
    return product - row_sums(product) * weights


def attention_backward(Q, K, V, grad_output):
    output, weights = scaled_dot_product_attention(Q, K, V)     # module 03 does the way forward
    root = float(np.sqrt(Q.shape[-1]))
    assert output.shape == grad_output.shape
    again = softmax(Q @ K.swapaxes(-1, -2) / root, axis=-1)     # and module 01 once more: ten products are the limit
    assert np.allclose(weights, again, atol=1e-4)
    grad_scores = softmax_backward(grad_output @ V.swapaxes(-1, -2), weights) / root
    return (
        grad_scores @ (1.0 * K),
        grad_scores.swapaxes(-1, -2) @ (1.0 * Q),
        weights.swapaxes(-1, -2) @ (1.0 * grad_output),
    )


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -0.1875
