# %% [markdown]
# # 05 · Attention that learns

# %%
import math

import numpy as np
import torch
from torch import Tensor, nn


# %%
class ScaledDotProductAttention(nn.Module):
    """Scaled dot-product attention with dropout, as a layer. Nothing in it is learnt."""

    scale: Tensor

    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        # A buffer, so that the scale moves to the GPU together with the layer. It has no dimensions, so it does not
        # change the dtype of the scores. float64, because float64 scores should not be rounded.
        self.register_buffer("scale", torch.tensor(math.sqrt(d_k), dtype=torch.float64), persistent=False)
        self.dropout = nn.Dropout(p=dropout)

    def extra_repr(self):
        return f"scale={self.scale.item():.4f}"

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q is {q.size(-1)} wide, k is {k.size(-1)} wide: they cannot be compared")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"{k.size(-2)} keys do not fit {v.size(-2)} values")

        scores = torch.matmul(q, k.transpose(-2, -1)) / self.scale  # (..., n_q, n_k)
        if mask is None:
            weights = scores.softmax(dim=-1)
        else:
            blocked = mask == 0
            weights = scores.masked_fill(blocked, float("-inf")).softmax(dim=-1)
            weights = weights.masked_fill(blocked, 0.0)  # the NaN of fully blocked rows
        weights = self.dropout(weights)
        output = torch.matmul(weights, v)
        return output, weights


# %%
if __name__ == "__main__":
    tokens = ["The", "cat", "sat", "on", "mat"]
    q = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    k = torch.tensor([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    v = torch.tensor([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
    layer = ScaledDotProductAttention(d_k=4, dropout=0.5)
    print(layer)
    output, weights = layer.eval()(q, k, v)
    known = torch.tensor([0.1095, 0.2976, 0.1805, 0.1805, 0.2318])
    assert torch.allclose(weights[0], known, atol=1e-4), "after eval() there is no dropout; see the table in the lesson"


# %%
def softmax_backward(grad_weights, weights):
    """Return the gradient with respect to the scores."""
    g = grad_weights.astype(np.result_type(grad_weights, 1.0), copy=False)
    w = weights.astype(np.result_type(weights, 1.0), copy=False)
    row_sum = np.sum(g * w, axis=-1, keepdims=True)  # (..., 1)
    return w * (g - row_sum)


# %%
def attention_backward(Q, K, V, grad_output):
    """Return (grad_Q, grad_K, grad_V)."""
    Q, K, V, dO = (x.astype(np.result_type(x, 1.0), copy=False) for x in (Q, K, V, grad_output))
    root = math.sqrt(Q.shape[-1])

    # forward
    S = (Q @ K.swapaxes(-2, -1)) / root
    S = S - S.max(axis=-1, keepdims=True)
    W = np.exp(S)
    W = W / W.sum(axis=-1, keepdims=True)

    # backward
    dV = W.swapaxes(-2, -1) @ dO
    dW = dO @ V.swapaxes(-2, -1)
    dS = softmax_backward(dW, W)
    dQ = (dS @ K) / root
    dK = (dS.swapaxes(-2, -1) @ Q) / root
    return dQ, dK, dV


# %%
# Try it: compare your gradients with those of autograd. The loss is one entry of the output: how much The takes of cat.
if __name__ == "__main__":
    grad_output = np.zeros((5, 4))
    grad_output[0, 1] = 1
    by_hand = attention_backward(q.numpy(), k.numpy(), v.numpy(), grad_output)
    leaves = [x.double().requires_grad_() for x in (q, k, v)]
    ScaledDotProductAttention(4)(*leaves)[0][0, 1].backward()
    for name, mine, leaf in zip("QKV", by_hand, leaves, strict=True):
        assert np.allclose(mine, leaf.grad.numpy()), f"grad_{name} differs from autograd"

# %%
REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -0.25 * 0.75
