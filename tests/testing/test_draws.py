"""Random inputs that are never degenerate."""

from __future__ import annotations

import numpy as np
import pytest

from grader.testing import derangement, draw_until, mixed_lengths, mixed_mask, spread_numbers

SEEDS = range(200)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_draws_until_the_condition_holds(seed: int) -> None:
    drawn = draw_until(np.random.default_rng(seed), lambda rng: int(rng.integers(6)), lambda number: number == 5)
    assert drawn == 5


def test_gives_up_with_a_clear_error_if_the_condition_never_holds() -> None:
    with pytest.raises(RuntimeError, match="none of 1000 random inputs shows what the check is about"):
        draw_until(np.random.default_rng(0), lambda rng: rng.normal(), lambda _: False)


@pytest.mark.parametrize("shape", [(3, 3), (2, 2), (3, 2), (2, 3, 4, 5), (2, 2, 2, 2), (8, 8)])
def test_a_mixed_mask_is_neither_causal_nor_padding(shape: tuple[int, ...]) -> None:
    lower = np.tri(shape[-2], shape[-1])
    for seed in SEEDS:
        masks = mixed_mask(np.random.default_rng(seed), shape).reshape(-1, *shape[-2:])
        for mask in masks:
            assert set(np.unique(mask)) == {0, 1}
            assert mask.any(axis=-1).all()
            assert not mask.all(axis=-1).any()
            assert (mask > lower).any()
            assert (mask < lower).any()
            assert (mask != mask[0]).any()
            assert shape[-2] != shape[-1] or shape[-1] < 3 or (mask != mask.T).any()
            assert shape[-1] < 3 or mask.sum(axis=-1).max() >= 2


@pytest.mark.parametrize(("shape", "fewest"), [((5,), 2), ((2, 1, 1, 3), 2), ((2,), 1), ((3, 1), 1)])
def test_a_mixed_mask_of_single_rows_or_columns(shape: tuple[int, ...], fewest: int) -> None:
    for seed in SEEDS:
        mask = mixed_mask(np.random.default_rng(seed), shape)
        assert mask.shape == shape
        assert mask.sum(axis=-1).min() >= fewest


def test_mixed_lengths_have_one_longest() -> None:
    for seed in SEEDS:
        lengths = mixed_lengths(np.random.default_rng(seed), 3, 4)
        assert sorted(lengths)[-1] == 4
        assert sorted(lengths) not in (lengths, lengths[::-1])
        assert min(lengths) >= 1
        assert sorted(lengths)[1] < 4


def test_a_derangement_moves_everything() -> None:
    for seed in SEEDS:
        order = derangement(np.random.default_rng(seed), 5)
        assert sorted(order) == [0, 1, 2, 3, 4]
        assert (order != np.arange(5)).all()


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_spread_numbers_are_exactly_so_far_apart(axis: int) -> None:
    numbers = spread_numbers(np.random.default_rng(0), (2, 3, 4), 98.0, axis)
    assert np.allclose(np.ptp(numbers, axis=axis), 98.0)
    assert np.isfinite(spread_numbers(np.random.default_rng(0), (3, 1), 98.0)).all()
