# %%
import numpy as np


# %%
def double(x):
    """Return 2 * x for an array x, which is not modified."""
    ### BEGIN SOLUTION
    return 2 * np.asarray(x)
    ### END SOLUTION
