"""Stands in for 01_double: right, but slow."""

import numpy as np


def double(x):
    x = np.asarray(x)
    return np.array([one + one for one in x.ravel()], dtype=x.dtype).reshape(x.shape)
