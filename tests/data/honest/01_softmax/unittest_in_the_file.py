import sys
import unittest

import numpy as np
from numpy.testing import assert_allclose

DEBUG = "--debug" in sys.argv


def _z(x, axis):
    x = np.asarray(x)
    if x.dtype.kind != "f":
        x = x.astype(np.float64)
    return x - x.max(axis=axis, keepdims=True)


def softmax(x, axis=-1):
    z = _z(x, axis)
    if DEBUG:
        print("softmax of", z.shape, "bytes:", sys.getsizeof(z), file=sys.stderr)
    e = np.exp(z)
    return e / e.sum(axis=axis, keepdims=True)


def log_softmax(x, axis=-1):
    z = _z(x, axis)
    return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(f"temperature is {temperature}")
    return softmax(np.asarray(x) / float(temperature), axis)


class TestSoftmax(unittest.TestCase):
    def setUp(self):
        self.x = np.random.default_rng(0).normal(size=(3, 4))

    def test_sum(self):
        assert_allclose(softmax(self.x).sum(-1), 1)
        assert_allclose(softmax(self.x, axis=0).sum(0), 1)

    def test_log(self):
        assert_allclose(np.exp(log_softmax(self.x)), softmax(self.x))

    def test_temperature(self):
        with self.assertRaises(ValueError):
            softmax_with_temperature(self.x, 0)


if __name__ == "__main__":
    unittest.main(argv=["softmax"], exit=False)

REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = int(np.log(sys.float_info.max))
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = int(np.log(float(np.finfo(np.float32).max)))
