# %% [markdown]
# # 05 · Attention that learns
#
# Until now attention computed. From here on it learns: PyTorch keeps track of every step of the way from queries, keys
# and values to the output, and can walk it backwards to say how each of their entries should change.
#
# You will write attention once more, as a layer of PyTorch that a network can train, with dropout. Then you will walk
# backwards yourself, in NumPy and by hand: first through the softmax, then through all of attention.
#
# Work through the three in order. After each one, run its *Try it* cell and `attn test torch_attention`.
# The lesson is in `README.md` beside this file.

# %%
import math

import numpy as np
import torch
from torch import nn

# %% [markdown]
# ## Build 1: attention as a layer
#
# A layer is a class made from `nn.Module`. Its constructor keeps what stays the same from call to call; `forward` does
# the work, and is called by calling the layer itself: `layer(q, k, v)`.
#
# In `forward`, every step must be one that PyTorch can walk backwards. Anything that leaves it, such as `.detach()`,
# `.data`, `.numpy()` or `torch.tensor(...)` of a result, cuts the way: nothing in front of the cut learns any more.


# %%
class ScaledDotProductAttention(nn.Module):
    """Scaled dot-product attention with dropout, as a layer.

    It has no parameters: there is nothing in it to learn. (A buffer, such as for the scale, is no parameter.)
    """

    def __init__(self, d_k, dropout=0.0):
        """Make a layer for queries and keys of width d_k.

        dropout: the probability, from 0 to below 1, with which a weight is dropped while the layer is in training.
        """
        super().__init__()  # nn.Module keeps nothing before this
        raise NotImplementedError

    def forward(self, q, k, v, mask=None):
        """Return (output, weights), a tuple of two tensors.

        q: (..., n_q, d_k); k: (..., n_k, d_k); v: (..., n_k, d_v), with the same leading dimensions: none, a batch, or
        more. Returns output (..., n_q, d_v) and weights (..., n_q, n_k).

        mask: None, or a tensor of bool, int or float that broadcasts to the shape of the weights, such as (n_q, n_k),
        (n_k,), (batch, 1, n_k) or (batch, 1, 1, n_k); it never has more dimensions than they have. 1 or True: this key
        may be attended to; 0 or False: it is blocked.

        - Scores are divided by the square root of d_k. The softmax is over the allowed keys, the last axis; a blocked
          key has the weight 0, whatever its score. Right for scores of any size, such as 5000 or -5000.
        - A query whose keys are all blocked has weights of 0 and an output of 0, never NaN.
        - In training (after `layer.train()`, and in a new layer), each weight is dropped on its own with the
          probability `dropout`: it becomes 0. Those that are kept are divided by 1 - dropout. After `layer.eval()`
          nothing is dropped and nothing divided.
        - The weights that are returned are those after dropout, the ones that the output is made with.
        - Gradients reach q, k and v from the output, and q and k from the weights. Those through a row whose keys are
          all blocked are 0, never NaN.
        - Raises ValueError naming both sizes if the last dimensions of q and k differ, or the lengths of k and v.
        - Both results have the dtype of q, k and v: float32, float64, bfloat16 or float16. The mask has no say in it,
          float64 is not rounded to float32 on the way, and -1e9 is no float16.
        - q, k, v and mask are not modified, and nothing is kept from one call for the next.
        - The built-in attention of PyTorch is not allowed; torch.softmax is. No Python loop over tokens or sentences,
          no product is computed twice, and no tensor is larger than the scores, the arguments and the output.
        """
        raise NotImplementedError


# %%
# Try the constructor
if __name__ == "__main__":
    layer = ScaledDotProductAttention(d_k=4, dropout=0.5)
    print("a new layer:", layer)
    assert layer.training, "a new layer is in training"
    assert not list(layer.parameters()), "there is nothing to learn in it"

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
    assert torch.allclose(weights[0], known, atol=1e-4), "in eval() there is no dropout; see the table in the lesson"
    dropped = layer.train()(q, k, v)[1]
    print("in training:   ", [round(w, 4) for w in dropped[0].tolist()])
    kept = dropped != 0
    assert torch.allclose(dropped[kept], 2 * weights[kept]), "what is kept is divided by 1 - dropout, here by a half"

# %%
# Try forward once more: do gradients arrive, and is a fully blocked row harmless?
if __name__ == "__main__":
    leaves = [x.clone().requires_grad_() for x in (q, k, v)]
    nobody = torch.ones(5, 5)
    nobody[0] = 0  # The sees nothing at all
    output, weights = ScaledDotProductAttention(4)(*leaves, mask=nobody)
    assert torch.equal(weights[0], torch.zeros(5)), "a fully blocked row has weights of 0"
    (output[:, 1].sum() + weights[:, 0].sum()).backward()
    for name, leaf in zip("qkv", leaves, strict=True):
        assert leaf.grad is not None, f"no gradient reaches {name}: something cuts the way"
        assert leaf.grad.isfinite().all(), f"the gradient of {name} has NaN in it"
    print("gradient of the query of The:", leaves[0].grad[0].tolist())

