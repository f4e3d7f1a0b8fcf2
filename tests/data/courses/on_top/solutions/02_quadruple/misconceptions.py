"""Misconceptions of 02_quadruple."""

import numpy as np

from mylab.double import double

# %% once
LIKELY = "the array is doubled only once"
HINT = "Try 3: is it 12 or 6?"
REPLACE = {"return double(double(np.asarray(x)))": "return double(np.asarray(x))"}

# %% squares_the_double
LIKELY = "the double is squared, not doubled"
HINT = "Try 3: is it 12 or 36?"
REPLACE = {"return double(double(np.asarray(x)))": "return double(np.asarray(x)) ** 2"}

# %% modifies_input
LIKELY = "the caller's array is changed"
HINT = "Print x before and after the call."
VALUES_RIGHT = True
REPLACE = {"return double(double(np.asarray(x)))": "x *= 4\nreturn x"}

# %% every_pair
LIKELY = "every number is quadrupled once for each number"
HINT = "How often does your loop run for 100 numbers?"
COSTLY = True


def quadruple(x):
    result = double(double(np.asarray(x)))
    for one in np.ravel(x):
        for other in np.ravel(x):
            one = other
    return result
