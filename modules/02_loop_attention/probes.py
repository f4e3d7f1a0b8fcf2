"""Probes of 02_loop_attention: the calls that tell its misconceptions apart.

No query has two keys that share the largest score. Where values are wider than keys, only the weights are compared. In
these cases one mistake could give many different results.
"""

import numpy as np

from cli.attention.weights_reading import Weights
from grader.diagnosis.probe import probe

# The shared example, "The cat sat on mat".
Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]], dtype=float)
K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])


def vector(*entries, dtype=float):
    """Return a vector."""
    return np.array(entries, dtype=dtype)


# Two queries, three keys, four entries, two values.
Q23 = np.array([[1.0, 0, 2, -1], [0, 1, -1, 2]])
K23 = np.array([[2.0, 0, 0, 1], [1, -1, 1, 0], [-1, 2, 1, 1]])
V23 = np.array([[1.0, 4], [-2, 0.5], [3, -1]])
MORE23 = np.array([[1.0, 1, 0, 2], [-1, 2, 1, 0]])
FIRST_BLOCKED = np.array([[0, 0, 0], [1, 0, 1]])
LAST_BLOCKED = np.array([[True, True, False], [False, False, False]])

# Two queries, five keys, three entries, one value.
Q25 = np.array([[1.0, 2, 0], [-1, 0.5, 1]])
K25 = np.array([[1.0, 0, 1], [0, 1.5, 1], [2, 1, 0], [-1, 0, 2], [0, -1, 1]])
V25 = np.array([[1.0], [-2], [4], [8], [-16]])

# All sizes equal.
Q33 = np.array([[1.0, 0, 2], [0, 1, 1], [2, -1, 0]])
K33 = np.array([[0.0, 1, 1], [1, 2.5, 0], [1, 0, -1]])
V33 = np.array([[1.0, 2, 4], [-1, 3, 0], [0.5, 0, 5]])

Q2 = np.array([[1.0, 2], [-1, 1]])
K2 = np.array([[0.0, 1], [1, 1]])
V2 = np.array([[1.0], [4]])

# Wide vectors, and narrow ones.
Q9 = np.array([[1.0, 0, 1, 2, 0, 1, -1, 0, 2], [0, 2, 1, 0, 1, 0, 1, 1, -1]])
K9 = np.array([[1.0, 1, 0, 1, 0, 2, 0, 1, 1], [0, 1, 1, 0, 2, 0, 0, 1, 0]])
V9 = np.array([[1.0, 2], [-1, 0]])
Q1, K1, V1 = np.array([[1.0], [-2]]), np.array([[0.5], [2], [-1], [1]]), np.array([[1.0], [2], [4], [-8]])

# Batches.
QB = np.array([[[1.0, 0], [2, 1]], [[0, 2], [-1, 1]]])
KB = np.array([[[1.0, 2], [0, 1.5], [2, -1]], [[-1, 0], [1, 0.5], [2, 1]]])
VB = np.array([[[1.0], [2], [4]], [[-1], [8], [3]]])
MASK_B = np.array([[[1, 1, 0], [0, 1, 1]], [[0, 0, 0], [1, 0, 1]]])
QT = np.array([[[1.0, 2, 0]], [[0, 1, -1]], [[2, 0, 1]]])
KT = np.array([[[1.0, 0, 1], [0, 1, 0]], [[2, 1, 0], [0, 0, 1]], [[1, 1, -1], [0, -1, 2]]])
VT = np.array([[[1.0], [4]], [[3], [-2]], [[5], [-8]]])
MASK_T = np.array([[[True, True]], [[False, True]], [[True, True]]])
QS = np.array([[[1.0, 2], [0, 1]], [[2, -1], [1, 1]]])
KS = np.array([[[0.0, 1], [1, 2]], [[1, 0], [-1, 3]]])
VS = np.array([[[1.0], [2]], [[-1], [8]]])

# Scores of 5000 and -5000; a blocked score of 5000; allowed scores of -50000.
Q_HIGH = np.array([[100.0, 0, 0, 1], [0, -100, 1, 0]])
K_HIGH = np.array([[100.0, 100, 0, 1], [100, 100, 1, 0], [100, 100, 2, -1]])
Q_SPIKE = np.array([[100.0, 0, 0, 1], [100, 1, 0, 0]])
K_SPIKE = np.array([[100.0, 0, 0, 0], [0, 1, 0, 2], [0, 0, 1, 0]])
Q_DEEP = np.array([[-1000.0, 0, 0, 1], [0, 2, 0, 0.5]])
K_DEEP = np.array([[0.0, 1, 0, 0], [100, 0, 0, 0], [100, 0, 0, 2]])

