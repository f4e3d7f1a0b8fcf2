"""Hidden checks of 01_tiles."""

import numpy as np

from grader.testing import arguments, array_like, assert_close, worth


def oracle_sums(Q, K, allowed):
    scores = np.einsum("nd,md->nm", Q, K)
    return np.einsum("nm,nm,nm->n", scores, scores, allowed)


@worth(4, "it agrees with an independent formula for tiles of any size", target="tiled_sum")
def test_tiled_sum_agrees_with_the_oracle(student, rng, shown):
    Q, K = rng.normal(size=(2, 5, 3))
    for block in (1, 2, 3, 5, 9):
        assert_close(student.tiled_sum(Q, K, block), oracle_sums(Q, K, np.ones((5, 5))))
    shown(student, "tiled_sum")


@worth(3, "the sums do not depend on the tiles", target="tiled_sum")
def test_tiled_sum_for_other_tiles(student, rng):
    Q, K = np.abs(rng.normal(size=(2, 5, 3))) + 1
    one, other = student.tiled_sum.call_many([arguments(Q, K, 5), arguments(Q, K, 2)])
    assert_close(array_like(one, (5,)), array_like(other, (5,)))


@worth(1, "twice the keys, four times the sums", target="tiled_sum")
def test_tiled_sum_is_of_squares(student, rng):
    Q, K = np.abs(rng.normal(size=(2, 4, 3))) + 1
    one, other = student.tiled_sum.call_many([arguments(Q, K, 2), arguments(Q, 2 * K, 2)])
    assert_close(array_like(other, (4,)), 4 * array_like(one, (4,)))


@worth(4, "it agrees with an independent formula for tiles of any size", target="causal_sum")
def test_causal_sum_agrees_with_the_oracle(student, rng, shown):
    Q, K = rng.normal(size=(2, 5, 3))
    for block in (1, 2, 3, 5, 9):
        assert_close(student.causal_sum(Q, K, block), oracle_sums(Q, K, np.tri(5)))
    shown(student, "causal_sum")


@worth(1.8, "the sums do not depend on the tiles", target="causal_sum")
def test_causal_sum_for_other_tiles(student, rng):
    Q, K = np.abs(rng.normal(size=(2, 5, 3))) + 1
    one, other = student.causal_sum.call_many([arguments(Q, K, 5), arguments(Q, K, 2)])
    assert_close(array_like(one, (5,)), array_like(other, (5,)))
