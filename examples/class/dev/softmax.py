"""Dev: everything from one stable log-sum-exp."""

import numpy as np


class Stable:
    """Shifts scores once, and answers from there."""

    def __init__(self, scores, axis):
        scores = np.asarray(scores)
        if not np.issubdtype(scores.dtype, np.floating):
            scores = scores.astype(float)
        self.axis = axis
        self.shifted = scores - np.amax(scores, axis, keepdims=True)

    @property
    def log_total(self):
        return np.logaddexp.reduce(self.shifted, self.axis, keepdims=True)

    def logs(self):
        return self.shifted - self.log_total


def log_softmax(x, axis=-1):
    return Stable(x, axis).logs()


def softmax(x, axis=-1):
    return np.exp(log_softmax(x, axis))


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature > 0:
        return softmax(np.divide(x, float(temperature)), axis=axis)
    raise ValueError(f"{temperature=}")


(REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32, REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64) = (
    int(np.floor(np.log(np.finfo(kind).max))) for kind in (np.float32, np.float64)
)