# Each column of the integers has one nonzero entry, which is cut or rounded once.
WHOLE_V = np.array([[4, 0], [0, 0], [0, 7]])
WHOLE = (Q23.astype(int), K23.astype(int), WHOLE_V)
FLOAT32 = (Q23.astype(np.float32), K23.astype(np.float32), V23[:, :1].astype(np.float32))
ATTENTION = "scaled_dot_product_attention"


def accepted(_value):
    """Return the same text for any result of arguments that should raise an error."""
    return "not refused"


def floats(value):
    """Return an array as float64. Entries that were cut or rounded still show it in their values."""
    return value.astype(float) if isinstance(value, np.ndarray) else value


def of_a_pair(look):
    """Return a function for the pair (output, weights). Anything else is kept: it is wrong as it is."""
    return lambda value: look(*value) if isinstance(value, tuple) and len(value) == 2 else value


def without_nan(array):
    """Return an array with 0 for NaN."""
    return np.where(np.isnan(array), 0, array)


# Where a sum is 0, the same mistake can make a weight 0 or NaN.
output_of = of_a_pair(lambda output, _: output)
zero_for_nan = of_a_pair(lambda output, weights: (without_nan(output), without_nan(weights)))
# Values that are wider than the keys do not change the weights.
weights_of = of_a_pair(lambda _, weights: weights)
as_floats = of_a_pair(lambda output, weights: (floats(output), floats(weights)))

