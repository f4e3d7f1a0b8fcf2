# %% [markdown]
# # 11 · Efficient attention
#
# Full attention compares every token with every other: n² scores for n tokens. Twice as long a text costs four times as
# much. In this module you build two kinds of attention whose cost grows like n.
#
# A *window* lets each token see only the last few tokens. *Linear attention* replaces the exponential by a product of
# two feature vectors. Then the sums can be reordered, and everything a token needs to know about the past fits into one
# small matrix.
# Work through the five functions in order. After each one, run its *Try it* cell and `attn test efficient_attention`.
# The lesson is in `README.md`, next to this file.

# %%
import math

import numpy as np

# %% [markdown]
# ## Build 1: the mask of a window
#
# A window of 3 is the token itself and the two before it. Without `causal`, it is also the two after it.


# %%
def sliding_window_mask(n, window, causal=True):
    """Return the mask of a sliding window over n tokens, an array (n, n).

    Entry [i, j] is 1 (or True) if token i may look at token j, and 0 (or False) everywhere else:

    - causal: if i - window < j <= i. So a token sees itself and the window - 1 tokens before it.
    - not causal: if abs(i - j) < window. So it also sees the window - 1 tokens after it.

    - The array may be of bool, of integers or of floats. It contains only 0 and 1.
    - A window wider than n gives the same mask as a window of n.
    - If window is below 1, raises a ValueError whose message contains it.
    - Loops are allowed. Work and memory grow no faster than the size of the mask.
    """
    ### BEGIN SOLUTION
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    i = np.arange(n)[:, None]  # (n, 1): the token that looks
    j = np.arange(n)  # (n,): the token that it looks at
    if causal:
        return (i - window < j) & (j <= i)
    return np.abs(i - j) < window
    ### END SOLUTION


# %%
# Try it
if __name__ == "__main__":
    print("A causal window of 2:")
    print(np.array(sliding_window_mask(5, 2), dtype=int))
    print("A window of 2 to both sides:")
    print(np.array(sliding_window_mask(5, 2, causal=False), dtype=int))
    assert np.array_equal(np.sum(sliding_window_mask(5, 2), axis=1), [1, 2, 2, 2, 2]), "the token itself counts"

# %% [markdown]
# ## Build 2: attention in a window
#
# A mask only hides scores: they are all computed first. To save the work, compute only the scores inside the window.
# There are `window` of them for each token, so they fit into an array `(n, window)`. An array `(n, n)` is never needed.


# %%
def sliding_window_attention(Q, K, V, window):
    """Return scaled dot-product attention in which token i sees only the tokens from i - window + 1 to i.

    Q: array (..., n, d_k). K: array (..., n, d_k). V: array (..., n, d_v). Their leading axes are the same.
    Returns the output only, an array (..., n, d_v): softmax(Q K^T / sqrt(d_k)) V with the causal window.

    - At the beginning, a token sees fewer than window tokens: there is nothing before the first.
    - A window wider than n gives the same result, at the same cost, as a window of n.
    - Works for scores of any size, such as 5000 or -1e12: no overflow, no NaN, no weight outside the window.
    - If window is below 1, raises a ValueError whose message contains it. If the last axes of Q and K differ, or the
      lengths of K and V, raises a ValueError whose message contains both sizes.
    - float32 gives float32, float64 gives float64, integers give float64.
    - Does not modify Q, K or V. Loops are allowed. With w = min(window, n), steps, multiplications, work and memory
      grow no faster than n·w·d, so no array (n, n) is made.
    """
    ### BEGIN SOLUTION
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q has vectors of {Q.shape[-1]} numbers, but K of {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"K has {K.shape[-2]} tokens, but V has {V.shape[-2]}")
    n, d_k = Q.shape[-2:]
    window = min(window, n)
    dtype = np.result_type(Q, K, V, np.float32)  # integers become float64
    scores = np.full((*Q.shape[:-1], window), -np.inf, dtype=dtype)  # (..., n, window)
    for back in range(window):  # all tokens together look at the token this many positions before them
        scores[..., back:, back] = (Q[..., back:, :] * K[..., : n - back, :]).sum(axis=-1)
    scores = scores / math.sqrt(d_k)
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))  # e to the -inf is exactly 0
    weights = exps / exps.sum(axis=-1, keepdims=True)
    mixtures = np.zeros(V.shape, dtype=dtype)
    for back in range(window):
        mixtures[..., back:, :] += weights[..., back:, back, None] * V[..., : n - back, :]
    return mixtures
    ### END SOLUTION


