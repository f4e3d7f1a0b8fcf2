import argparse
import json
import os
import textwrap
import timeit
from pathlib import Path
from pprint import pformat

import numpy as np

VERBOSE = os.environ.get("SOFTMAX_VERBOSE", "0") == "1"
HERE = Path("softmax.py")
NOTES = textwrap.dedent(
    """\
    {"float32": 88,
     "float64": 709}
    """
)


def say(*words):
    if VERBOSE:
        print(HERE.stem, *words)


def _as_float(x):
    x = np.asarray(x)
    say(pformat(x))
    return np.require(x, dtype=x.dtype if x.dtype.kind == "f" else np.float64)


def softmax(x, axis=-1):
    x = _as_float(x)
    e = np.exp(x - np.max(x, axis, keepdims=True))
    return np.divide(e, np.sum(e, axis, keepdims=True))


def log_softmax(x, axis=-1):
    x = _as_float(x)
    m = np.max(x, axis, keepdims=True)
    return x - m - np.log(np.sum(np.exp(x - m), axis, keepdims=True))


def softmax_with_temperature(x, temperature, axis=-1):
    if temperature <= 0:
        raise ValueError(json.dumps({"temperature": float(temperature)}))
    return softmax(_as_float(x) / float(temperature), axis)


def main():
    parser = argparse.ArgumentParser(description="Time softmax.")
    parser.add_argument("--size", type=int, default=100)
    arguments, _ = parser.parse_known_args()
    x = np.zeros((arguments.size, arguments.size))
    print(timeit.timeit(lambda: softmax(x), number=10) / 10)


if __name__ == "__main__":
    main()

_answers = json.loads(NOTES)
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = _answers["float32"]
REFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = _answers["float64"]
