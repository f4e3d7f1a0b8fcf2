"""Visible checks of 03_attention. Run them with `attn test attention` or `python -m pytest checks.py`."""

import re

import numpy as np

from grader.testing import Tolerance, array_like, assert_close, assert_raises, assert_rows_sum_to_one, worth

# The shared example, "The cat sat on mat": one row for each token.
TOKENS = ["The", "cat", "sat", "on", "mat"]
Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]], dtype=float)
K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
SCORES_THE = np.array([0, 2, 1, 1, 1.5])
WEIGHTS_THE = np.array([0.1095, 0.2976, 0.1805, 0.1805, 0.2318])
OUTPUT_THE = np.array([0.2254, 0.4135, 0.2964, 0.2964])
LESSON = Tolerance(0.0, 6e-5)  # the lesson has four decimals
CLASS = "ScaledDotProductAttention"


def head_of(student, d_k):
    """Return an instance of the student's class, or fail."""
    made = student.ScaledDotProductAttention(d_k)
    assert hasattr(made, "call_many"), f"ScaledDotProductAttention({d_k}) should be an object with methods"
    return made


def attended(value):
    """Return the output and the weights, or fail."""
    assert type(value) is tuple, "expected the pair (output, weights)"
    assert len(value) == 2, f"expected the pair (output, weights), got {len(value)} things"
    return value


@worth(1, "the queries, keys and values of cat and sat are those of the lesson", target="project_qkv")
def test_projections_of_the_lesson(student):
    X = np.array([[1.0, 0, 2], [0, 1, 1]])
    W_q, W_k = np.array([[1, 0], [0, 1], [0.5, 0]]), np.array([[0, 1], [1, 0], [0, 0.5]])
    value = student.project_qkv(X, W_q, W_k, np.array([[0.5], [1], [0.25]]))
    assert type(value) is tuple, "expected a tuple of the three arrays Q, K and V"
    assert len(value) == 3, f"expected a tuple of the three arrays Q, K and V, got {len(value)} things"
    assert_close(value[0], np.array([[2, 0], [0.5, 1]]), of="Q")
    assert_close(value[1], np.array([[0, 2], [1, 0.5]]), of="K")
    assert_close(value[2], np.array([[1], [1.25]]), of="V")


@worth(1, "the scores of the sentence are those of the lesson, also in a batch", target=CLASS)
def test_scores_of_the_shared_example(student):
    head = head_of(student, 4)
    scores = array_like(head.compute_scores(Q, K), (5, 5))
    assert_close(scores[0], SCORES_THE, of="row The")
    assert_close(scores[1], np.array([3, 0, 2, 1, 0.5]), of="row cat")
    batch = array_like(head.compute_scores(np.stack([Q, 2 * Q]), np.stack([K, K])), (2, 5, 5), of="a batch of two")
    assert_close(batch[1, 0], 2 * SCORES_THE, of="row The of the second sentence")


@worth(0.5, "scores are divided by 2 for d_k = 4, and by 8 for d_k = 64", target=CLASS)
def test_scale_of_the_shared_example(student):
    assert_close(head_of(student, 4).scale_scores(SCORES_THE), np.array([0, 1, 0.5, 0.5, 0.75]), of="d_k = 4")
    assert_close(head_of(student, 64).scale_scores(8 * SCORES_THE), SCORES_THE, of="d_k = 64")


@worth(1, "the weights of the sentence are those of the lesson", target=CLASS)
def test_weights_of_the_shared_example(student):
    head = head_of(student, 4)
    scaled = np.stack([SCORES_THE / 2, np.array([1.5, 0, 1, 0.5, 0.25])])  # The, cat
    assert_close(array_like(head.compute_weights(scaled), (2, 5))[0], WEIGHTS_THE, LESSON, of="row The")
    causal = array_like(head.compute_weights(scaled, np.tri(2, 5)), (2, 5), of="the causal weights")
    assert_close(causal[1], np.array([0.8176, 0.1824, 0, 0, 0]), LESSON, of="causal weights, row cat")
    assert_close(head.compute_weights(scaled, np.zeros((2, 5))), np.zeros((2, 5)), of="with every key blocked")


@worth(0.5, "weights of one half for sat and on give the mean of their values", target=CLASS)
def test_output_of_two_values(student):
    output = head_of(student, 4).compute_output(np.array([[0, 0, 0.5, 0.5, 0]]), V)
    assert_close(output, np.array([[0, 0, 0.5, 0.5]]))


@worth(1.5, "forward returns the output and the weights of the lesson", target=CLASS)
def test_forward_of_the_shared_example(student):
    output, weights = attended(head_of(student, 4).forward(Q, K, V))
    assert_close(array_like(output, (5, 4))[0], OUTPUT_THE, LESSON, of="output of The")
    assert_close(array_like(weights, (5, 5))[0], WEIGHTS_THE, LESSON, of="weights of The")


@worth(1.5, "the text of explain contains every token's name and the weights of cat", target=CLASS)
def test_explain_of_the_shared_example(student):
    text = head_of(student, 4).explain(Q, K, V, TOKENS, query_idx=1)
    assert type(text) is str, "explain should return a text"
    missing = [token for token in TOKENS if token not in text]
    assert not missing, f"the text does not name {', '.join(missing)}"
    written = re.findall(r"[0-9]*[.][0-9]+(?:[eE][-+]?[0-9]+)?", text.replace("−", "-"))
    for weight in (0.4026, 0.0898, 0.2442, 0.1481, 0.1153):
        found = any(abs(float(number) - weight) <= LESSON.absolute for number in written)
        assert found, f"the weights of cat contain {weight:.4f}, which is not in the text"


@worth(1, "with two queries and five keys, the weights of each query sum to 1", target="scaled_dot_product_attention")
def test_two_queries_five_keys(student):
    output, weights = attended(student.scaled_dot_product_attention(Q[:2], K, V))
    assert_rows_sum_to_one(weights, (2, 5))
    assert_close(array_like(output, (2, 4))[0], OUTPUT_THE, LESSON, of="output of The")


@worth(1, "with a causal mask, cat sees only The and itself", target="scaled_dot_product_attention")
def test_causal_mask_of_the_shared_example(student):
    _, weights = attended(student.scaled_dot_product_attention(Q, K, V, np.tri(5)))
    assert_close(array_like(weights, (5, 5))[1], np.array([0.8176, 0.1824, 0, 0, 0]), LESSON, of="row cat")


@worth(
    1,
    "queries and keys of different widths raise a ValueError that names both",
    target="scaled_dot_product_attention",
)
def test_different_widths(student):
    call = student.scaled_dot_product_attention
    assert_raises(ValueError, lambda: call(np.ones((2, 3)), np.ones((4, 6)), np.ones((4, 5))), 3, 6)
