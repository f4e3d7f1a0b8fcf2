"""Visible checks of 10_flash_attention. Run them with `attn test flash_attention` or `python -m pytest checks.py`."""

import numpy as np

from grader.testing import Tolerance, array_like, assert_close, assert_raises, worth

# The shared example, "The cat sat on mat".
Q = np.array([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
OUTPUT = np.array(
    [[0.2254, 0.4135, 0.2964, 0.2964], [0.4602, 0.1475, 0.3018, 0.2058], [0.2495, 0.3481, 0.3481, 0.2495]]
)
LOG_SUMS = np.array([2.2119, 2.4099, 2.3843, 2.1592, 2.1647])
LESSON = Tolerance(0.0, 6e-5)  # the lesson has four decimals


def tuple_of(found, count):
    """Return a tuple of so many results."""
    assert isinstance(found, tuple), "expected a tuple"
    assert len(found) == count, f"a tuple of {count} was expected, not of {len(found)}"
    return found


@worth(
    1.5, "the second tile of row on has the largest score, the sum and the factor of the lesson", target="merge_softmax"
)
def test_second_tile_of_the_lesson(student):
    found = student.merge_softmax(np.array([0.5]), np.array([2.0]), np.array([[0.0, 1.0]]))
    m, total, weights, rescale = tuple_of(found, 4)
    assert_close(m, np.array([1.0]), of="m_new")
    assert_close(total, np.array([2.5809]), LESSON, of="l_new")
    assert_close(weights, np.array([[0.3679, 1.0]]), LESSON, of="weights")
    assert_close(rescale, np.array([0.6065]), LESSON, of="rescale")


@worth(1, "a row whose keys are all blocked so far stays at -inf and 0, without NaN", target="merge_softmax")
def test_blocked_tile(student):
    found = student.merge_softmax(np.array([-np.inf]), np.array([0.0]), np.full((1, 2), -np.inf))
    m, total, weights, _ = tuple_of(found, 4)
    assert_close(m, np.array([-np.inf]), of="m_new")
    assert_close(total, np.array([0.0]), of="l_new")
    assert_close(weights, np.zeros((1, 2)), of="weights")


@worth(2, "the outputs of the sentence in tiles of two are those of the lesson", target="flash_attention")
def test_output_of_the_shared_example(student):
    output, _ = tuple_of(student.flash_attention(Q, K, V, 2, 2), 2)
    assert_close(array_like(output, (5, 4))[:3], OUTPUT, LESSON, of="rows The, cat and sat")


@worth(1, "L of the sentence is that of the lesson", target="flash_attention")
def test_log_sums_of_the_shared_example(student):
    _, log_sums = tuple_of(student.flash_attention(Q, K, V, 2, 3), 2)
    assert_close(log_sums, LOG_SUMS, LESSON)


@worth(1, "with is_causal, cat sees The and itself, and L belongs to these two", target="flash_attention")
def test_causal_row_of_the_shared_example(student):
    output, log_sums = tuple_of(student.flash_attention(Q, K, V, 2, 2, True), 2)
    output, log_sums = array_like(output, (5, 4)), array_like(log_sums, (5,))
    assert_close(output[1], np.array([0.8176, 0.1824, 0, 0]), LESSON, of="row cat")
    assert_close(output[3], np.array([0.2350, 0.2350, 0.1425, 0.3875]), LESSON, of="row on")
    assert_close(log_sums[0], np.array(0.0), LESSON, of="L of The")


@worth(0.5, "a block size of 0 raises a ValueError that names it", target="flash_attention")
def test_block_of_nothing(student):
    assert_raises(ValueError, lambda: student.flash_attention(Q, K, V, 0, 2), 0)


@worth(2, "the gradients of the first output of The are those of the lesson", target="flash_attention_backward")
def test_gradients_of_the_shared_example(student):
    scores, gradient = Q @ K.T / 2, np.zeros((5, 4))
    gradient[0, 0] = 1
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    log_sums = np.log(np.exp(scores).sum(axis=1))
    found = student.flash_attention_backward(Q, K, V, weights @ V, gradient, log_sums, 2, 2)
    d_q, d_k, d_v = (array_like(one, (5, 4)) for one in tuple_of(found, 3))
    assert_close(d_q[0], np.array([-0.0221, 0.0221, -0.0380, 0.0380]), LESSON, of="dQ of The")
    assert_close(d_k[:, 0], np.array([0.0424, -0.0335, -0.0203, -0.0203, 0.0318]), LESSON, of="the first column of dK")
    assert_close(d_v[:, 0], np.array([0.1095, 0.2976, 0.1805, 0.1805, 0.2318]), LESSON, of="the first column of dV")
