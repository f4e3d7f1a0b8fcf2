"""Each assertion accepts right values, and raises only AssertionError for anything else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grader.core.errors import StudentRaisedError
from grader.sandbox.protocol.device_findings import DeviceCall, DeviceFinding
from grader.sandbox.protocol.wire import Remote
from grader.sandbox.student import Call
from grader.testing import (
    array_like,
    assert_close,
    assert_disciplined,
    assert_dtype,
    assert_raises,
    assert_rows_sum_to_one,
    assert_unmodified,
)

ROWS = np.full((2, 4), 0.25)
# What a worker may send: every assertion must fail for it, and none may raise another error.
STRANGE: list[Any] = [
    None,
    True,
    3,
    10**1000,
    float("nan"),
    1j,
    "text\ud800",
    b"x",
    [],
    [[0.25] * 4] * 2,
    (),
    {},
    Remote(3, "thing"),
    np.float64(0.25),
    np.bool_(True),
    np.array(None, dtype="M8[s]"),
    np.array(["a"]),
    np.zeros((0, 1, 1)),
    np.full((2, 4), np.nan),
    np.full((2, 4), np.inf),
    np.full((2, 4), 0.25 + 0j),
    np.full((2, 4), 3, dtype=np.uint8),
    np.full((4, 2), 0.25),
    np.zeros(()),
]
ASSERTIONS: dict[str, Callable[[Any], object]] = {
    "close": lambda value: assert_close(value, ROWS),
    "array_like": lambda value: array_like(value, (2, 4)).sum() == 2.0,
    "rows": lambda value: assert_rows_sum_to_one(value, (2, 4)),
    "dtype": lambda value: assert_dtype(value, np.float16),
    "unmodified": lambda value: assert_unmodified(Call(None, (value,), {}), ROWS),
    "raises": lambda value: assert_raises(ValueError, lambda: value),
}


@pytest.mark.parametrize("value", STRANGE, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("name", [name for name in ASSERTIONS if name != "array_like"])
def test_strange_values_only_raise_assertion_errors(name: str, value: Any) -> None:
    with pytest.raises(AssertionError):
        ASSERTIONS[name](value)


@pytest.mark.parametrize("value", STRANGE, ids=lambda value: type(value).__name__)
def test_array_like_returns_a_finite_array_of_the_shape_or_fails(value: Any) -> None:
    try:
        array = array_like(value, (2, 4))
    except AssertionError:
        return
    assert np.isfinite(array).all()
    assert array.shape == (2, 4)
    assert array.dtype == np.float64


def test_right_values_pass() -> None:
    assert_close(ROWS, ROWS)
    assert_rows_sum_to_one(ROWS, (2, 4))
    assert_rows_sum_to_one(ROWS.astype(np.float32) + np.float32(1e-6), (2, 4), dtype=np.float32)
    assert_dtype(ROWS, np.float64)
    assert_unmodified(Call(None, (ROWS, 2.0), {}), ROWS.copy(), 2.0)


def test_wrong_row_sums_are_named() -> None:
    with pytest.raises(AssertionError, match=r"sum to 1\.2"):
        assert_rows_sum_to_one(ROWS * 1.2, (2, 4))
    with pytest.raises(AssertionError, match=r"sum to 1\.00000001, not to 1"):
        assert_rows_sum_to_one(ROWS * (1 + 1e-8), (2, 4))
    with pytest.raises(AssertionError, match="negative"):
        assert_rows_sum_to_one(ROWS + [1, -1, 0, 0], (2, 4))


def test_rounded_weights_of_random_scores_fail_whatever_their_sum_is() -> None:
    assert_rows_sum_to_one(np.array([[1.0, 0], [1 / 3, 2 / 3]]), (2, 2), ties=False)
    for share in (1, 0.5, 0.25):
        assert_rows_sum_to_one(np.array([[share, 1 - share], [0, 1]]), (2, 2), ties=False)
    with pytest.raises(AssertionError, match="the weights are rounded"):
        assert_rows_sum_to_one(np.array([[1.0, 0], [0.3333, 0.6667]]), (2, 2), ties=False)


def raising(types: tuple[str, ...], message: str) -> Callable[[], Any]:
    def call() -> Any:
        raise StudentRaisedError("f", types, message, "f.py", 1, "")

    return call


def test_exception_needs_the_type_and_the_numbers() -> None:
    kinds = ("mylab.f.ShapeError", "ValueError", "Exception", "object")
    own = ("mylab.f.ValueError", "Exception", "object")
    assert_raises(ValueError, raising(kinds, "3 and 4.0 differ"), 3, 4)
    assert_raises(ValueError, raising(kinds, "must be in 0-5, not -7"), 5, -7)
    with pytest.raises(AssertionError, match="should name 5"):
        assert_raises(ValueError, raising(kinds, "3 and 4 differ"), 3, 5)
    with pytest.raises(AssertionError, match="expected a ValueError"):
        assert_raises(ValueError, raising(own, "3"), 3)
    with pytest.raises(AssertionError, match="expected a KeyError"):
        assert_raises(KeyError, raising(kinds, "3"), 3)


def test_other_lines_are_named_only_where_they_are_known() -> None:
    findings = tuple(DeviceFinding("host_sync", "a wait", "work.py", line) for line in (3, 0, 3, 5))
    with pytest.raises(AssertionError) as raised:
        assert_disciplined(DeviceCall(None, (), findings, (), ()), None)
    assert str(raised.value).endswith(" Look at line 5, too.")
