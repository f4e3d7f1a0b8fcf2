# %% [markdown]
# # 05 · Attention that learns
#
# So far your attention has only computed. Now it learns. PyTorch records every step from queries, keys and values to
# the output. Then it goes through these steps backwards and says how each entry of the inputs should change.
#
# You will write attention again, as a PyTorch layer with dropout that a network can train. Then you will compute the
# gradients yourself, by hand and in NumPy: first those of the softmax, then those of all of attention.
#
# Work through the three parts in order. After each one, run its *Try it* cell and `attn test torch_attention`.
# The lesson is in `README.md` next to this file.

# %%
import contextlib
import math
import time

import numpy as np
import torch
from torch import nn

# %% [markdown]
# ## Build 1: attention as a layer
#
# A layer is a class that inherits from `nn.Module`. Its constructor stores what stays the same in every call. `forward`
# does the work. To run it, call the layer itself: `layer(q, k, v)`.
#
# In `forward`, PyTorch must be able to record every step. `.detach()`, `.data`, `.numpy()` or `torch.tensor(...)` of a
# result cut the gradient off, and nothing in front of the cut learns any more.

# %%
@contextlib.contextmanager
def stopwatch(what):
    start = time.perf_counter()
    yield
    if __name__ == "__main__":
        print(f"{what}: {time.perf_counter() - start:.4f} s")


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k, self.p = d_k, dropout

    def forward(self, q, k, v, mask=None):
        if q.shape[-1] != k.shape[-1]:
            raise ValueError(f"q {tuple(q.shape)} and k {tuple(k.shape)}")
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f"k {tuple(k.shape)} and v {tuple(v.shape)}")
        s = q.mul(1 / math.sqrt(self.d_k)).matmul(k.movedim(-1, -2))
        if mask is not None:
            s = torch.where(mask != 0, s, torch.tensor(-torch.inf, dtype=s.dtype, device=s.device))
        lse = torch.logsumexp(s, dim=-1, keepdim=True)
        if mask is not None:
            # a blocked row has a logsumexp of -inf: use 0, so that exp(-inf - 0) is 0
            lse = lse.masked_fill(~(mask != 0).any(dim=-1, keepdim=True), 0)
        w = torch.exp(s - lse)
        if self.training and self.p > 0:
            keep = torch.full_like(w, 1 - self.p).bernoulli()
            w = w * keep / (1 - self.p)
        return w.matmul(v), w

# %%
# Try the constructor
if __name__ == "__main__":
    layer = ScaledDotProductAttention(d_k=4, dropout=0.5)
    print("a new layer:", layer)
    assert layer.training, "a new layer is in training"
    assert not list(layer.parameters()), "the layer has nothing to learn"