PROBES = [
    probe("dot_product", vector(2), vector(3)),
    probe("dot_product", vector(0.5), vector(0.5)),
    probe("dot_product", vector(1, 0), vector(0, 1)),
    probe("dot_product", vector(1, 1), vector(1, -1)),
    probe("dot_product", vector(1, -2.5), vector(1, 1)),
    probe("dot_product", vector(3, 0.75), vector(2, 1)),
    probe("dot_product", vector(1, 2, 3), vector(4, -5, 6)),
    probe("dot_product", vector(2, -1, 1), vector(1, 1, 5)),
    probe("dot_product", vector(1, 2, 4, dtype=int), vector(3, 0, -2, dtype=int), any_dtype=True),
    probe("dot_product", vector(5000, 1), vector(5000, -3)),
    probe("dot_product", vector(2, 0, -1, 3, 1, -2), vector(1, 5, 2, -1, 4, 3)),
    probe("dot_product", vector(1.5, 2, -1, dtype=np.float32), vector(2, 1, 4, dtype=np.float32)),
    probe("dot_product", Q[0], K[4]),
    probe("dot_product", vector(1, 2, 3), vector(1, 1, 1, 1, 1), names=(3, 5)),
    probe("dot_product", vector(2, 0, 1), vector(4, 1, 3, 1), names=(3, 4)),
    probe("dot_product", vector(1, 2, 4, 1, 1, 1), vector(1, 1, 1), names=(6, 3)),
    probe("attention_scores", np.array([[2.0]]), np.array([[3.0]])),
    probe("attention_scores", np.array([[1.0, 2]]), np.array([[3.0, 0], [-1, 1]])),
    probe("attention_scores", np.array([[2.0, 1, 1.5]]), np.array([[1.0, 1, 2.5], [1, 0, -2.5]]), look=floats),
    probe("attention_scores", QB[0], KB[0]),
    probe("attention_scores", QB[1], KB[1]),
    probe("attention_scores", Q33, K33),
    probe("attention_scores", Q25, K25),
    probe("attention_scores", np.array([[1, 2], [-1, 3]]), np.array([[2, 0], [1, 1], [0, -4], [3, 5]])),
    probe("attention_scores", Q_HIGH[:1], K_HIGH),
    probe("attention_scores", QT[0].astype(np.float32), K25[1:].astype(np.float32)),
    probe("attention_scores", Q, K, said="the shared example"),
    probe("attention_scores", np.ones((2, 3)), np.ones((4, 6)), names=(3, 6), look=accepted),
    probe("attention_scores", np.ones((3, 1)), np.ones((3, 2)), names=(1, 2), look=accepted),
    probe("scale_factor", 4),
    probe("scale_factor", 1),
    probe("scale_factor", 2),
    probe("scale_factor", 3),
    probe("scale_factor", 64),
    probe("scale_factor", 4, kwargs={"variance": 3.0}),
    probe("scale_factor", 4, kwargs={"variance": 0.25}),
    probe("scale_factor", 1, kwargs={"variance": 3.0}),
    probe("scale_factor", 7, kwargs={"variance": 2.0}),
    probe("scale_factor", 100, 0.5),
    probe(ATTENTION, Q1[:1], K1[:2], V1[:2]),
    probe(ATTENTION, Q23, K23, np.eye(3), reads=Weights(Q23 @ K23.T, scale=2.0, part=0)),
    probe(ATTENTION, Q33, K33, V33, reads=Weights(Q33 @ K33.T, scale=3**0.5, part=1)),
    probe(ATTENTION, Q25, K25, V25, reads=Weights(Q25 @ K25.T, scale=3**0.5, part=1)),
    probe(ATTENTION, Q9, K9, V9, reads=Weights(Q9 @ K9.T, scale=3.0, part=1), said="vectors of nine entries"),
    probe(ATTENTION, Q1, K1, V1),
    probe(
        ATTENTION,
        Q23,
        K23,
        np.eye(3),
        np.array([[1, 1, 0], [0, 1, 1]]),
        reads=Weights(Q23 @ K23.T, scale=2.0, mask=np.array([[1, 1, 0], [0, 1, 1]]), part=0),
    ),
    probe(ATTENTION, MORE23, K23, V23),
    probe(ATTENTION, MORE23, K23, V23, FIRST_BLOCKED),
    probe(ATTENTION, Q23, K23, V23[:, :1], LAST_BLOCKED),
    probe(ATTENTION, Q25, K25, V25, np.array([[1.0, 0, 1, 1, 0]])),
    probe(ATTENTION, Q2, K2, V2, np.array([False, True])),
    probe(ATTENTION, Q2, K2, V2, np.array([[1], [0]])),
    probe(ATTENTION, Q33, K33, V33[:, :1], np.array([[1.0, 1, 0], [0, 1, 0], [1, 0, 1]])),
    probe(ATTENTION, QS, KS, VS, said="a batch of two"),
    probe(ATTENTION, QB, KB, VB, MASK_B, said="a batch of two, each with its own mask"),
    probe(ATTENTION, QT, KT, VT, MASK_T, said="a batch of three, with a mask of shape (3, 1, 2)"),
    probe(ATTENTION, QS, KS, VS, np.tri(2), said="a batch of two, with one causal mask for both"),
    probe(ATTENTION, Q_HIGH, K_HIGH, V23[:, :1]),
    probe(ATTENTION, Q_HIGH, K_HIGH, V23, look=zero_for_nan, said="scores of 5000 and of -5000"),
    probe(ATTENTION, Q_HIGH[1:], K_HIGH, V23, look=zero_for_nan),
    probe(ATTENTION, Q_SPIKE, K_SPIKE, V23, np.array([[0, 1, 1], [1, 0, 1]])),
    probe(ATTENTION, Q_DEEP, K_DEEP, V23, np.array([[0, 1, 1], [1, 1, 0]]), look=output_of),
    probe(ATTENTION, *WHOLE),
    probe(ATTENTION, Q23, K23, WHOLE_V[:, :1], look=as_floats),
    probe(ATTENTION, *FLOAT32),
    probe(ATTENTION, *FLOAT32, np.array([[1.0, 1, 0]])),
    probe(ATTENTION, Q[[0, 1, 3]], K, V, said="The, cat and on of the shared example"),
    probe(
        ATTENTION,
        Q[[1, 3]],
        K,
        V[:, 1:3],
        np.tri(5)[[1, 3]],
        said="cat and on of the shared example, with a causal mask",
    ),
    probe(ATTENTION, np.ones((2, 3)), np.ones((4, 6)), np.ones((4, 5)), names=(3, 6), look=accepted),
    probe(ATTENTION, np.ones((2, 3)), np.ones((4, 3)), np.ones((6, 1)), names=(4, 6), look=accepted),
    probe(ATTENTION, np.ones((2, 3, 4)), np.ones((2, 6, 5)), np.ones((2, 6, 1)), names=(4, 5), look=accepted),
    probe(ATTENTION, np.ones((2, 3, 4)), np.ones((2, 5, 4)), np.ones((2, 7, 1)), names=(5, 7), look=accepted),
    probe(ATTENTION, Q2, K2, np.array([[1.0, 0, 2, -4, 8], [3, 1, 0, 1, -1]]), look=weights_of, said="wide values"),
    probe(ATTENTION, K25, Q25, V2, said="five queries and two keys"),
]
