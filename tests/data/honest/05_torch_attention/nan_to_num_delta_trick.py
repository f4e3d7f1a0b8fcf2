# %% [markdown]
# # 05 · Attention that learns
#
# (For attention_backward I use what the lesson says in passing: the sum in the bracket is the output itself. With
# all entries of the output it is the sum of grad_output * output, so I need no sum over the keys.)

# %%
import math

import numpy as np
import torch
from torch import nn


# %%
class ScaledDotProductAttention(nn.Module):
    """Scaled dot-product attention with dropout, as a layer."""

    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.inverse_scale = 1.0 / math.sqrt(d_k)
        self.dropout = nn.Dropout(dropout) if dropout > 0 else nn.Identity()

    def forward(self, q, k, v, mask=None):
        *_, n_k, width_k = k.shape
        *_, n_v, _ = v.shape
        width_q = q.shape[-1]
        if width_q != width_k:
            raise ValueError(f"q has {width_q} features per token and k has {width_k}")
        if n_k != n_v:
            raise ValueError(f"k has {n_k} tokens and v has {n_v}")

        scores = q @ k.transpose(-1, -2)
        scores = scores * self.inverse_scale
        if mask is not None:
            scores.masked_fill_(mask == 0, -torch.inf)  # in place is fine here: a multiplication does not need its result
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = torch.nan_to_num(weights, nan=0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %%
if __name__ == "__main__":
    tokens = ["The", "cat", "sat", "on", "mat"]
    q = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    k = torch.tensor([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    v = torch.tensor([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
    layer = ScaledDotProductAttention(4)
    learnt_q, learnt_k = q.clone().requires_grad_(), k.clone().requires_grad_()
    steps = torch.optim.SGD([learnt_q, learnt_k], lr=1.0)
    before = [0, 0, 1, 2, 3]
    for step in range(201):
        weights = layer(learnt_q, learnt_k, v)[1]
        loss = -weights[range(5), before].log().mean()
        if step % 50 == 0:
            print(f"step {step:>3}: loss {loss.item():.3f}")
        steps.zero_grad()
        loss.backward()
        steps.step()


# %%
def to_float(*arrays):
    """Integers become float64. One array in, one array out; many in, a list out."""
    done = [a if a.dtype.kind == "f" else a.astype("float64") for a in map(np.asarray, arrays)]
    return done[0] if len(done) == 1 else done


def softmax_backward(grad_weights, weights):
    grad_weights, weights = to_float(grad_weights, weights)
    weighed = np.multiply(grad_weights, weights)
    return np.subtract(weighed, weights * weighed.sum(-1)[..., None])


def attention_backward(Q, K, V, grad_output):
    Q, K, V, dO = to_float(Q, K, V, grad_output)
    T = lambda x: np.swapaxes(x, -1, -2)
    root = math.sqrt(Q.shape[-1])

    P = Q @ T(K) / root
    P = np.exp(P - P.max(-1, keepdims=True))
    P = P / P.sum(-1, keepdims=True)
    O = P @ V

    dV = T(P) @ dO
    dP = dO @ T(V)
    delta = (dO * O).sum(axis=-1, keepdims=True)  # (..., n_q, 1)
    dS = P * (dP - delta) / root
    return dS @ K, T(dS) @ Q, dV


# %%
if __name__ == "__main__":
    grad_output = np.zeros((5, 4))
    grad_output[0, 1] = 1
    by_hand = attention_backward(q.numpy(), k.numpy(), v.numpy(), grad_output)
    leaves = [x.double().requires_grad_() for x in (q, k, v)]
    ScaledDotProductAttention(4)(*leaves)[0][0, 1].backward()
    for name, mine, leaf in zip("QKV", by_hand, leaves, strict=True):
        assert mine.shape == tuple(leaf.shape), f"grad_{name} has the shape {mine.shape}"
        assert np.allclose(mine, leaf.grad.numpy()), f"grad_{name} differs from autograd"

# %%
REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = None
REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -0.1875  # w1 * (0 - w2)
