"""The known wrong ways of 04_vectors: one cell each, laid over the solution to make a wrong submission."""

import numpy as np

# %% squares
LIKELY = "the values are squared, not doubled"
HINT = "Try 3: is it 6 or 9?"


def vectors(x):
    return np.asarray(x) ** 2


# %% modifies_input
LIKELY = "the caller's array is changed"
HINT = "Print x before and after the call."
VALUES_RIGHT = True


def vectors(x):
    x *= 2
    return x
