"""Visible checks of 04_masks. Run them with `attn test masks` or `python -m pytest checks.py`."""

import numpy as np

from grader.testing import Tolerance, array_like, assert_close, assert_raises, worth

# The shared example, "The cat sat on mat": its scores, already divided by 2, with one row for each query.
SCALED = np.array([[0, 2, 1, 1, 1.5], [3, 0, 2, 1, 0.5], [1, 2, 2, 1, 1.5], [1, 1, 0, 2, 1], [1, 1, 1, 1, 1.5]]) / 2
CAUSAL = np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1]])
LESSON = Tolerance(0.0, 6e-5)  # the lesson has four decimals


@worth(1.5, "for five tokens, each token sees itself and the tokens before it", target="create_causal_mask")
def test_causal_mask_of_the_shared_example(student):
    assert_close(student.create_causal_mask(5), CAUSAL)


@worth(0.5, "a seq_len of 0 raises a ValueError that names it", target="create_causal_mask")
def test_causal_mask_of_nothing(student):
    assert_raises(ValueError, lambda: student.create_causal_mask(0), 0)


@worth(1.5, "the padding mask of five and three tokens is that of the lesson", target="create_padding_mask")
def test_padding_mask_of_two_sentences(student):
    expected = np.array([[[[1, 1, 1, 1, 1]]], [[[1, 1, 1, 0, 0]]]])
    assert_close(student.create_padding_mask([5, 3], 5), expected)


@worth(0.5, "a length above max_length raises a ValueError with both numbers", target="create_padding_mask")
def test_padding_mask_of_a_long_sentence(student):
    assert_raises(ValueError, lambda: student.create_padding_mask([3, 7], 5), 7, 5)


@worth(1.5, "the causal mask and the padding mask combine as in the lesson", target="combine_masks")
def test_combined_masks_of_the_lesson(student):
    padding = np.array([[[[1, 1, 1, 1, 1]]], [[[1, 1, 1, 0, 0]]]])
    combined = array_like(student.combine_masks(CAUSAL, padding), (2, 1, 5, 5))
    assert_close(combined[0, 0], CAUSAL, of="the first sentence")
    assert_close(combined[1, 0, 4], np.array([1, 1, 1, 0, 0]), of="the last position of the second sentence")


@worth(2, "the causal weights of the sentence are those of the lesson", target="masked_softmax")
def test_causal_weights_of_the_shared_example(student):
    weights = array_like(student.masked_softmax(SCALED, CAUSAL), (5, 5))
    assert_close(weights[1], np.array([0.8176, 0.1824, 0, 0, 0]), LESSON, of="row cat")
    assert_close(weights[2], np.array([0.2327, 0.3837, 0.3837, 0, 0]), LESSON, of="row sat")


@worth(1, "if nothing is blocked, the result is the softmax of module 01", target="masked_softmax")
def test_open_mask_of_the_shared_example(student):
    weights = array_like(student.masked_softmax(SCALED, np.ones((5, 5))), (5, 5))
    assert_close(weights[0], np.array([0.1095, 0.2976, 0.1805, 0.1805, 0.2318]), LESSON, of="row The")


@worth(1, "a row in which everything is blocked has weights of 0", target="masked_softmax")
def test_blocked_row_of_the_shared_example(student):
    mask = CAUSAL * (1 - np.eye(5))  # no token sees itself, so The sees nothing
    weights = array_like(student.masked_softmax(SCALED, mask), (5, 5))
    assert_close(weights[0], np.zeros(5), of="row The")
    assert_close(weights[1], np.array([1.0, 0, 0, 0, 0]), of="row cat")
