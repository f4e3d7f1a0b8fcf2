"""The comparison: its order, its messages, and the values it must not trust."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from grader.core.compare import Tolerance, difference

EXPECTED = np.array([[0.25, 0.75], [0.5, 0.5]])


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (EXPECTED.copy(), EXPECTED),
        (EXPECTED.astype(np.float32), EXPECTED),  # a separate check compares dtypes; these values are exact
        (EXPECTED + 1e-13, EXPECTED),
        (np.array([1, 0]), np.array([True, False])),
        (np.array([np.nan, np.inf, -np.inf]), np.array([np.nan, np.inf, -np.inf])),
        (3, 3.0),
        (np.float32(0.5), 0.5),
        (np.array(0.5), 0.5),
        (2**70, 2**70),
        ((EXPECTED, "a"), (EXPECTED, "a")),
        ({"w": EXPECTED, 2: None}, {"w": EXPECTED, 2: None}),
        (torch.ones(2), torch.ones(2)),
        (torch.tensor([1.0, 2.004], dtype=torch.bfloat16), torch.tensor([1.0, 2.0], dtype=torch.bfloat16)),
        (np.zeros((0, 2)), np.zeros((0, 2))),
        (np.True_, True),
        (True, np.True_),
        (np.array([2**62 + 1]), np.array([2**62 + 1])),
    ],
)
def test_equal_values_have_no_difference(actual: Any, expected: Any) -> None:
    assert difference(actual, expected) is None


@pytest.mark.parametrize(
    ("actual", "expected", "words"),
    [
        # type
        (None, EXPECTED, "expected a NumPy array of shape (2, 2), got None"),
        (EXPECTED.tolist(), EXPECTED, "got a list of length 2"),
        ("0.25", EXPECTED, "got '0.25'"),
        (np.array([["a", "b"], ["c", "d"]]), EXPECTED, "real numbers"),
        (EXPECTED + 0j, EXPECTED, "real numbers"),
        (torch.ones(2, 2), EXPECTED, "got a tensor of shape (2, 2)"),
        (np.ones(2), torch.ones(2), "expected a tensor of shape (2,), got an array"),
        (True, 1, "expected the number 1, got True"),
        (1, True, "expected True, got 1"),
        (
            (EXPECTED,),
            (EXPECTED, EXPECTED),
            "1 item instead of 2; result[1] is missing: expected <array of shape (2, 2)>",
        ),
        ([1, 2], (1, 2), "a list instead of a tuple: got a list of length 2: [1, 2], expected a tuple"),
        ({"a": 1}, {"b": 1}, "the key 'b' is missing; the key 'a' is not expected"),
        # shape
        (np.zeros((0, 1, 1)), EXPECTED, "3 dimensions instead of 2"),
        (np.zeros((2, 3)), EXPECTED, "axis 1 has 3 instead of 2"),
        (np.zeros((2, 0)), EXPECTED, "axis 1 has 0 instead of 2"),
        (np.zeros(1), 0.0, "1 dimensions instead of 0"),
        # NaN, then infinities
        (
            np.full((2, 2), np.nan),
            EXPECTED,
            "4 of 4 values are NaN and should not be; first at [0, 0]: got nan",
        ),
        (np.array([1.0]), np.array([np.nan]), "1 of 1 values should be NaN"),
        (np.array([np.inf, 1]), np.array([1.0, 1]), "1 of 2 values are infinite and should not be"),
        (np.array([np.inf]), np.array([-np.inf]), "sign of an infinity"),
        (math.nan, 0.5, "values are NaN"),
        # tolerance
        (
            EXPECTED + [[0, 0], [0, 0.125]],
            EXPECTED,
            "1 of 4 values are off, the largest gap is 0.125; first at [1, 1]: got 0.625, expected 0.5",
        ),
        (EXPECTED + 1e-8, EXPECTED, "4 of 4 values are off"),
        (np.array([254], dtype=np.uint8), np.array([-2.0]), "got 254, expected -2"),
        (np.array([1e308]), np.array([-1e308]), "largest gap is inf"),
        (0.5001, 0.5, "the value is off"),
        (2**53 + 1, 2**53, "expected 9007199254740992, got 9007199254740993"),
        (10**1000, 1.0, "infinite"),
        (np.array([2**62 + 1]), np.array([2**62]), "got 4611686018427387905, expected 4611686018427387904"),
        (np.True_, False, "expected False, got True"),
        (np.zeros(1, "i8").view("M8")[0], 1.0, "expected the number 1.0, got a NumPy scalar of dtype datetime64"),
        (torch.zeros(2, dtype=torch.uint8).view(torch.bits8), torch.zeros(2), "real numbers"),
        (np.zeros(60 << 20, dtype=bool), np.zeros(3), "axis 0 has 62914560 instead of 3"),
        ((EXPECTED, EXPECTED + 1), (EXPECTED, EXPECTED), "result[1]: 4 of 4"),
        ({"w": 2.0}, {"w": 1.0}, "result['w']: the value is off"),
    ],
)
def test_difference_names_the_first_one(actual: Any, expected: Any, words: str) -> None:
    found = difference(actual, expected)
    assert found is not None
    assert words in found


def test_tolerance_follows_the_expected_dtype() -> None:
    rough = EXPECTED + 1e-6
    assert difference(rough, EXPECTED.astype(np.float32)) is None
    assert difference(rough.astype(np.float32), EXPECTED) is not None
    assert difference((EXPECTED / 3).astype(np.float16), EXPECTED / 3) is not None


def test_integers_and_booleans_must_be_exact() -> None:
    assert difference(np.array([1.0000001]), np.array([1])) is not None
    assert difference(np.array([0.9999999]), np.array([True])) is not None


def test_explicit_tolerance_is_used() -> None:
    assert difference(np.array([1.05]), np.array([1.0]), Tolerance(0.0, 0.1)) is None
    assert difference(np.array([1.05]), np.array([1.0]), Tolerance(0.0, 0.01)) is not None


def test_expected_value_that_cannot_be_compared_raises_type_error() -> None:
    with pytest.raises(TypeError):
        difference(1, object())
