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
import math

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
class ScaledDotProductAttention(nn.Module):
    """Scaled dot-product attention with dropout, as a layer.

    It has no parameters: it has nothing to learn. (A buffer, for example for the scale, is not a parameter.)
    """

    def __init__(self, d_k, dropout=0.0):
        """Make a layer for queries and keys of width d_k.

        dropout: the probability that a weight is dropped in training. It is at least 0 and less than 1.
        """
        super().__init__()  # must come first: nn.Module stores nothing before this
        ### BEGIN SOLUTION
        self.scale = math.sqrt(d_k)
        self.dropout = nn.Dropout(dropout)
        ### END SOLUTION

    def forward(self, q, k, v, mask=None):
        """Return (output, weights), a tuple of two tensors.

        q: (..., n_q, d_k); k: (..., n_k, d_k); v: (..., n_k, d_v), with the same leading dimensions: none, a batch, or
        more. Returns output (..., n_q, d_v) and weights (..., n_q, n_k).

        mask: None, or a tensor of bool, int or float that broadcasts to the shape of the weights, such as (n_q, n_k),
        (n_k,), (batch, 1, n_k) or (batch, 1, 1, n_k). It never has more dimensions than the weights. 1 or True means
        that the query may look at this key; 0 or False means that the key is blocked.

        - Scores are divided by the square root of d_k. The softmax is over the allowed keys, along the last axis. A
          blocked key has the weight 0, for every score. Scores of any size work, such as 5000 or -5000.
        - A query whose keys are all blocked has weights of 0 and an output of 0, never NaN.
        - In training (after `layer.train()`, and in a new layer), each weight is dropped (set to 0) with the
          probability `dropout`, independently of the others. The weights that are kept are divided by 1 - dropout.
          After `layer.eval()` nothing is dropped and nothing is divided.
        - The returned weights are those after dropout, from which the output is computed.
        - Gradients reach q, k and v from the output, and q and k from the weights. Gradients through a row whose keys
          are all blocked are 0, never NaN.
        - Raises ValueError naming both sizes if the last dimensions of q and k differ, or the lengths of k and v.
        - Both results have the dtype of q, k and v: float32, float64, bfloat16 or float16. The dtype of the mask does
          not matter, float64 is not rounded to float32 in between, and float16 cannot hold -1e9.
        - q, k, v and mask are not modified, and nothing is kept from one call to the next.
        - The built-in attention of PyTorch is not allowed; torch.softmax is. No Python loop over tokens or sentences,
          no product is computed twice, and no tensor is larger than the scores, the arguments and the output.
        """
        ### BEGIN SOLUTION
        if q.shape[-1] != k.shape[-1]:
            raise ValueError(f"queries have {q.shape[-1]} entries but keys have {k.shape[-1]}")
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f"there are {k.shape[-2]} keys but {v.shape[-2]} values")
        scores = q @ k.transpose(-1, -2) / self.scale  # (..., n_q, n_k)
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            blocked = mask == 0
            nothing = blocked.all(dim=-1, keepdim=True)  # rows with every key blocked
            scores = scores.masked_fill(blocked, -torch.inf).masked_fill(nothing, 0.0)  # no NaN at any point
            weights = torch.softmax(scores, dim=-1).masked_fill(nothing, 0.0)
        weights = self.dropout(weights)  # (..., n_q, n_k)
        return weights @ v, weights  # (..., n_q, d_v), (..., n_q, n_k)
        ### END SOLUTION


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
def softmax_backward(grad_weights, weights):
    """Return the gradient with respect to the scores, the input of a softmax over the last axis, as an array.

    grad_weights: the gradient with respect to the weights, an array (..., n) with at least one dimension.
    weights: what the softmax returned, an array of the same shape. Each row sums to 1, or is all 0 if every key was
    blocked. Returns an array of the same shape.

    - Each row is independent of the others. A row of weights that are all 0 has a gradient of 0.
    - NumPy in, NumPy out. torch and autograd are not allowed.
    - float32 in, float32 out; float64 in, float64 out; integers give float64.
    - The arguments are not modified. No Python loop over rows, and no array larger than the weights: a matrix
      (n, n) for each row is too much.
    """
    ### BEGIN SOLUTION
    weighed = 1.0 * grad_weights * weights  # (..., n)
    return weighed - weights * weighed.sum(axis=-1, keepdims=True)
    ### END SOLUTION


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
    """Return (grad_Q, grad_K, grad_V), a tuple: the gradients with respect to the three inputs of attention.

    This is the attention of module 03, without a mask and without dropout: softmax(Q K^T / sqrt(d_k)) V.
    Q: (..., n_q, d_k); K: (..., n_k, d_k); V: (..., n_k, d_v); grad_output: (..., n_q, d_v), the gradient with respect
    to the output. All have the same leading dimensions: none, a batch, or more. Their sizes always agree, so you do not
    need to check them. Each gradient has the shape of its input.

    - d_k is the width of Q. Scores of any size work, such as 5000 or -5000: no overflow, no 0/0.
    - NumPy in, NumPy out. torch and autograd are not allowed.
    - float32 in, float32 out; float64 in, float64 out; integers give float64.
    - The arguments are not modified. No Python loop over tokens or sentences. Five matrix products are enough, ten are
      the limit, and no array is larger than the scores, the arguments and the gradients.
    """
    ### BEGIN SOLUTION
    Q, K, V = 1.0 * Q, 1.0 * K, 1.0 * V  # integers become float64; float32 stays float32
    root = math.sqrt(Q.shape[-1])
    scores = Q @ K.swapaxes(-1, -2) / root  # (..., n_q, n_k)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)  # (..., n_q, n_k)

    grad_V = weights.swapaxes(-1, -2) @ grad_output  # (..., n_k, d_v)
    grad_weights = grad_output @ V.swapaxes(-1, -2)  # (..., n_q, n_k)
    grad_raw = softmax_backward(grad_weights, weights) / root  # (..., n_q, n_k)
    grad_Q = grad_raw @ K  # (..., n_q, d_k)
    grad_K = grad_raw.swapaxes(-1, -2) @ Q  # (..., n_k, d_k)
    return grad_Q, grad_K, grad_V
    ### END SOLUTION


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
# itself). The loss is minus the logarithm of the weight that should be 1, averaged over the tokens.