# %%
# Try it
if __name__ == "__main__":
    tokens = ["The", "cat", "sat", "on", "mat"]
    Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
    output = sliding_window_attention(Q, K, V, window=2)
    print("A window of 2:")
    for token, row in zip(tokens, output, strict=True):
        print(f"{token:>4}", row.round(4))
    assert np.allclose(output[4], [0.2811, 0.2811, 0.2811, 0.7189], atol=1e-4), "row mat, see the lesson"
    assert np.allclose(sliding_window_attention(Q, K, V, window=1), V), "a window of 1 copies V"

# %% [markdown]
# ## Build 3: the feature map
#
# Linear attention needs features that are never negative, so that a weight cannot be negative. This map is
# `elu(x) + 1`: it rises like e to the x below 0, and like a straight line above 0.


# %%
def feature_map(x):
    """Return elu(x) + 1 for every entry of x: x + 1 where x > 0, and e to the x elsewhere.

    x: array of floats or of integers, of any shape. Returns an array of the same shape.

    - Works for large numbers, such as 5000: the result is 5001, not infinite.
    - float32 gives float32, float64 gives float64, integers give float64.
    - Does not modify x. Loops are allowed.
    """
    ### BEGIN SOLUTION
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))  # without the minimum, e to the 5000 would overflow
    ### END SOLUTION


# %%
# Try it
if __name__ == "__main__":
    print("Features of -2, -1, 0, 1 and 2:", feature_map(np.array([-2.0, -1, 0, 1, 2])).round(4))
    assert np.allclose(feature_map(np.array([-1.0, 0, 2])), [0.3679, 1, 3], atol=1e-4), "e^-1, then 1, then 2 + 1"

# %% [markdown]
# ## Build 4: linear attention
#
# The weight of a key is now `φ(q)·φ(k)`, divided by the sum of these products over all keys that the token sees. Do not
# compute the weights: first sum up the keys and values, then multiply by the queries.


# %%
def linear_attention(Q, K, V, causal=False):
    """Return linear attention: the weight of key j for query i is φ(Q_i)·φ(K_j), where φ is feature_map.

    Q: array (..., n_q, d_k). K: array (..., n_k, d_k). V: array (..., n_k, d_v). Their leading axes are the same.
    Returns the output only, an array (..., n_q, d_v). Row i is

        sum_j φ(Q_i)·φ(K_j) V_j  /  sum_j φ(Q_i)·φ(K_j)

    - not causal: j goes over all keys. n_q and n_k may differ.
    - causal: j goes from 0 to i, the token itself included. Then n_q = n_k.
    - There is no division by sqrt(d_k), and nothing is added to the denominator.
    - If the last axes of Q and K differ, or the lengths of K and V, raises a ValueError whose message contains both
      sizes.
    - float32 gives float32, float64 gives float64, integers give float64.
    - Does not modify Q, K or V. Loops are allowed. Steps, multiplications, work and memory grow no faster than
      n·d_k·d_v, with and without causal, so no array (n, n) is made. Pieces of the sequence, of at most 64 tokens, may
      be handled together: their length must not grow with n.
    """
    ### BEGIN SOLUTION
    if np.shape(Q)[-1] != np.shape(K)[-1]:
        raise ValueError(f"Q has vectors of {np.shape(Q)[-1]} numbers, but K of {np.shape(K)[-1]}")
    if np.shape(K)[-2] != np.shape(V)[-2]:
        raise ValueError(f"K has {np.shape(K)[-2]} tokens, but V has {np.shape(V)[-2]}")
    q, k, V = feature_map(Q), feature_map(K), np.asarray(V)
    if not causal:
        state = np.swapaxes(k, -1, -2) @ V  # (..., d_k, d_v): all keys and values in one matrix
        total = k.sum(axis=-2, keepdims=True)  # (..., 1, d_k)
        return (q @ state) / (q * total).sum(axis=-1, keepdims=True)
    states = np.cumsum(k[..., :, None] * V[..., None, :], axis=-3)  # (..., n, d_k, d_v): the matrix after each token
    totals = np.cumsum(k, axis=-2)  # (..., n, d_k)
    return (q[..., None, :] @ states)[..., 0, :] / (q * totals).sum(axis=-1, keepdims=True)
    ### END SOLUTION


# %%
# Try it
if __name__ == "__main__":
    output = linear_attention(Q, K, V)
    print("Linear attention, rows The and cat:")
    print(output[:2].round(4))
    print("causal, row sat:", linear_attention(Q, K, V, causal=True)[2].round(4))
    assert np.allclose(output[0], [0.2802, 0.3242, 0.3022, 0.3022], atol=1e-4), "row The, see the lesson"

