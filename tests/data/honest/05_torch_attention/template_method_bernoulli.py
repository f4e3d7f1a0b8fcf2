# %%
import math
from abc import ABC, abstractmethod

import numpy as np
import torch
from torch import nn

# %% [markdown]
# ## The layer
#
# A general attention with three steps (compare, normalise, mix). Only the first depends on the kind of attention,
# so additive attention would be one more small class.


# %%
class SizeError(ValueError):
    @classmethod
    def unless_equal(cls, what, left, right):
        if left != right:
            raise cls(f"{what}: {left} and {right} should be equal")


class WeightDropout(nn.Module):
    """Dropout written by myself: throw a coin for each weight, and make up for what is lost."""

    def __init__(self, probability):
        super().__init__()
        self.probability = probability

    def forward(self, weights):
        if not self.training or self.probability == 0:
            return weights
        coin = torch.rand(weights.shape, device=weights.device)  # float32 is fine for a coin
        return weights.masked_fill(coin < self.probability, 0.0) / (1 - self.probability)


class Attention(nn.Module, ABC):
    def __init__(self, dropout):
        super().__init__()
        self.drop = WeightDropout(dropout)

    @abstractmethod
    def compare(self, q, k): ...

    def normalise(self, scores, mask):
        if mask is None:
            return torch.softmax(scores, dim=-1)
        allowed = mask.bool()
        alive = allowed.any(dim=-1, keepdim=True)  # queries with at least one key
        scores = scores.masked_fill(~allowed & alive, -torch.inf)
        scores = scores.masked_fill(~alive, 0.0)
        return torch.softmax(scores, dim=-1).masked_fill(~alive, 0.0)

    def mix(self, weights, v):
        return torch.einsum("...qk,...kv->...qv", weights, v)

    def forward(self, q, k, v, mask=None):
        SizeError.unless_equal("widths of q and k", q.shape[-1], k.shape[-1])
        SizeError.unless_equal("lengths of k and v", k.shape[-2], v.shape[-2])
        weights = self.drop(self.normalise(self.compare(q, k), mask))
        return self.mix(weights, v), weights


class ScaledDotProductAttention(Attention):
    def __init__(self, d_k, dropout=0.0):
        super().__init__(dropout)
        self.root = math.sqrt(d_k)

    def compare(self, q, k):
        return torch.einsum("...qd,...kd->...qk", q / self.root, k)


# %%
if __name__ == "__main__":
    q = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    k = torch.tensor([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    v = torch.tensor([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
    leaves = [x.clone().requires_grad_() for x in (q, k, v)]
    nobody = torch.ones(5, 5)
    nobody[0] = 0
    output, weights = ScaledDotProductAttention(4)(*leaves, mask=nobody)
    (output[:, 1].sum() + weights[:, 0].sum()).backward()
    for name, leaf in zip("qkv", leaves, strict=True):
        assert leaf.grad.isfinite().all(), f"the gradient of {name} contains NaN"
    torch.manual_seed(0)
    layer = ScaledDotProductAttention(4, dropout=0.5)
    print(torch.stack([layer(q, k, v)[1][0] for _ in range(2000)]).mean(dim=0))

# %% [markdown]
# ## By hand


# %%
def softmax_backward(grad_weights, weights):
    # a row vector times a column vector, for each row: (..., 1, n) @ (..., n, 1) -> (..., 1, 1)
    grad_weights = 1.0 * np.asarray(grad_weights)
    weights = 1.0 * np.asarray(weights)
    inner = (grad_weights[..., None, :] @ weights[..., :, None])[..., 0]  # (..., 1)
    return (grad_weights - inner) * weights


def softmax_forward(scores):
    exps = np.exp(scores - np.amax(scores, axis=-1, keepdims=True))
    return np.divide(exps, np.sum(exps, axis=-1, keepdims=True))


def attention_backward(Q, K, V, grad_output):
    transposed = np.matrix_transpose  # only the last two axes
    root = math.sqrt(Q.shape[-1])
    Q, K, V, grad_output = [1.0 * x for x in (Q, K, V, grad_output)]
    weights = softmax_forward(np.matmul(Q, transposed(K)) / root)
    grad_raw = softmax_backward(np.matmul(grad_output, transposed(V)), weights) / root
    return (
        np.matmul(grad_raw, K),
        np.matmul(transposed(grad_raw), Q),
        np.matmul(transposed(weights), grad_output),
    )


# %%
REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -3 / 16
