import numpy as np


def softmax(x, axis=-1):
    powers = np.exp(x)
    return powers / powers.sum(axis=axis, keepdims=True)
