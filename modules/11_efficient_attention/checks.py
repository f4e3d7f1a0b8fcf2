"""Visible checks of 11_efficient_attention. Run `attn test efficient_attention` or `python -m pytest checks.py`."""

import numpy as np

from grader.testing import Tolerance, array_like, assert_close, assert_raises, worth

# The shared example, "The cat sat on mat".
Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
LESSON = Tolerance(0.0, 6e-5)  # the lesson has four decimals


def a_pair(value):
    """Return the two parts of what a step returned, or fail."""
    is_pair = type(value) in (tuple, list) and len(value) == 2
    assert is_pair, "a step should return (state, output)"
    return value


@worth(1.5, "with a window of 2, each of five tokens sees itself and the one before it", target="sliding_window_mask")
def test_mask_of_the_shared_example(student):
    expected = np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 1, 1]])
    assert_close(student.sliding_window_mask(5, 2), expected)


@worth(1, "without causal, a window of 2 is the token and one on each side", target="sliding_window_mask")
def test_mask_to_both_sides_of_the_shared_example(student):
    expected = np.array([[1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [0, 1, 1, 1, 0], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]])
    assert_close(student.sliding_window_mask(5, 2, causal=False), expected)


@worth(0.5, "a window of 0 raises a ValueError that names it", target="sliding_window_mask")
def test_mask_of_no_window(student):
    assert_raises(ValueError, lambda: student.sliding_window_mask(5, 0), 0)


@worth(2, "the outputs of a window of 2 are those of the lesson", target="sliding_window_attention")
def test_window_of_the_shared_example(student):
    output = array_like(student.sliding_window_attention(Q, K, V, 2), (5, 4))
    assert_close(output[3], np.array([0, 0, 0.2689, 0.7311]), LESSON, of="row on")
    assert_close(output[4], np.array([0.2811, 0.2811, 0.2811, 0.7189]), LESSON, of="row mat")


@worth(1, "a window of 1 copies V, and a window wider than the sentence is causal", target="sliding_window_attention")
def test_window_of_one_and_of_nine(student):
    assert_close(student.sliding_window_attention(Q, K, V, 1), V, LESSON, of="a window of 1")
    output = array_like(student.sliding_window_attention(Q, K, V, 9), (5, 4))
    assert_close(output[2], np.array([0.2327, 0.3837, 0.3837, 0]), LESSON, of="row sat with a window of 9")


@worth(1, "scores of -1e12 leave no weight outside the window", target="sliding_window_attention")
def test_window_of_very_low_scores(student):
    output = student.sliding_window_attention(np.full((3, 1), -1e12), np.ones((3, 1)), np.ones((3, 2)), 2)
    assert_close(output, np.ones((3, 2)), Tolerance(0.0, 1e-3), of="values that are all 1")


@worth(0.5, "a window of 0, or sizes that do not fit, raise a ValueError", target="sliding_window_attention")
def test_window_refuses(student):
    assert_raises(ValueError, lambda: student.sliding_window_attention(Q, K, V, 0), 0)
    assert_raises(ValueError, lambda: student.sliding_window_attention(Q[:, :3], K, V, 2), 3, 4)
    assert_raises(ValueError, lambda: student.sliding_window_attention(Q, K, V[:2], 2), 5, 2)


@worth(1, "the features of -2, -1, 0, 1 and 2 are those of the lesson", target="feature_map")
def test_features_of_five_numbers(student):
    expected = np.array([0.1353, 0.3679, 1, 2, 3])
    assert_close(student.feature_map(np.array([-2.0, -1.0, 0.0, 1.0, 2.0])), expected, LESSON)


@worth(0.5, "the feature of 5000 is 5001", target="feature_map")
def test_feature_of_a_large_number(student):
    assert_close(student.feature_map(np.array([5000.0])), np.array([5001.0]))


@worth(2, "linear attention of the sentence is that of the lesson", target="linear_attention")
def test_linear_of_the_shared_example(student):
    output = array_like(student.linear_attention(Q, K, V), (5, 4))
    assert_close(output[0], np.array([0.2802, 0.3242, 0.3022, 0.3022]), LESSON, of="row The")
    assert_close(output[1], np.array([0.3252, 0.2670, 0.3058, 0.2864]), LESSON, of="row cat")


@worth(1.5, "causal linear attention of the sentence is that of the lesson", target="linear_attention")
def test_linear_causal_of_the_shared_example(student):
    output = array_like(student.linear_attention(Q, K, V, causal=True), (5, 4))
    assert_close(output[0], V[0], LESSON, of="row The, which sees only itself")
    assert_close(output[2], np.array([0.3125, 0.3438, 0.3438, 0]), LESSON, of="row sat")


@worth(0.5, "sizes that do not fit raise a ValueError with both numbers", target="linear_attention")
def test_linear_refuses(student):
    assert_raises(ValueError, lambda: student.linear_attention(Q[:, :3], K, V), 3, 4)
    assert_raises(ValueError, lambda: student.linear_attention(Q, K, V[:2]), 5, 2)


@worth(2, "step by step, the sentence gives the same as causal linear attention", target="linear_attention_step")
def test_steps_of_the_shared_example(student):
    state, outputs = None, []
    for q, k, v in zip(Q, K, V, strict=True):
        state, output = a_pair(student.linear_attention_step.call_keeping(0, state, q, k, v))
        outputs.append(array_like(output, (4,), of="the output of a step"))
    assert_close(outputs[0], V[0], LESSON, of="The")
    assert_close(outputs[1], np.array([0.5714, 0.4286, 0, 0]), LESSON, of="cat")
    assert_close(outputs[2], np.array([0.3125, 0.3438, 0.3438, 0]), LESSON, of="sat")


@worth(1, "two different second steps from the same state are both right", target="linear_attention_step")
def test_steps_from_the_same_state(student):
    step = student.linear_attention_step
    state, _ = a_pair(step.call_keeping(0, None, Q[0], K[0], V[0]))
    for of in ("cat", "cat again, from the same state"):
        _, output = a_pair(step.call_keeping(0, state, Q[1], K[1], V[1]))
        assert_close(array_like(output, (4,)), np.array([0.5714, 0.4286, 0, 0]), LESSON, of=of)


@worth(0.5, "q and k of different lengths raise a ValueError with both", target="linear_attention_step")
def test_step_refuses(student):
    assert_raises(ValueError, lambda: student.linear_attention_step(None, Q[0, :3], K[0], V[0]), 3, 4)
