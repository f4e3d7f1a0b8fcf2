"""Remembered results equal computed ones, and no caller can change them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from grader.testing.memoize import remembered

Drawn = dict[str, torch.Tensor]


@pytest.fixture
def calls() -> list[str]:
    return []


def test_inputs_are_drawn_once_and_the_generator_advances(calls: list[str]) -> None:
    @remembered
    def draw(rng: np.random.Generator, size: int) -> np.ndarray:
        calls.append("drawn")
        return rng.normal(size=size)

    plain = np.random.default_rng(3)
    expected = [*plain.normal(size=4), *plain.normal(size=4), plain.integers(100)]
    for _ in range(3):
        rng = np.random.default_rng(3)
        assert [*draw(rng, 4), *draw(rng, 4), rng.integers(100)] == expected
    assert len(calls) == 2


def test_changing_a_result_does_not_change_the_remembered_one() -> None:
    @remembered
    def oracle(x: torch.Tensor) -> tuple[torch.Tensor, Drawn]:
        return 2 * x, {"same": x + 0}

    first = oracle(torch.ones(2))
    first[0].zero_()
    first[1]["same"].zero_()
    second = oracle(torch.ones(2))
    assert (second[0].tolist(), second[1]["same"].tolist()) == ([2.0, 2.0], [1.0, 1.0])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (torch.zeros(2), torch.zeros(2, dtype=torch.float64)),
        (torch.zeros(2, 1), torch.zeros(1, 2)),
        (torch.zeros(2), np.zeros(2, dtype=np.float32)),
        ([1, 2], (1, 2)),
        (1, 1.0),
        (1, True),
        ({"a": torch.zeros(1)}, {"b": torch.zeros(1)}),
        ({"a": torch.zeros(1)}, {"a": torch.ones(1)}),
    ],
)
def test_different_arguments_are_kept_apart(calls: list[str], one: object, other: object) -> None:
    @remembered
    def note(value: object) -> int:
        calls.append(repr(value))
        return len(calls)

    assert [note(one), note(other), note(one), note(other)] == [1, 2, 1, 2]
