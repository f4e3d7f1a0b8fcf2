"""Misconceptions of 01_double."""

import numpy as np

# %% squares
LIKELY = "the values are squared, not doubled"
HINT = "Try 3: is it 6 or 9?"
REPLACE = {"return 2 * np.asarray(x)": "return np.asarray(x) ** 2"}

# %% modifies_input
LIKELY = "the caller's array is changed"
HINT = "Print x before and after the call."
VALUES_RIGHT = True
REPLACE = {"return 2 * np.asarray(x)": "x *= 2\nreturn x"}

# %% loops
LIKELY = "the numbers are doubled one by one"
HINT = "Can you multiply the complete array?"
COSTLY = True


def double(x):
    return np.array([2 * one for one in np.ravel(x)]).reshape(np.shape(x))
