from functools import partial, reduce
from operator import sub, truediv

import numpy as np

compose = lambda *fs: reduce(lambda f, g: lambda *a, **k: f(g(*a, **k)), fs)
juxt = lambda *fs: lambda x: tuple(f(x) for f in fs)
star = lambda f: lambda args: f(*args)
identity = lambda x: x

as_float = lambda x: np.asarray(x, dtype=np.result_type(x, np.float32) if np.asarray(x).dtype.kind == "f" else float)


def over(f, axis):
    """The reduction f along one axis, keeping the axis."""
    return partial(f, axis=axis, keepdims=True)


def shift(axis):
    return compose(star(sub), juxt(identity, over(np.max, axis)), as_float)


def softmax(x, axis=-1):
    normalise = compose(star(truediv), juxt(identity, over(np.sum, axis)))
    return compose(normalise, np.exp, shift(axis))(x)


def log_softmax(x, axis=-1):
    log_total = compose(np.log, over(np.sum, axis), np.exp)
    return compose(star(sub), juxt(identity, log_total), shift(axis))(x)


def softmax_with_temperature(x, temperature, axis=-1):
    def refuse():
        raise ValueError(f"temperature {temperature} is not above 0")

    return (temperature > 0 or refuse()) and softmax(as_float(x) / float(temperature), axis)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32, REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = (
    max(filter(lambda n: np.isfinite(np.exp(t(n))), range(800)))
    for t in map(lambda t: partial(lambda u, n: u(n), t), (np.float32, np.float64))
    if np.seterr(over="ignore") or True
)
