# %% [markdown]
# # 01 · Three functions on scores

# %%
import numpy as np


# %%
def softmax(x, axis=-1):
    """Return the softmax of x along one axis: right for scores of any size; x is not modified."""
    ### BEGIN SOLUTION
    x = np.asarray(x, dtype=float)
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)
    ### END SOLUTION


# %%
def log_softmax(x, axis=-1):
    """Return the logarithm of the softmax of x along one axis: finite for all finite scores."""
    ### BEGIN SOLUTION
    x = np.asarray(x, dtype=float)
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
    ### END SOLUTION


# %%
def softmax_with_temperature(x, temperature, axis=-1):
    """Return softmax(x / temperature); a temperature of 0 or below is a ValueError that names it."""
    ### BEGIN SOLUTION
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    return softmax(np.asarray(x) / temperature, axis=axis)
    ### END SOLUTION