# %% [markdown]
# ## Build 2: backwards through the softmax
#
# Now without PyTorch. Given how the loss changes with each weight, how does it change with each score? A score moves
# its own weight up and all others of its row down, since they share one whole.
#
# $$\frac{\partial w_i}{\partial s_j} = w_i\,(\delta_{ij} - w_j) \qquad
# \frac{\partial L}{\partial s_j} = w_j \Bigl(\frac{\partial L}{\partial w_j} - \sum_i \frac{\partial L}{\partial w_i}
# w_i\Bigr)$$


# %%
def softmax_backward(grad_weights, weights):
    """Return the gradient with respect to the scores that a softmax over the last axis was taken of, an array.

    grad_weights: the gradient with respect to the weights, an array (..., n) of any number of dimensions, at least one.
    weights: what the softmax returned, an array of the same shape; each row sums to 1, or is all 0 if everything in it
    was blocked. Returns an array of the same shape.

    - Right for every row by itself. A row of weights that are all 0 has a gradient of 0.
    - NumPy in, NumPy out. torch and autograd are not allowed.
    - float32 in, float32 out; float64 in, float64 out; integers give float64.
    - The arguments are not modified. No Python loop over rows, and no array larger than the weights: a matrix
      (n, n) for each row is too much.
    """
    raise NotImplementedError


# %%
# Try it: two weights, then the row of The
if __name__ == "__main__":
    pair = softmax_backward(np.array([1.0, 0.0]), np.array([0.5, 0.5]))
    print("weights .5 and .5, and the first should grow:", pair)
    assert np.allclose(pair, [0.25, -0.25]), "the first score should go up, the second down, by as much"
    row = np.array([0.1095, 0.2976, 0.1805, 0.1805, 0.2318])
    back = softmax_backward(np.array([0, 1, 0, 0, 0.5]), row)
    print("row The:", back.round(4), "sum:", abs(back.sum()).round(3))
    assert np.allclose(back, [-0.0453, 0.1746, -0.0747, -0.0747, 0.02], atol=2e-4), "see the table in the lesson"

# %% [markdown]
# ## Build 3: backwards through attention
#
# The same for all of it. Run forward as far as you need to, then go through the steps in the opposite order: output,
# weights, scaled scores, raw scores, and out at queries and keys.


# %%
def attention_backward(Q, K, V, grad_output):
    """Return (grad_Q, grad_K, grad_V), a tuple: the gradients with respect to the three inputs of attention.

    Attention here is that of module 03, without a mask and without dropout: softmax(Q K^T / sqrt(d_k)) V.
    Q: (..., n_q, d_k); K: (..., n_k, d_k); V: (..., n_k, d_v); grad_output: (..., n_q, d_v), the gradient with respect
    to the output. All have the same leading dimensions: none, a batch, or more. Their sizes agree; there is nothing to
    check. Each gradient has the shape of what it belongs to.

    - d_k is the width of Q. Right for scores of any size, such as 5000 or -5000: no overflow, no 0/0.
    - NumPy in, NumPy out. torch and autograd are not allowed.
    - float32 in, float32 out; float64 in, float64 out; integers give float64.
    - The arguments are not modified. No Python loop over tokens or sentences. Five products of matrices are enough, ten
      are the limit, and no array is larger than the scores, the arguments and the gradients.
    """
    raise NotImplementedError


# %%
# Try it: your gradients against those of autograd. The loss is how much The takes from cat: one entry of the output.
if __name__ == "__main__":
    grad_output = np.zeros((5, 4))
    grad_output[0, 1] = 1
    by_hand = attention_backward(q.numpy(), k.numpy(), v.numpy(), grad_output)
    leaves = [x.double().requires_grad_() for x in (q, k, v)]
    ScaledDotProductAttention(4)(*leaves)[0][0, 1].backward()
    print("gradient of the query of The:", by_hand[0][0].round(4))
    for name, mine, leaf in zip("QKV", by_hand, leaves, strict=True):
        assert mine.shape == tuple(leaf.shape), f"grad_{name} has the shape {mine.shape}"
        assert np.allclose(mine, leaf.grad.numpy()), f"grad_{name} is not what autograd says"

# %% [markdown]
# ## Use: attention learns to look back
#
# Gradient descent on queries and keys alone: each token shall look at the one before it (and *The* at itself). The
# loss is the mean of minus the logarithm of the weight that should be 1. Change the number of steps or their size, or
# leave out the division in your layer: does it learn as fast?

# %%
if __name__ == "__main__":
    layer = ScaledDotProductAttention(4)
    learnt_q, learnt_k = q.clone().requires_grad_(), k.clone().requires_grad_()
    steps = torch.optim.SGD([learnt_q, learnt_k], lr=1.0)
    before = [0, 0, 1, 2, 3]  # whom each token should look at
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
# A weight that is dropped half of the time, and doubled when it is not, is itself on average. Then: how much of a push
# comes back through a softmax that has made up its mind?

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
# A softmax has returned the two weights .25 and .75. What is the derivative of the first weight with respect to the
# *second* score? Replace the `None` (or write the answer below).

# %%
REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL = None
# Your answer goes here.
