from numpy import *


def softmax(x, axis=-1):
    x = asarray(x)
    if not issubdtype(x.dtype, floating):
        x = x.astype(float64)
    y = exp(x - amax(x, axis, keepdims=True))
    return y / sum(y, axis, keepdims=True)


def log_softmax(x, axis=-1):
    x = asarray(x)
    if not issubdtype(x.dtype, floating):
        x = x.astype(float64)
    y = x - amax(x, axis, keepdims=True)
    return y - log(sum(exp(y), axis, keepdims=True))


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError("bad temperature: %g" % temperature)
    x = asarray(x)
    return softmax(x / float(temperature), axis)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 88
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 709
