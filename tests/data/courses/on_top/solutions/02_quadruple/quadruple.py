# %%
import numpy as np

from mylab.double import double


# %%
def quadruple(x):
    """Return 4 * x for an array x, which is not modified. Use your own double."""
    ### BEGIN SOLUTION
    return double(double(np.asarray(x)))
    ### END SOLUTION