# %% [markdown]
# ## Build 5: the same as a recurrence
#
# In causal linear attention, a token needs only two sums over the past: one of `φ(k)` times `v`, one of `φ(k)`. So you
# can walk through the text token by token and keep only these sums. They are the *state*.


# %%
def linear_attention_step(state, q, k, v):
    """Take one token into the state, and return (new state, output of this token).

    state: None before the first token; then what the step before returned. It can be anything that you like.
    q: array (..., d_k). k: array (..., d_k). v: array (..., d_v). Their leading axes are the same in every step.
    The output is an array (..., d_v): that of causal linear attention for this token, which sees itself.

    - The state that is passed in stays valid: a second step from the same state gives the right output, too.
    - Nothing is kept anywhere else. Two sequences that are stepped in turns do not mix.
    - If the last axes of q and k differ, raises a ValueError whose message contains both sizes.
    - float32 gives float32, float64 gives float64, integers give float64.
    - Does not modify state, q, k or v. Loops are allowed. A step costs no more than d_k·d_v in steps, multiplications,
      work and memory, however many tokens came before it.
    """
    ### BEGIN SOLUTION
    if np.shape(q)[-1] != np.shape(k)[-1]:
        raise ValueError(f"q has {np.shape(q)[-1]} numbers, but k has {np.shape(k)[-1]}")
    q, k, v = feature_map(q), feature_map(k), np.asarray(v)
    summed, total = (0, 0) if state is None else state
    summed = summed + k[..., :, None] * v[..., None, :]  # (..., d_k, d_v)
    total = total + k  # (..., d_k)
    output = (q[..., None, :] @ summed)[..., 0, :] / (q * total).sum(axis=-1, keepdims=True)
    return (summed, total), output
    ### END SOLUTION


# %%
# Try it
if __name__ == "__main__":
    state = None
    print("One token after another:")
    for token, q, k, v in zip(tokens, Q, K, V, strict=True):
        state, output = linear_attention_step(state, q, k, v)
        print(f"{token:>4}", output.round(4))
    assert np.allclose(output, linear_attention(Q, K, V, causal=True)[-1]), "the recurrence is causal linear attention"

# %% [markdown]
# ## Use
#
# How far does information travel? In each layer, a token sees `window - 1` tokens back. This cell multiplies the masks
# of several layers: a 1 means that a token can be reached through the layers below.

# %%
if __name__ == "__main__":
    band = np.array(sliding_window_mask(9, 3), dtype=int)
    reach = np.eye(9, dtype=int)
    for layer in range(1, 5):
        reach = np.minimum(reach @ band, 1)
        print(f"after {layer} layers, the last of 9 tokens is reached by {reach[-1].sum()}: {reach[-1]}")

# %% [markdown]
# What is lost? In this task, each of 12 keys has a value of its own, and the query is one of the keys. The answer is
# right if the value of that key gets the largest weight. The keys have only two numbers each: they are 12 points on a
# circle.

# %%
if __name__ == "__main__":
    angles = 2 * np.pi * np.arange(12) / 12
    keys = 20 * np.stack([np.cos(angles), np.sin(angles)], axis=1)  # (12, 2)
    values = np.eye(12)  # the weights are the output

    scores = keys @ keys.T / math.sqrt(keys.shape[1])
    exps = np.exp(scores - scores.max(axis=1, keepdims=True))
    full = exps / exps.sum(axis=1, keepdims=True)
    linear = linear_attention(keys, keys, values)
    for name, weights in [("full", full), ("linear", linear)]:
        right = int((weights.argmax(axis=1) == np.arange(12)).sum())
        print(f"{name:>6} attention finds {right} of 12 values; the weight of the right one is {weights[1, 1]:.4f}")

# %% [markdown]
# ## Reflect
#
# The products of full attention take `2·n²·d` multiplications, those of linear attention `2·n·d²`. For which n are they
# equal, if d is 64? And how many positions back can information come from, through 32 layers with a window of 4096?
# Replace each `None` (or assign the answers below).

# %%
REFLECT_CROSSOVER_N_D64 = None
REFLECT_REACH_32_LAYERS_WINDOW4096 = None
### BEGIN SOLUTION
REFLECT_CROSSOVER_N_D64 = 64
REFLECT_REACH_32_LAYERS_WINDOW4096 = 131040
### END SOLUTION
