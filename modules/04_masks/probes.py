"""Probes of 04_masks: the calls that tell its misconceptions apart."""

import numpy as np

from cli.attention.weights_reading import Weights
from grader.diagnosis.probe import probe

# Masks to combine, of every dtype and of shapes that broadcast.
CAUSAL = np.tri(3, dtype=int)
PADDING = np.array([[[[1.0, 1.0, 0.0]]], [[[1.0, 1.0, 1.0]]]])  # (2, 1, 1, 3)
HOLES = np.array([[True, False, True], [True, True, False]])
OTHER_HOLES = np.array([[1, 1, 1], [0, 1, 0]])
FLOAT_HOLES = np.array([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
COLUMN = np.array([[1], [0], [1]])
ROW = np.array([[True, True, False, True]])
THREE_WORDS = np.array([[[[1, 1, 1, 1, 1]]], [[[1, 1, 1, 0, 0]]]])  # (2, 1, 1, 5)
HEADS = np.array([[[[1]], [[0]]]])  # (1, 2, 1, 1)

# Scores and their masks.
TRIPLE = np.array([0.0, 1.0, 3.0])
ROWS = np.array([[0.0, 2.0, 1.0], [1.5, 1.0, 3.0]])
ROWS_MASK = np.array([[True, False, True], [True, True, False]])
SQUARE = np.array([[0.0, 2.0, 1.0], [3.0, 1.0, 0.5], [1.0, 2.5, 0.0]])
SQUARE_MASK = np.array([[1, 1, 0], [0, 0, 0], [0, 1, 1]])
BLOCK = np.arange(12.0).reshape(2, 2, 3) * 3 % 5
BLOCK_MASK = np.array([[[1.0, 1.0, 0.0]], [[0.0, 1.0, 1.0]]])  # (2, 1, 3)
TWO_HEADS = np.arange(24.0).reshape(2, 2, 2, 3) * 5 % 7 / 2
BATCH = np.arange(18.0).reshape(2, 1, 3, 3) * 4 % 7 / 2
BATCH_MASK = np.tri(3, dtype=bool) & np.array([[[[1, 1, 1]]], [[[0, 1, 1]]]], dtype=bool)  # (2, 1, 3, 3)
Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
CAT = Q @ K.T / 2  # "The cat sat on mat"
LAST_BLOCKED = np.array([True, True, False])
APART = np.array([[800.0, 801.0, 0.0], [-800.0, -802.0, -900.0]])
BATCH_APART = np.array([[[800.0, 801.0]], [[-800.0, -802.0]]])
LOW = np.array([[-96.0, -97.0, 0.0], [-900.0, -901.0, 0.0], [-5001.0, -5000.0, 1.0]])
LOWEST = np.array(
    [[-5e8, -5e8 - 1000, 0.0], [-2e9 - 1000, -2e9, 0.0], [-1e15, -2e15, 0.0], [-(2.0**121), -(2.0**120), 0.0]]
)
ABOVE = np.array([[1.0, 2.0, 62.0], [2.0, 1.0, 5e8], [1.0, 2.0, 1e10], [1.0, 3.0, 2.0**100]])
FLOAT32 = ROWS.astype(np.float32)
FINE = np.array([2.0**33, 2.0**33 + 500, 2.0**33 - 4096])  # the first two are the same in float32


def padding(lengths, max_length, **more):
    """Return a probe of create_padding_mask, whose mask may have any dtype."""
    return probe("create_padding_mask", lengths, max_length, any_dtype=True, **more)


def accepted(_value):
    """Return the same text for any result of arguments that should raise an error."""
    return "not refused"


def combined(*masks, **more):
    """Return a probe of combine_masks, whose mask may have any dtype."""
    return probe("combine_masks", *masks, any_dtype=True, **more)


def weighed(scores, mask, said="", **kwargs):
    """Return a probe of masked_softmax."""
    reads = None if kwargs else Weights(scores, mask=mask)
    return probe("masked_softmax", scores, mask, kwargs=kwargs, said=said, reads=reads)


PROBES = [
    probe("create_causal_mask", 3, any_dtype=True),
    probe("create_causal_mask", 1, any_dtype=True),
    probe("create_causal_mask", 2, any_dtype=True),
    probe("create_causal_mask", 4, any_dtype=True),
    probe("create_causal_mask", 5, any_dtype=True),
    probe("create_causal_mask", 8, any_dtype=True),
    probe("create_causal_mask", 0, names=(0.0,)),
    probe("create_causal_mask", -1, names=(-1.0,)),
    probe("create_causal_mask", -7, names=(-7.0,)),
    padding([2], 3),
    padding([1, 3], 4),
    padding([5, 3], 5),
    padding([1, 3, 2], 4),
    padding([3, 1, 2], 5),
    padding((2, 4, 1), 4),
    padding([0, 2], 3),
    padding([4], 4),
    padding([1], 1),
    padding([0], 2),
    padding(np.array([2, 1]), 6),
    padding(np.array([3, 0, 2, 4], dtype=np.int32), 4),
    padding([2, 2], 2),
    padding([5, 1, 3, 0, 2], 5),
    padding([9], 5, names=(9.0, 5.0)),
    padding([5], 4, names=(5.0, 4.0)),
    padding([2, 7], 6, names=(7.0, 6.0)),
    padding([4, 8, 1], 6, names=(8.0, 6.0)),
    padding([-1], 5, names=(-1.0,)),
    padding([3, -2], 4, names=(-2.0,)),
    padding(np.array([2, -6, 1]), 4, names=(-6.0,)),
    combined(np.array([1, 0, 1]), np.array([1, 1, 0])),
    combined(np.array([True, False, False]), np.array([False, False, True])),
    combined(np.array([True, True, True]), np.array([True, True, True])),
    combined(HOLES),
    combined(np.array([[1.0, 0.0], [0.0, 1.0]])),
    combined(np.array([0, 0, 1, 1])),
    combined(HOLES, OTHER_HOLES),
    combined(OTHER_HOLES, HOLES),
    combined(HOLES, FLOAT_HOLES),
    combined(FLOAT_HOLES, OTHER_HOLES),
    combined(FLOAT_HOLES, np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])),
    combined(np.array([1, 1, 1, 0]), np.array([1, 1, 0, 1]), np.array([1, 0, 1, 1])),
    combined(np.array([1.0, 1.0]), np.array([1, 1]), np.array([True, True])),
    combined(np.array([0, 0, 0, 1, 1]), np.ones(5), np.array([True] * 5), np.array([1, 1, 0, 0, 1])),
    combined(COLUMN, ROW),
    combined(np.array([1, 1, 0]), CAUSAL),
    combined(CAUSAL, PADDING),
    combined(PADDING, CAUSAL),
    combined(THREE_WORDS, np.tri(5, dtype=bool), said="the padding mask of 5 and 3 tokens, and the causal mask"),
    combined(HEADS, np.array([[[[True, False]]], [[[True, True]]]])),
    combined(np.array([1, 0, 1]), np.array([[[[True, True, False]]]])),
    combined(look=accepted),
    weighed(TRIPLE, np.array([True, True, False])),
    weighed(TRIPLE, np.array([1, 0, 1])),
    weighed(TRIPLE, np.array([0.0, 0.0, 0.0])),
    weighed(ROWS, np.ones((2, 3), dtype=bool)),
    weighed(ROWS, ROWS_MASK),
    weighed(ROWS, np.array([0, 1, 1])),
    weighed(ROWS, np.array([[1], [0]])),
    weighed(SQUARE, np.tri(3)),
    weighed(SQUARE, np.array([True, False, True])),
    weighed(SQUARE, SQUARE_MASK),
    weighed(CAT, np.tri(5, dtype=bool), "the shared example with the causal mask"),
    weighed(ROWS, np.array([[True, True, True], [True, False, True]]), axis=0),
    weighed(ROWS, np.array([0, 1, 1]), axis=0),
    weighed(ROWS, np.array([[0], [1]]), axis=1),
    weighed(SQUARE, SQUARE_MASK.T, axis=0),
    weighed(BLOCK, np.array([[[1, 1, 0], [1, 0, 0]], [[0, 1, 1], [1, 1, 0]]]), axis=1),
    weighed(BLOCK, BLOCK_MASK),
    weighed(BLOCK, BLOCK_MASK.astype(bool), axis=-2),
    weighed(BATCH, BATCH_MASK, "scores (2, 1, 3, 3) and a mask of their shape"),
    weighed(TWO_HEADS, np.array([[[[1, 1, 0]]], [[[1, 0, 1]]]]), "scores (2, 2, 2, 3) and a mask (2, 1, 1, 3)"),
    weighed(TWO_HEADS, np.array([[[0, 1, 1]], [[1, 1, 0]]]), "scores (2, 2, 2, 3) and a mask (2, 1, 3)"),
    weighed(np.array([[0, 2, 1], [4, 1, 3]]), ROWS_MASK),
    weighed(FLOAT32, ROWS_MASK),
    weighed(FLOAT32, np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])),
    weighed(FLOAT32, np.array([1, 1, 0])),
    weighed(np.array([1.0, 2.0, 5000.0]), LAST_BLOCKED),
    weighed(np.array([5000.0, 5001.0, 0.0]), LAST_BLOCKED),
    weighed(APART, np.array([[1, 1, 0], [1, 1, 0]])),
    weighed(BATCH_APART, np.array([1, 1])),
    weighed(LOW, LAST_BLOCKED),
    weighed(LOWEST, LAST_BLOCKED),
    weighed(ABOVE, LAST_BLOCKED),
    weighed(FINE, np.array([True, True, True])),
]