# %%
if __name__ == "__main__":
    before = [0, 0, 1, 2, 3]  # the token that each token should look at

    def look_back(loss_of, sharpness=1, every=50):
        """Train copies of the queries and keys for 200 steps, print the weights that should be 1, return both."""
        learned_q, learned_k = q.clone().requires_grad_(), k.clone().requires_grad_()
        steps = torch.optim.SGD([learned_q, learned_k], lr=1.0)
        for step in range(201):
            weights = ScaledDotProductAttention(4)(sharpness * learned_q, learned_k, v)[1]
            right = weights[range(5), before]
            loss = loss_of(right).mean()
            if step % every == 0:
                shares = "  ".join(f"{token} {weight:.2f}" for token, weight in zip(tokens, right, strict=True))
                print(f"step {step:>3}: loss {loss.item():.3f}   {shares}")
            steps.zero_grad()
            loss.backward()
            steps.step()
        return learned_q.detach(), learned_k.detach()

    learned_q, learned_k = look_back(lambda weight: -weight.log())

# %% [markdown]
# ## Use: sure and wrong
#
# The same training, four times. The loss is 1 minus the weight, or minus its logarithm. The scores are as they are, or
# 8 times as large: as if vectors of width 64 were not scaled. At the start of the last two runs, *The* and *on* are
# sure, and wrong. Which of the four runs is stuck? Guess first.

# %%
if __name__ == "__main__":
    losses = {"1 - weight": lambda weight: 1 - weight, "-log(weight)": lambda weight: -weight.log()}
    for sharpness in (1, 8):
        for name, loss_of in losses.items():
            print(f"loss {name}, scores times {sharpness}")
            look_back(loss_of, sharpness, every=100)

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
# *second* score? Replace the `None` (or assign the answer below it).

# %%
REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = None
### BEGIN SOLUTION
REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = -0.1875
### END SOLUTION
