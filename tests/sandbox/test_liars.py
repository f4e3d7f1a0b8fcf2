"""Results that lie about themselves: they never pass, and never raise in the trusted process."""

from __future__ import annotations

import pytest

from grader.core.report import Report
from grader.course.course import Course
from grader.grading.grade import grade
from grader.submission.submission import Source, Submission
from tests.conftest import LIMITS
from tests.quick import some_of

PRELUDE = """
import numpy as np
import os, sys, types

class Yes:
    '''Equal to everything, true, and an array if asked.'''
    __class__ = np.ndarray
    shape = (3, 7)
    dtype = np.dtype(float)
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __le__(self, other): return True
    def __ge__(self, other): return True
    def __bool__(self): return True
    def __array__(self, *args, **kwargs): return np.full((3, 7), 1 / 7)
    def __array_ufunc__(self, *args, **kwargs): return True
    def __array_function__(self, *args, **kwargs): return True
    def __float__(self): return 1.0
    def __reduce__(self): return (os.system, ("touch /tmp/attnlab_was_here",))
    def __getattr__(self, name): return self
    def __call__(self, *args, **kwargs): return self

class Sub(np.ndarray):
    def __eq__(self, other): return True
    def __array_ufunc__(self, *args, **kwargs): return True

class Quiet(float):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0.0

def right(x, axis=-1):
    x = np.asarray(x, dtype=float)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)

def endless():
    items = []
    items.append(items)
    return items

def nested(depth):
    value = ()
    for _ in range(depth):
        value = (value,)
    return value
"""

LIES = {
    "equal to everything": "Yes()",
    "the class of such a thing": "Yes",
    "an array subclass": "right(x).view(Sub)",
    "a masked array": "np.ma.masked_array(right(x) * 0, mask=True)",
    "a matrix": "np.zeros((3, 7)).view(np.matrix)",
    "a record array": "right(x).view(np.recarray)",
    "a float subclass": "Quiet(1.0)",
    "NaN everywhere": "np.full(np.shape(x), np.nan)",
    "infinity everywhere": "np.full(np.shape(x), np.inf)",
    "zero": "np.zeros(np.shape(x))",
    "a shape of (0, 1, 1)": "np.zeros((0, 1, 1))",
    "a shape of (1, 1, 1, 1)": "np.ones((1, 1, 1, 1))",
    "an empty array of the right rank": "np.zeros((0,) * np.ndim(x))",
    "object dtype": "right(x).astype(object)",
    "objects equal to everything": "np.array([[Yes()] * 7] * 3, dtype=object)",
    "text": "right(x).astype(str)",
    "bytes": "right(x).astype('S')",
    "dates": "np.zeros(np.shape(x), 'M8[s]')",
    "structured": "np.zeros(np.shape(x), [('a', 'f8')])",
    "complex": "right(x) + 0j",
    "booleans": "np.ones(np.shape(x), bool)",
    "small unsigned integers": "np.ones(np.shape(x), np.uint8)",
    "float16": "right(x).astype(np.float16)",
    "3 TiB by stride 0": "np.lib.stride_tricks.as_strided(np.ones(1), (3 * 2**37,), (0,))",
    "a list that contains itself": "endless()",
    "a thousand levels": "nested(1000)",
    "ten thousand levels": "nested(10_000)",
    "a list of the right numbers": "right(x).tolist()",
    "a tuple with the right array": "(right(x),)",
    "None": "None",
    "NotImplemented": "NotImplemented",
    "True": "True",
    "a number": "1 / 7",
    "a number of 20 000 digits": "10**20_000",
    "a number of 1 000 digits": "10**1_000",
    "a text with controls": "'\\x1b[2J\\ud800\\u202e passed'",
    "a generator": "(row for row in right(x))",
    "a function": "right",
    "a module": "np",
    "a unitless date": "np.zeros(1, 'i8').view('M8')[0]",
    "numbers near the largest": "np.full(np.shape(x), 1e308)",
    "40 dimensions": "np.zeros((1,) * 40)",
    "2 MB of booleans": "np.zeros(2 << 20, bool)",
    "NaN as a key": "{float('nan'): 1}",
    "a device-like text": "'cuda:01'",
    "an exception": "AssertionError()",
    "an exception class": "AssertionError",
    "a frame": "sys._getframe()",
    "a dict with odd keys": "{(1, 2): 3}",
    "a dict": "{'weights': right(x)}",
    "a set": "{1, 2}",
    "the input itself": "x",
    "a view of the input": "np.asarray(x)[...]",
}
RAISED = {
    "AssertionError": "raise AssertionError('passed')",
    "an exception with no text": "raise type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})()",
    "an exception of many names": "raise type('ValueError', (Exception,), {'__module__': 5})('temperature 0 -1.5')",
    "a ValueError of their own": "raise type('ValueError', (Exception,), {})('temperature 0 -1.5')",
    "StopIteration": "raise StopIteration",
    "SystemExit": "raise SystemExit(0)",
    "a skip": "import pytest; pytest.skip('not today')",
    "a pytest exit": "import pytest; pytest.exit('passed', 0)",
    "an exception group": "raise BaseExceptionGroup('g', [KeyboardInterrupt()])",
}


def liar(body: str) -> str:
    signature = "(x, *args, **kwargs):\n    "
    functions = "".join(
        f"def {name}{signature}{body}\n\n" for name in ("softmax", "log_softmax", "softmax_with_temperature")
    )
    constants = "REFLECT_LARGEST_SAFE_EXPONENT_FLOAT32 = Yes()\nREFLECT_LARGEST_SAFE_EXPONENT_FLOAT64 = Yes()\n"
    return f"{PRELUDE}\n\n{functions}{constants}"


BODIES = {name: f"return {expression}" for name, expression in LIES.items()} | RAISED
EVERY = 3  # one of so many is graded in the quick run


@pytest.fixture(scope="module")
def reports(course: Course, request: pytest.FixtureRequest) -> dict[str, Report]:
    """The reports of the liars of this run, graded together."""
    chosen = [item.name for item in request.session.items if item.path == request.path]
    bodies = {name: body for name, body in BODIES.items() if any(f"[{name}]" in item for item in chosen)}
    found: list[Report] = []
    submissions = [
        Submission(name, "01_softmax", "softmax.py", {"softmax": Source("softmax.py", (liar(body),), notebook=False)})
        for name, body in bodies.items()
    ]
    grade(course, course.module("softmax"), submissions, found.append, LIMITS)
    return dict(zip(bodies, found, strict=True))


# Checks that a liar may pass without a lie: the dtype is right by accident, or the order of the scores is kept.
DTYPES = {"softmax_dtype", "log_softmax_dtype", "temperature_dtype"}
ORDER = {"softmax_keeps_the_order"}
ALLOWED = {
    "float16": ORDER,
    "the input itself": ORDER | {"softmax_leaves_its_arguments"},
    "a view of the input": ORDER | {"softmax_leaves_its_arguments"},
}


@pytest.mark.parametrize("name", some_of(BODIES, EVERY))
def test_liar_passes_nothing_and_causes_no_grader_fault(reports: dict[str, Report], name: str) -> None:
    report = reports[name]
    assert report.status == "graded", report.checks[0].detail
    assert len(report.checks) == 36
    assert not [check for check in report.checks if check.outcome == "grader_fault"]
    passed = {check.name for check in report.checks if check.outcome == "passed"} - DTYPES
    assert passed <= ALLOWED.get(name, set())
