"""Probes of 08_positions: the calls that tell its misconceptions apart."""

import numpy as np

from grader.diagnosis.probe import probe

Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])  # "The cat sat on mat"
K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
PAIR = np.array([[1.0, 0.0]])
PAIRS = np.array([[1.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 3.0]])
EIGHT = np.arange(1.0, 17).reshape(2, 8) * 3 % 7 - 2
THREE = np.array([[1.0, 2.0, 3.0, 4.0], [2.0, -1.0, 0.5, 1.0], [-3.0, 1.0, 2.0, 2.0]])
SIX = np.arange(1.0, 25).reshape(4, 6) * 5 % 11 - 4
BATCH = np.arange(1.0, 19).reshape(3, 3, 2) * 4 % 7 - 2  # as many sentences as tokens
HEADS = np.arange(1.0, 33).reshape(2, 2, 2, 4) * 5 % 9 - 3  # (batch, heads, tokens, features)
WIDE_BATCH = np.arange(1.0, 25).reshape(2, 3, 4) * 7 % 11 - 4


def accepted(_value):
    """Return the same text for any result of arguments that should raise an error."""
    return "not refused"


PROBES = [
    probe("sinusoidal_positions", 2, 2),
    probe("sinusoidal_positions", 5, 4),
    probe("sinusoidal_positions", 3, 6),
    probe("sinusoidal_positions", 4, 8),
    probe("sinusoidal_positions", 1, 4),
    probe("sinusoidal_positions", 7, 4),
    probe("sinusoidal_positions", 3, 4, 100.0),
    probe("sinusoidal_positions", 2, 6, 8.0),
    probe("sinusoidal_positions", 3, 4, kwargs={"base": 400.0}),
    probe("sinusoidal_positions", 30, 6),
    probe("sinusoidal_positions", 0, 4, names=(0.0,), look=accepted),
    probe("sinusoidal_positions", -1, 4, names=(-1.0,), look=accepted),
    probe("sinusoidal_positions", -7, 2, names=(-7.0,), look=accepted),
    probe("sinusoidal_positions", 2, 5, names=(5.0,), look=accepted),
    probe("sinusoidal_positions", 6, 9, names=(9.0,), look=accepted),
    probe("sinusoidal_positions", 4, 1, names=(1.0,), look=accepted),
    probe("rope_frequencies", 2),
    probe("rope_frequencies", 4),
    probe("rope_frequencies", 6),
    probe("rope_frequencies", 8),
    probe("rope_frequencies", 16),
    probe("rope_frequencies", 4, 100.0),
    probe("rope_frequencies", 6, kwargs={"base": 27.0}),
    probe("rope_frequencies", 5, names=(5.0,), look=accepted),
    probe("rope_frequencies", 9, names=(9.0,), look=accepted),
    probe("rope_frequencies", 1, names=(1.0,), look=accepted),
    probe("apply_rope", PAIR, [1]),
    probe("apply_rope", PAIR, [0]),
    probe("apply_rope", PAIR, np.array([5])),
    probe("apply_rope", PAIRS, np.array([1, 1])),
    probe("apply_rope", PAIRS, np.array([0, 3])),
    probe("apply_rope", PAIRS, [3, 0]),
    probe("apply_rope", EIGHT, np.array([2, 7])),
    probe("apply_rope", EIGHT, np.array([0, 0])),
    probe("apply_rope", THREE, [4, 4, 0]),
    probe("apply_rope", THREE, np.array([0, 1, 2])),
    probe("apply_rope", THREE, np.array([9, 2, 5])),
    probe("apply_rope", THREE, np.array([3, 4, 5])),
    probe("apply_rope", THREE, np.array([2, 1, 2]), 100.0),
    probe("apply_rope", THREE, [7, 3, 30], kwargs={"base": 50.0}),
    probe("apply_rope", SIX, np.array([1, 6, 2, 30])),
    probe("apply_rope", SIX, np.array([8, 5, 5, 2])),
    probe("apply_rope", Q.astype(float), np.arange(5), said="the queries of the shared example, at positions 0 to 4"),
    probe("apply_rope", K, np.arange(5), said="the keys of the shared example, at positions 0 to 4"),
    probe("apply_rope", Q, np.arange(5), said="the queries of the shared example as integers, at positions 0 to 4"),
    probe("apply_rope", Q.astype(np.float32), np.arange(5), said="the queries of the shared example in float32"),
    probe("apply_rope", BATCH, np.array([0, 1, 2])),
    probe("apply_rope", BATCH, [5, 1, 3]),
    probe("apply_rope", WIDE_BATCH, np.array([2, 0, 4])),
    probe("apply_rope", HEADS, np.array([1, 3])),
    probe("apply_rope", HEADS, np.array([4, 0])),
    probe("apply_rope", np.array([[3, 4], [5, 12]]), [1, 2]),
    probe("apply_rope", np.array([[3, 4], [5, 12]], dtype=np.int32), [0, 2]),
    probe("apply_rope", np.array([[0.0, 0.0], [1.0, 1.0]]), [2, 2]),
    probe("apply_rope", np.array([[3.0, 4.0], [5.0, 12.0]], dtype=np.float32), [1, 2]),
    probe("apply_rope", np.ones((2, 3)), [0, 1], names=(3.0,), look=accepted),
    probe("apply_rope", np.ones((3, 5)), [2, 1, 2], names=(5.0,), look=accepted),
    probe("apply_rope", np.ones((2, 4, 9)), [0, 1, 0, 1], names=(9.0,), look=accepted),
    probe("alibi_slopes", 8),
    probe("alibi_slopes", 1),
    probe("alibi_slopes", 2),
    probe("alibi_slopes", 3),
    probe("alibi_slopes", 4),
    probe("alibi_slopes", 5),
    probe("alibi_slopes", 6),
    probe("alibi_slopes", 7),
    probe("alibi_slopes", 12),
    probe("alibi_slopes", 16),
    probe("alibi_slopes", 0, names=(0.0,), look=accepted),
    probe("alibi_slopes", -1, names=(-1.0,), look=accepted),
    probe("alibi_slopes", -6, names=(-6.0,), look=accepted),
    probe("alibi_bias", 2, 3, 3),
    probe("alibi_bias", 1, 1, 4),
    probe("alibi_bias", 4, 2, 2),
    probe("alibi_bias", 8, 1, 5),
    probe("alibi_bias", 2, 2, 5),
    probe("alibi_bias", 2, 4, 2),
    probe("alibi_bias", 3, 2, 3),
    probe("alibi_bias", 8, 5, 5),
    probe("alibi_bias", 0, 2, 3, names=(0.0,), look=accepted),
    probe("alibi_bias", -5, 2, 3, names=(-5.0,), look=accepted),
]
