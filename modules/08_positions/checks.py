"""Visible checks of 08_positions. Run them with `attn test positions` or `python -m pytest checks.py`."""

import numpy as np

from grader.testing import Tolerance, arguments, array_like, assert_close, assert_dtype, assert_raises, worth

# The shared example, "The cat sat on mat".
Q = np.array([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
LESSON = Tolerance(0.0, 6e-5)  # the lesson has four decimals
SIN, FREQUENCIES, ROPE = "sinusoidal_positions", "rope_frequencies", "apply_rope"
SLOPES, BIAS = "alibi_slopes", "alibi_bias"


def softmax(scores):
    exps = np.exp(scores - scores.max(-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


@worth(1.5, "the signal of positions 1 and 4 is that of the lesson", target=SIN)
def test_sinusoidal_positions_of_the_lesson(student):
    signal = array_like(student.sinusoidal_positions(5, 4), (5, 4))
    assert_close(signal[1], np.array([0.8415, 0.5403, 0.0100, 1.0000]), LESSON, of="position 1")
    assert_close(signal[4], np.array([-0.7568, -0.6536, 0.0400, 0.9992]), LESSON, of="position 4")


@worth(0.25, "a seq_len of 0 raises a ValueError that names it", target=SIN)
def test_sinusoidal_positions_of_nothing(student):
    assert_raises(ValueError, lambda: student.sinusoidal_positions(0, 4), 0)


@worth(0.25, "an odd d_model raises a ValueError that names it", target=SIN)
def test_sinusoidal_positions_of_odd_width(student):
    assert_raises(ValueError, lambda: student.sinusoidal_positions(2, 5), 5)


@worth(1, "the frequencies for head_dim 4 and 8 are those of the lesson", target=FREQUENCIES)
def test_rope_frequencies_of_the_lesson(student):
    assert_close(student.rope_frequencies(4), np.array([1, 0.01]), of="head_dim 4")
    assert_close(student.rope_frequencies(8), np.array([1, 0.1, 0.01, 0.001]), of="head_dim 8")


@worth(0.25, "an odd head_dim raises a ValueError that names it", target=FREQUENCIES)
def test_rope_frequencies_of_odd_width(student):
    assert_raises(ValueError, lambda: student.rope_frequencies(7), 7)


@worth(1.5, "the turned query of cat and the turned key of sat are those of the lesson", target=ROPE)
def test_rope_of_the_shared_example(student):
    calls = [arguments(Q, np.arange(5)), arguments(K, np.arange(5))]
    turned_q, turned_k = (array_like(value, (5, 4)) for value in student.apply_rope.call_many(calls))
    assert_close(turned_q[1], np.array([-1.6829, 1.0806, -0.0100, 1.0000]), LESSON, of="the query of cat")
    assert_close(turned_k[2], np.array([-1.3254, 0.4932, 0, 0]), LESSON, of="the key of sat")


@worth(1, "the weights with RoPE are those of the lesson, also if all positions are 7 higher", target=ROPE)
def test_rope_weights_of_the_shared_example(student):
    for first in (0, 7):
        calls = [arguments(Q, np.arange(5) + first), arguments(K, np.arange(5) + first)]
        turned_q, turned_k = (array_like(value, (5, 4)) for value in student.apply_rope.call_many(calls))
        weights = softmax(turned_q @ turned_k.T / 2)
        assert_close(weights[0], np.array([0.1609, 0.3475, 0.0829, 0.2612, 0.1475]), LESSON, of="row The")
        assert_close(weights[4], np.array([0.1668, 0.0887, 0.1891, 0.2424, 0.3129]), LESSON, of="row mat")


@worth(0.5, "a list of positions works, and position 0 changes nothing", target=ROPE)
def test_rope_at_position_zero(student):
    assert_close(student.apply_rope(Q, [0, 0, 0, 0, 0]), Q)


@worth(0.25, "an odd number of features raises a ValueError that names it", target=ROPE)
def test_rope_of_odd_width(student):
    assert_raises(ValueError, lambda: student.apply_rope(np.ones((2, 3)), [0, 1]), 3)


@worth(0.25, "apply_rope returns float32 for float32, and float64 for integers", target=ROPE)
def test_rope_of_the_shared_example_dtype(student):
    calls = [arguments(Q.astype(np.float32), np.arange(5)), arguments(Q.astype(int), np.arange(5))]
    single, whole = student.apply_rope.call_many(calls)
    assert_dtype(single, np.float32)
    assert_dtype(whole, np.float64)


@worth(0.75, "the slopes of 8 heads halve from .5 to .00390625", target=SLOPES)
def test_alibi_slopes_of_eight_heads(student):
    assert_close(student.alibi_slopes(8), 0.5 ** np.arange(1.0, 9))


@worth(0.75, "the slopes of 6 heads are those of the lesson", target=SLOPES)
def test_alibi_slopes_of_six_heads(student):
    assert_close(student.alibi_slopes(6), np.array([0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]))


@worth(0.25, "0 heads raise a ValueError that names the number", target=SLOPES)
def test_alibi_slopes_of_no_heads(student):
    assert_raises(ValueError, lambda: student.alibi_slopes(0), 0)


@worth(0.75, "the causal weights with slope .5 are those of the lesson", target=BIAS)
def test_alibi_weights_of_the_shared_example(student):
    bias = array_like(student.alibi_bias(8, 5, 5), (8, 5, 5))
    weights = softmax(np.where(np.tri(5) == 1, Q @ K.T / 2 + bias[0], -np.inf))
    assert_close(weights[2], np.array([0.1220, 0.3315, 0.5465, 0, 0]), LESSON, of="row sat")
    assert_close(weights[4], np.array([0.0517, 0.0853, 0.1406, 0.2318, 0.4907]), LESSON, of="row mat")


@worth(0.75, "a single query is the last token, and its bias falls with the distance", target=BIAS)
def test_alibi_bias_of_one_query(student):
    bias = array_like(student.alibi_bias(8, 1, 5), (8, 1, 5))
    assert_close(bias[0, 0], np.array([-2, -1.5, -1, -0.5, 0]), of="the first head")


@worth(0.25, "a bias for 0 heads raises a ValueError that names the number", target=BIAS)
def test_alibi_bias_of_no_heads(student):
    assert_raises(ValueError, lambda: student.alibi_bias(0, 2, 3), 0)
