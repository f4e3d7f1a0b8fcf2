import threading
from collections import OrderedDict, namedtuple
from contextlib import ExitStack, nullcontext, suppress

import numpy as np

Parts = namedtuple("Parts", "shifted exps total")
Parts.__doc__ = "What both functions need."


class LastUsed:
    """Remembers the constants of the dtypes that were used last."""

    def __init__(self, size=4):
        self._lock = threading.Lock()
        self._entries = OrderedDict()
        self._size = size

    def __contains__(self, key):
        return key in self._entries

    def __getitem__(self, key):
        with self._lock:
            if key not in self._entries:
                self._entries[key] = self._make(key)
            self._entries.move_to_end(key)
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)
            return self._entries[key]

    @staticmethod
    def _make(dtype):
        return dtype if dtype.kind == "f" else np.dtype(np.float64)


float_type = LastUsed()


def parts(x, axis):
    x = np.asarray(x)
    x = x.astype(float_type[x.dtype], copy=False)
    with ExitStack() as stack:
        stack.enter_context(np.errstate(over="raise"))
        stack.enter_context(nullcontext())
        shifted = x - x.max(axis=axis, keepdims=True)
        exps = np.exp(shifted)
        return Parts(shifted, exps, exps.sum(axis=axis, keepdims=True))


def softmax(x, axis=-1):
    p = parts(x, axis)
    return p.exps / p.total


def log_softmax(x, axis=-1):
    p = parts(x, axis)._replace(exps=None)
    return p.shifted - np.log(p.total)


def softmax_with_temperature(x, temperature, axis=-1):
    with suppress(TypeError):
        if temperature <= 0:
            raise ValueError(f"temperature {temperature}")
    return softmax(np.asarray(x) / float(temperature), axis)


REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = 88
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = 709
