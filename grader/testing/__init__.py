"""The library for the checks of authors: the `worth` decorator, and assertions that are safe on any result.

A student's result may have any type and shape. Use one of these assertions, or `array_like`, before you compute with
it: a TypeError in a check counts as a fault of the grader, not of the student.
"""

from __future__ import annotations

from grader.core.compare import Tolerance
from grader.sandbox.protocol.stand_ins import generator
from grader.sandbox.student import Arguments, arguments
from grader.testing.assertions import (
    array_like,
    assert_close,
    assert_disciplined,
    assert_dtype,
    assert_equal,
    assert_raises,
    assert_rows_sum_to_one,
    assert_unmodified,
)
from grader.testing.draws import derangement, draw_until, mixed_lengths, mixed_mask, spread_numbers
from grader.testing.gradients import (
    assert_gradients,
    assert_gradients_match_differences,
    assert_parameter_gradients,
    half_dtypes,
)
from grader.testing.memoize import remembered
from grader.testing.worth import worth

__all__ = [
    "Arguments",
    "Tolerance",
    "arguments",
    "array_like",
    "assert_close",
    "assert_disciplined",
    "assert_dtype",
    "assert_equal",
    "assert_gradients",
    "assert_gradients_match_differences",
    "assert_parameter_gradients",
    "assert_raises",
    "assert_rows_sum_to_one",
    "assert_unmodified",
    "derangement",
    "draw_until",
    "generator",
    "half_dtypes",
    "mixed_lengths",
    "mixed_mask",
    "remembered",
    "spread_numbers",
    "worth",
]
