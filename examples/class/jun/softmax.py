"""Jun: ran out of time after the first function, which is right."""

import numpy as np


def softmax(x, axis=-1):
    x = np.asarray(x)
    e = np.exp(x - x.max(axis, keepdims=True))
    return np.einsum("...,...->...", e, 1 / e.sum(axis, keepdims=True))