# %%
# Try forward: the sentence of the lesson, one query, key and value for each token
if __name__ == "__main__":
    tokens = ["The", "cat", "sat", "on", "mat"]
    q = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    k = torch.tensor([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    v = torch.tensor([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
    layer = ScaledDotProductAttention(d_k=4, dropout=0.5)
    output, weights = layer.eval()(q, k, v)
    print("weights of The:", [round(w, 4) for w in weights[0].tolist()])
    print("output of The: ", [round(x, 4) for x in output[0].tolist()])
    known = torch.tensor([0.1095, 0.2976, 0.1805, 0.1805, 0.2318])
    assert torch.allclose(weights[0], known, atol=1e-4), "after eval() there is no dropout; see the table in the lesson"
    dropped = layer.train()(q, k, v)[1]
    print("in training:   ", [round(w, 4) for w in dropped[0].tolist()])
    kept = dropped != 0
    assert torch.allclose(dropped[kept], 2 * weights[kept]), "a kept weight is divided by 1 - dropout, here by 0.5"

# %%
# Try forward again: do the gradients arrive, and does a fully blocked row give 0?
if __name__ == "__main__":
    leaves = [x.clone().requires_grad_() for x in (q, k, v)]
    nobody = torch.ones(5, 5)
    nobody[0] = 0  # all keys are blocked for The
    output, weights = ScaledDotProductAttention(4)(*leaves, mask=nobody)
    assert torch.equal(weights[0], torch.zeros(5)), "a fully blocked row has weights of 0"
    (output[:, 1].sum() + weights[:, 0].sum()).backward()
    for name, leaf in zip("qkv", leaves, strict=True):
        assert leaf.grad is not None, f"no gradient reaches {name}: a step cuts it off"
        assert leaf.grad.isfinite().all(), f"the gradient of {name} contains NaN"
    print("gradient of the query of The:", leaves[0].grad[0].tolist())

# %% [markdown]
# ## Build 2: backwards through the softmax
#
# Now without PyTorch. You know how the loss changes with each weight. How does it change with each score? If a score
# rises, its own weight grows and all other weights of the row shrink, because they sum to 1.
#
# $$\frac{\partial w_i}{\partial s_j} = w_i\,(\delta_{ij} - w_j) \qquad
# \frac{\partial L}{\partial s_j} = w_j \Bigl(\frac{\partial L}{\partial w_j} - \sum_i \frac{\partial L}{\partial w_i}
# w_i\Bigr)$$

# %%
with stopwatch("shapes"):
    _layer = ScaledDotProductAttention(4)
    assert [tuple(x.shape) for x in _layer(torch.ones(2, 3, 4), torch.ones(2, 5, 4), torch.ones(2, 5, 6))] == [
        (2, 3, 6),
        (2, 3, 5),
    ]


def softmax_backward(grad_weights, weights):
    out = np.array(grad_weights, dtype=np.result_type(grad_weights, weights, np.float32), copy=True)
    out -= np.sum(out * weights, axis=-1, keepdims=True)
    out *= weights
    return out

# %%
# Try it: two weights, then the row of The
if __name__ == "__main__":
    pair = softmax_backward(np.array([1.0, 0.0]), np.array([0.5, 0.5]))
    print("weights .5 and .5, and the first should grow:", pair)
    assert np.allclose(pair, [0.25, -0.25]), "the first score should go up, the second down by the same amount"
    row = np.array([0.1095, 0.2976, 0.1805, 0.1805, 0.2318])
    back = softmax_backward(np.array([0, 1, 0, 0, 0.5]), row)
    print("row The:", back.round(4), "sum:", abs(back.sum()).round(3))
    assert np.allclose(back, [-0.0453, 0.1746, -0.0747, -0.0747, 0.02], atol=2e-4), "see the table in the lesson"

# %% [markdown]
# ## Build 3: backwards through attention
#
# Now the same for all of attention. Compute forward as far as you need to. Then go through the steps in the opposite
# order: output, weights, scaled scores, raw scores, and at last queries and keys.

# %%
def attention_backward(Q, K, V, grad_output):
    kind = np.result_type(Q, K, V, grad_output, np.float32)
    Q, K, V, G = [x.astype(kind) for x in (Q, K, V, grad_output)]
    Q = Q / math.sqrt(Q.shape[-1])
    W = np.exp((S := Q @ np.swapaxes(K, -1, -2)) - S.max(axis=-1, keepdims=True))
    W /= W.sum(axis=-1, keepdims=True)
    D = softmax_backward(G @ np.swapaxes(V, -1, -2), W)
    return D @ K / math.sqrt(Q.shape[-1]), np.swapaxes(D, -1, -2) @ Q, np.swapaxes(W, -1, -2) @ G

# %%
# Try it: compare your gradients with those of autograd. The loss is one entry of the output: how much The takes of cat.
if __name__ == "__main__":
    grad_output = np.zeros((5, 4))
    grad_output[0, 1] = 1
    by_hand = attention_backward(q.numpy(), k.numpy(), v.numpy(), grad_output)
    leaves = [x.double().requires_grad_() for x in (q, k, v)]
    ScaledDotProductAttention(4)(*leaves)[0][0, 1].backward()
    print("gradient of the query of The:", by_hand[0][0].round(4))
    for name, mine, leaf in zip("QKV", by_hand, leaves, strict=True):
        assert mine.shape == tuple(leaf.shape), f"grad_{name} has the shape {mine.shape}"
        assert np.allclose(mine, leaf.grad.numpy()), f"grad_{name} differs from autograd"

# %% [markdown]
# ## Use: attention learns to look back
#
# Gradient descent changes only the queries and keys. Each token should look at the token before it (and *The* at
# itself). The loss is minus the logarithm of the weight that should be 1, averaged over the tokens. Change the number
# of steps or their size, or leave out the division in your layer. Does it still learn as fast?

# %%
if __name__ == "__main__":
    layer = ScaledDotProductAttention(4)
    learnt_q, learnt_k = q.clone().requires_grad_(), k.clone().requires_grad_()
    steps = torch.optim.SGD([learnt_q, learnt_k], lr=1.0)
    before = [0, 0, 1, 2, 3]  # the token that each token should look at
    for step in range(201):
        weights = layer(learnt_q, learnt_k, v)[1]
        loss = -weights[range(5), before].log().mean()
        if step % 50 == 0:
            shares = "  ".join(f"{t} {weights[i, before[i]].item():.2f}" for i, t in enumerate(tokens))
            print(f"step {step:>3}: loss {loss.item():.3f}   {shares}")
        steps.zero_grad()
        loss.backward()
        steps.step()

# %% [markdown]
# ## Use: what dropout does on average
#
# A weight that is 0 half of the time and doubled otherwise keeps its value on average. Then: how large is the gradient
# of a softmax that is very sure?

# %%
if __name__ == "__main__":
    torch.manual_seed(0)
    layer = ScaledDotProductAttention(4, dropout=0.5)
    many = torch.stack([layer(q, k, v)[1][0] for _ in range(2000)])
    for row in (*many[:3], many.mean(dim=0)):
        print("  ".join(f"{token} {weight:.2f}" for token, weight in zip(tokens, row.tolist(), strict=True)))
    for gap in (0, 2, 4, 8, 16):
        sure = 1 / (1 + np.exp(-gap))
        slope = softmax_backward(np.array([1.0, 0.0]), np.array([sure, 1 - sure]))[0]
        print(f"two keys, {gap} apart: weight {sure:.4f}, slope {slope:.4f}")

# %% [markdown]
# ## Reflect
#
# A softmax has returned the weights .25 and .75. What is the derivative of the first weight with respect to the
# *second* score? Replace the `None` (or write the answer below it).

# %%
with stopwatch("autograd agrees"):
    torch.manual_seed(5)
    _q, _k, _v = (torch.randn(n, 3, dtype=torch.float64, requires_grad=True) for n in (2, 4, 4))
    _g = torch.randn(2, 3, dtype=torch.float64)
    ScaledDotProductAttention(3)(_q, _k, _v)[0].backward(_g)
    _mine = attention_backward(*(x.detach().numpy() for x in (_q, _k, _v)), _g.numpy())
    for _one, _leaf in zip(_mine, (_q, _k, _v), strict=True):
        assert np.allclose(_one, _leaf.grad.numpy()), "by hand and by autograd"
    assert torch.autograd.gradcheck(lambda *x: ScaledDotProductAttention(3)(*x), (_q, _k, _v))

REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -0.1875
