from dataclasses import dataclass

import numpy as np


@dataclass
class Scores:
    values: np.ndarray
    axis: int

    @classmethod
    def of(cls, x, axis):
        x = np.array(x, copy=True)
        if not np.issubdtype(x.dtype, np.floating):
            x = x.astype("float64")
        return cls(x, axis)

    def reduce(self, ufunc, values):
        return ufunc.reduce(values, axis=self.axis, keepdims=True)

    def centred(self):
        self.values -= self.reduce(np.maximum, self.values)  # a copy: the caller's array is not touched
        return self.values

    def weights(self):
        e = np.exp(self.centred(), out=self.values)
        e /= self.reduce(np.add, e)
        return e

    def logs(self):
        c = self.centred()
        return c - np.log(self.reduce(np.add, np.exp(c)))


class TemperatureError(ValueError):
    pass


def softmax(x, axis=-1):
    return Scores.of(x, axis).weights()


def log_softmax(x, axis=-1):
    return Scores.of(x, axis).logs()


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise TemperatureError(f"expected a positive temperature, got {temperature!r}")
    scores = Scores.of(x, axis)
    scores.values /= temperature
    return scores.weights()


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = int(np.log(np.finfo(np.float32).max))
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = int(np.log(np.finfo(np.float64).max))
