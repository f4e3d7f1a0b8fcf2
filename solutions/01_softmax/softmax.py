# %% [markdown]
# # 01 · Softmax
#
# Attention asks "how much should this token look at each other token?" The answer must be proportions:
# no negative numbers, and a sum of exactly 1. Softmax turns any scores into proportions:
#
# $$\operatorname{softmax}(x)_i = \frac{e^{x_i}}{\sum_j e^{x_j}}$$
#
# Work through the three functions in order. After each one, run the cell that tries it (or the whole file,
# `python softmax.py`), then run `attn test softmax`. The lesson is in `README.md`, next to this file.

# %%
import numpy as np

# %% [markdown]
# ## Build 1: softmax
#
# $e^{1000}$ does not fit in a float, but $e^{1000-1000} = 1$ does. If you subtract the same number from every
# score of a slice, the result does not change (try it on paper). So subtract the largest score.


# %%
def softmax(x, axis=-1):
    """Return the softmax of x along one axis.

    x: array of any shape; axis: the axis along which the results sum to 1.
    Returns an array of the same shape.

    - Works for scores of any size, such as 1000 or -1000: no overflow, no 0/0. Treats each slice along
      `axis` separately: one slice may be near 1000 and the next one near -1000.
    - Small weights are right, too: the second weight of softmax([0, -300]) is exp(-300), not 0.
    - float32 gives float32, float64 gives float64, integers give float64.
    - Does not modify x.
    - No Python loop over rows or entries. Work and memory grow no faster than the number of entries.
    """
    ### BEGIN SOLUTION
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)  # integers become float64
    shifted = x - x.max(axis=axis, keepdims=True)  # largest score of each slice is now 0
    exps = np.exp(shifted)  # same shape as x, all in (0, 1]
    return exps / exps.sum(axis=axis, keepdims=True)
    ### END SOLUTION


# %%
# Try softmax on the lesson's scores, and on scores that are too large for np.exp.
if __name__ == "__main__":
    scores = np.array([0, 2, 1, 1, 1.5])
    print("softmax:", softmax(scores).round(4), "and of large scores:", softmax(1000 + scores).round(4))
    assert np.allclose(softmax(scores), [0.0546, 0.4036, 0.1485, 0.1485, 0.2448], atol=1e-4), "see the first table"
    assert np.allclose(softmax(1000 + scores), softmax(scores)), "a shift by 1000 should change nothing"

# %% [markdown]
# ## Build 2: log-softmax
#
# Loss functions need the logarithm of softmax. `np.log(softmax(x))` fails exactly where it matters: a weight
# that underflows to 0 becomes $-\infty$. Take the logarithm on paper first:
#
# $$\log \operatorname{softmax}(x)_i = x_i - m - \log \sum_j e^{x_j - m}, \qquad m = \max_j x_j$$


# %%
def log_softmax(x, axis=-1):
    """Return the logarithm of the softmax of x along one axis, computed without softmax.

    x: array of any shape; axis: the axis along which exp of the results sums to 1.
    Returns an array of the same shape.

    - Finite for all finite scores, however far apart they are: log_softmax([0, -2000]) is [0, -2000].
    - float32 gives float32, float64 gives float64, integers give float64.
    - Does not modify x. No Python loop over rows or entries.
    """
    ### BEGIN SOLUTION
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)  # integers become float64
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
    ### END SOLUTION


# %%
# Try log_softmax on the lesson's scores again, and on a weight that underflows to 0.
if __name__ == "__main__":
    scores = np.array([0, 2, 1, 1, 1.5])
    print("log_softmax:", log_softmax(scores).round(4), "and far apart:", log_softmax(np.array([0, -2000])))
    assert np.allclose(log_softmax(scores), [-2.9073, -0.9073, -1.9073, -1.9073, -1.4073], atol=1e-4), "see the lesson"
    assert np.allclose(log_softmax(np.array([0, -2000])), [0, -2000]), "was the logarithm taken on paper first?"

# %% [markdown]
# ## Build 3: temperature
#
# If you divide the scores by a temperature before the softmax, the weights get sharper (temperature below 1) or
# flatter (above 1). Near 0, the largest score gets all the weight. Near infinity, every score gets the same share.


# %%
def softmax_with_temperature(x, temperature, axis=-1):
    """Return softmax(x / temperature) along one axis.

    temperature: a number above 0. If it is 0 or below, raises a ValueError whose message contains it.
    The rest is as in softmax: same shape, any scores, same dtype rules, x is not modified, no Python loop.
    """
    ### BEGIN SOLUTION
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    return softmax(np.asarray(x) / float(temperature), axis=axis)  # a Python float keeps float32 as it is
    ### END SOLUTION


# %%
# Try softmax_with_temperature: this is the row for 2 in the lesson's table.
if __name__ == "__main__":
    weights = softmax_with_temperature(np.array([0, 2, 1, 1, 1.5]), 2)
    print("at temperature 2:", weights.round(4))
    assert np.allclose(weights, [0.1095, 0.2976, 0.1805, 0.1805, 0.2318], atol=1e-4), "see the table of temperatures"

# %% [markdown]
# ## Use
#
# See what a temperature does to the attention of *The*. Change the temperatures or the scores and run it again.

# %%
if __name__ == "__main__":
    for temperature in (0.5, 1, 2, 100):
        print("temperature", temperature)
        weights = softmax_with_temperature(np.array([0, 2, 1, 1, 1.5]), temperature)
        for token, weight in zip(["The", "cat", "sat", "on", "mat"], weights, strict=True):
            print(f"  {token:>4} {weight:.4f} {'#' * round(40 * weight)}")

# %% [markdown]
# ## Reflect
#
# `np.exp(x)` overflows when x is too large. What is the largest *whole* number whose exponential is still
# finite, in float32 and in float64? Find out, then replace each `None` (or assign the answers below).

# %%
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = None
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = None
### BEGIN SOLUTION
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 88
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 709
### END SOLUTION
