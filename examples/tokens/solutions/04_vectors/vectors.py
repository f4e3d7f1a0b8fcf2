# %% [markdown]
# # 04 · Vectors
#
# Say what is built here, and why.

# %%
import numpy as np


# %%
def vectors(x):
    """Return twice x: replace this by what the module is about, and state every rule a student can lose points by.

    x: array of any shape. Returns an array of the same shape. x is not modified.
    """
    ### BEGIN SOLUTION
    return 2 * np.asarray(x)
    ### END SOLUTION
