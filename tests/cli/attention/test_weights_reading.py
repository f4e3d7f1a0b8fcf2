"""Tables of weights: their axis, mask and scale are read from the numbers."""

from __future__ import annotations

import numpy as np
import pytest

from cli.attention.weights_reading import Weights

SCORES = np.array([[0.0, 2.0, 1.0], [4.0, 1.0, 3.0]])
CAUSAL = np.array([[1, 0, 0], [1, 1, 0]])


def softmax(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    exps = np.exp(scores)
    return np.asarray(exps / exps.sum(axis=axis, keepdims=True))


def test_right_weights_give_no_reading() -> None:
    assert Weights(SCORES, scale=2)(softmax(SCORES / 2)) is None


@pytest.mark.parametrize("divisor", [1.0, 4.0, 0.5, 1.7])
def test_scale_is_read_from_weights(divisor: float) -> None:
    found = Weights(SCORES, scale=2, part=0)((softmax(SCORES / divisor), None))
    assert found is not None
    assert f"scores divided by {divisor:g}; it should be 2" in found.evidence


def test_axis_is_read_from_weights() -> None:
    found = Weights(SCORES)(softmax(SCORES, axis=0))
    assert found is not None
    assert found.cause == "the softmax runs over the queries, not over the keys"
    found = Weights(SCORES)(np.exp(SCORES) / np.exp(SCORES).sum())
    assert found is not None
    assert "all weights of the table together sum to 1" in found.cause


def test_mask_is_read_from_weights() -> None:
    of = Weights(SCORES, mask=CAUSAL)
    for weights, cause in [
        (softmax(SCORES), "the mask is not used"),
        (softmax(SCORES) * CAUSAL, "the mask is applied after the softmax"),
        (softmax(np.where(CAUSAL, -np.inf, SCORES)), "the mask is inverted"),
    ]:
        found = of(weights)
        assert found is not None
        assert cause in found.cause
    assert of(softmax(np.where(CAUSAL, SCORES, -np.inf))) is None


def test_blocked_keys_far_below_the_others_can_be_read() -> None:
    scores, mask = np.array([[-800.0, -802.0, -1900.0]]), np.array([[1, 1, 0]])
    found = Weights(scores, mask=mask)(np.array([[0.0, 0.0, 1.0]]))
    assert found is not None
    assert "the mask is inverted" in found.cause


def test_equal_weights_do_not_depend_on_scores() -> None:
    found = Weights(SCORES)(np.full((2, 3), 1 / 3))
    assert found is not None
    assert found.cause == "the weights do not depend on the scores"


@pytest.mark.parametrize("value", [None, (), "text", np.zeros(3), np.full((2, 3), np.nan), np.array([["a"] * 3] * 2)])
def test_other_values_give_no_reading(value: object) -> None:
    assert Weights(SCORES)(value) is None
