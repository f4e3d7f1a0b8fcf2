import numpy as np

# Exercise for myself: no max(), no sum(), no exp().


def _float(x):
    x = np.asarray(x)
    return x if np.issubdtype(x.dtype, np.floating) else x.astype(float)


def _below_zero(x, axis):
    return x + np.min(-x, axis=axis, keepdims=True)


def softmax(x, axis=-1):
    powers = np.power(np.e, _below_zero(_float(x), axis))
    # all powers are positive, so their sum is the 1-norm
    return powers / np.linalg.norm(powers, ord=1, axis=axis, keepdims=True)


def log_softmax(x, axis=-1):
    y = _below_zero(_float(x), axis)
    mean = np.mean(np.power(np.e, y), axis=axis, keepdims=True)
    return y - np.log(mean) - float(np.log(y.shape[axis]))


def softmax_with_temperature(x, temperature, axis=-1):
    if np.sign(temperature) != 1:
        raise ValueError(f"temperature: {temperature}")
    return softmax(_float(x) / float(temperature), axis)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 88
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 709
