import numpy as np


class _Softmax:
    """A softmax along a fixed axis that can be called like a function."""

    __slots__ = ("_axis", "_log")

    def __init__(self, axis=-1, *, log=False):
        self._axis = axis
        self._log = log

    def __repr__(self):
        return f"{type(self).__name__}(axis={self._axis}, log={self._log})"

    def __eq__(self, other):
        if not isinstance(other, _Softmax):
            return NotImplemented
        return (self._axis, self._log) == (other._axis, other._log)

    def __hash__(self):
        return hash((self._axis, self._log))

    @property
    def axis(self):
        return self._axis

    @staticmethod
    def floats(x):
        x = np.asarray(x)
        return x if x.dtype in (np.float32, np.float64) else x.astype(np.float64)

    @classmethod
    def logarithmic(cls, axis=-1):
        return cls(axis, log=True)

    def __call__(self, x):
        x = self.floats(x)
        z = x - x.max(axis=self.axis, keepdims=True)
        e = np.exp(z)
        total = e.sum(axis=self.axis, keepdims=True)
        return z - np.log(total) if self._log else e / total


class _Tempered(_Softmax):
    __slots__ = ("temperature",)

    def __init__(self, temperature, axis=-1):
        super().__init__(axis)
        if temperature <= 0:
            raise ValueError(f"temperature should be above 0, got {temperature}")
        self.temperature = float(temperature)

    def __call__(self, x):
        return super().__call__(self.floats(x) / self.temperature)


def softmax(x, axis=-1):
    return _Softmax(axis)(x)


def log_softmax(x, axis=-1):
    return _Softmax.logarithmic(axis)(x)


def softmax_with_temperature(x, temperature, axis=-1):
    return _Tempered(temperature, axis)(x)


assert _Softmax(0) == _Softmax(0) != _Softmax.logarithmic(0)

REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 88
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 709
