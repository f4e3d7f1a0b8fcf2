"""Results that lie about themselves: never a pass, and never an exception in the trusted process."""

from __future__ import annotations

import pytest

from grader.report import Report
from tests.conftest import GradeSource

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
    "nothing of the right rank": "np.zeros((0,) * np.ndim(x))",
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
    "300 MB": "np.zeros(300 * 2**20 // 8)",
    "a list that contains itself": "endless()",
    "a thousand levels": "nested(1000)",
    "a hundred thousand levels": "nested(100_000)",
    "a list of the right numbers": "right(x).tolist()",
    "a tuple with the right array": "(right(x),)",
    "None": "None",
    "NotImplemented": "NotImplemented",
    "True": "True",
    "a number": "1 / 7",
    "a number of 200 000 digits": "10**200_000",
    "a number of 1 000 digits": "10**1_000",
    "a text with controls": "'\\x1b[2J\\ud800\\u202e passed'",
    "a generator": "(row for row in right(x))",
    "a function": "right",
    "a module": "np",
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


def assert_no_pass(report: Report) -> None:
    assert report.status == "graded", report.message
    assert report.score is not None
    assert report.score < report.max_score / 2
    faults = [check for check in report.checks if check.outcome == "grader_fault"]
    assert not faults, faults[0].detail


@pytest.mark.parametrize("expression", LIES.values(), ids=LIES.keys())
def test_a_lying_result_is_no_pass_and_no_fault(grade_source: GradeSource, expression: str) -> None:
    report = grade_source(liar(f"return {expression}"))
    assert_no_pass(report)
    reflect = [check for check in report.checks if check.target == "reflect"]
    assert [check.outcome for check in reflect] == ["failed", "failed"]


@pytest.mark.parametrize("statement", RAISED.values(), ids=RAISED.keys())
def test_a_lying_exception_is_no_pass_and_no_fault(grade_source: GradeSource, statement: str) -> None:
    assert_no_pass(grade_source(liar(statement)))


@pytest.mark.parametrize("expression", ["Yes()", "np.ones(np.shape(x), np.uint8)", "right(x).view(Sub)"])
def test_nothing_at_all_passes_for_the_boldest(grade_source: GradeSource, expression: str) -> None:
    report = grade_source(liar(f"return {expression}"))
    dtype = {"softmax_dtype", "log_softmax_dtype", "temperature_dtype"}
    assert [check.name for check in report.checks if check.outcome == "passed" and check.name not in dtype] == []
