"""Visible checks of 02_loop_attention. Run them with `attn test loop_attention` or `python -m pytest checks.py`."""

import numpy as np

from grader.testing import Tolerance, array_like, assert_close, assert_raises, assert_rows_sum_to_one, worth

# The shared example, "The cat sat on mat": one row for each token.
Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]], dtype=float)
K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
WEIGHTS_THE = np.array([0.1095, 0.2976, 0.1805, 0.1805, 0.2318])
OUTPUT_THE = np.array([0.2254, 0.4135, 0.2964, 0.2964])
LESSON = Tolerance(0.0, 6e-5)  # the lesson has four decimals


def attended(value):
    """Return the output and the weights, or fail."""
    assert type(value) is tuple, "expected the pair (output, weights)"
    assert len(value) == 2, f"expected the pair (output, weights), got {len(value)} things"
    return value


@worth(1, "the dot product of The with mat is 1.5", target="dot_product")
def test_dot_product_of_the_shared_example(student):
    assert_close(student.dot_product(Q[0], K[4]), 1.5, of="The · mat")


@worth(1, "vectors of different lengths raise a ValueError that names both lengths", target="dot_product")
def test_dot_product_of_different_lengths(student):
    assert_raises(ValueError, lambda: student.dot_product(np.ones(3), np.ones(5)), 3, 5)


@worth(2, "the scores of the sentence are those of the lesson", target="attention_scores")
def test_scores_of_the_shared_example(student):
    scores = array_like(student.attention_scores(Q, K), (5, 5))
    assert_close(scores[0], np.array([0, 2, 1, 1, 1.5]), of="row The")
    assert_close(scores[1], np.array([3, 0, 2, 1, 0.5]), of="row cat")


@worth(1, "the scale for vectors of four entries is 2", target="scale_factor")
def test_scale_of_four_entries(student):
    assert_close(student.scale_factor(4), 2.0, of="scale_factor(4)")


@worth(2, "the weights of the sentence are those of the lesson", target="scaled_dot_product_attention")
def test_weights_of_the_shared_example(student):
    _, weights = attended(student.scaled_dot_product_attention(Q, K, V))
    assert_close(array_like(weights, (5, 5))[0], WEIGHTS_THE, LESSON, of="row The")


@worth(1, "the output of the sentence is that of the lesson", target="scaled_dot_product_attention")
def test_output_of_the_shared_example(student):
    output, _ = attended(student.scaled_dot_product_attention(Q, K, V))
    assert_close(array_like(output, (5, 4))[0], OUTPUT_THE, LESSON, of="row The")


@worth(1, "with two queries and five keys, the weights of each query sum to 1", target="scaled_dot_product_attention")
def test_two_queries_five_keys(student):
    _, weights = attended(student.scaled_dot_product_attention(Q[:2], K, V))
    assert_rows_sum_to_one(weights, (2, 5))


@worth(1, "with a causal mask, cat sees only The and itself", target="scaled_dot_product_attention")
def test_causal_mask_of_the_shared_example(student):
    _, weights = attended(student.scaled_dot_product_attention(Q, K, V, np.tri(5)))
    assert_close(array_like(weights, (5, 5))[1], np.array([0.8176, 0.1824, 0, 0, 0]), LESSON, of="row cat")
