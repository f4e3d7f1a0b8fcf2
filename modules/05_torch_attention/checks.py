"""Visible checks of 05_torch_attention. Run them with `attn test torch_attention` or `python -m pytest checks.py`."""

import numpy as np
import torch

from grader.testing import (
    Tolerance,
    array_like,
    assert_close,
    assert_gradients,
    assert_raises,
    assert_rows_sum_to_one,
    worth,
)

# The shared example, "The cat sat on mat": one row for each token.
Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]], dtype=float)
K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
SENTENCE = tuple(torch.from_numpy(array).float() for array in (Q, K, V))
WEIGHTS_THE = np.array([0.1095, 0.2976, 0.1805, 0.1805, 0.2318])
OUTPUT_THE = np.array([0.2254, 0.4135, 0.2964, 0.2964])
# The loss of the lesson is one entry of the output: how much The takes of cat.
ONE_ENTRY = np.zeros((5, 4))
ONE_ENTRY[0, 1] = 1
GRAD_SCORES_THE = np.array([-0.0453, 0.1746, -0.0747, -0.0747, 0.0200])
GRAD_QUERY_THE = np.array([0.0600, -0.0600, 0.0550, -0.0550])
GRAD_KEY_CAT = np.array([0.0873, 0, 0.0873, 0])
LESSON = Tolerance(0.0, 6e-5)  # the lesson gives four decimals
CLASS = "ScaledDotProductAttention"


def layer_of(student, *arguments):
    """Return a layer made by the student's class, or fail."""
    made = student.ScaledDotProductAttention(*arguments)
    assert hasattr(made, "call_many"), "ScaledDotProductAttention(4) should be a layer that inherits from nn.Module"
    return made


def attended(value):
    """Return output and weights, or fail."""
    assert type(value) is tuple, "expected the pair (output, weights)"
    assert len(value) == 2, f"expected the pair (output, weights), got {len(value)} values"
    assert all(type(part) is torch.Tensor for part in value), "output and weights should be tensors"
    return value


def gradients(found):
    """Return the gradients of the sentence, or fail with the names of those that are missing."""
    assert_gradients(found, [x if grad is None else None for grad, x in zip(found.grads, SENTENCE, strict=True)], "qkv")
    named = zip("qkv", found.grads, SENTENCE, strict=True)
    return [array_like(grad, tuple(x.shape), of=f"the gradient of {name}") for name, grad, x in named]


@worth(1.5, "the layer returns the output and the weights of the lesson", target=CLASS)
def test_layer_of_the_shared_example(student):
    output, weights = attended(layer_of(student, 4)(*SENTENCE))
    assert_close(array_like(weights, (5, 5))[0], WEIGHTS_THE, LESSON, of="weights of The")
    assert_close(array_like(output, (5, 4))[0], OUTPUT_THE, LESSON, of="output of The")


@worth(1.5, "with a causal mask cat sees The and itself, and a fully blocked query gets 0", target=CLASS)
def test_layer_with_a_mask(student):
    mask = torch.tril(torch.ones(5, 5))
    mask[4] = 0
    output, weights = attended(layer_of(student, 4)(*SENTENCE, mask))
    weights = array_like(weights, (5, 5), of="the weights")
    assert_close(weights[1], np.array([0.8176, 0.1824, 0, 0, 0]), LESSON, of="row cat")
    assert_close(weights[4], np.zeros(5), of="weights of mat, fully blocked")
    assert_close(array_like(output, (5, 4), of="the output")[4], np.zeros(4), of="output of mat, fully blocked")


@worth(1.5, "with dropout .5, each weight is doubled or 0 in training, and unchanged after eval()", target=CLASS)
def test_layer_with_dropout(student):
    student.seed(1)
    layer = layer_of(student, 4, 0.5)
    layer.eval()
    calm = array_like(attended(layer(*SENTENCE))[1], (5, 5), of="the weights after eval()")
    assert_rows_sum_to_one(calm, (5, 5), dtype=np.float32)
    layer.train()
    output, weights = (
        np.asarray(array_like(part, (5, n))) for part, n in zip(attended(layer(*SENTENCE)), (4, 5), strict=True)
    )
    kept = weights != 0
    assert 0 < kept.sum() < 25, f"with dropout .5, {int(kept.sum())} of 25 weights are kept in training"
    assert_close(weights[kept], 2 * calm[kept].astype(np.float32), of="kept weights")
    assert_close(output, (weights @ V).astype(np.float32), of="the output, compared with the returned weights times v")


@worth(1.5, "the gradient of the lesson's loss reaches q, k and v, and is not NaN with a mask", target=CLASS)
def test_layer_has_gradients(student):
    layer, cotangent = layer_of(student, 4), (torch.from_numpy(ONE_ENTRY).float(), None)
    by_q, by_k, by_v = gradients(layer.vjp(*SENTENCE, cotangent=cotangent))
    assert_close(by_q[0], GRAD_QUERY_THE, LESSON, of="the gradient of the query of The")
    assert_close(by_k[1], GRAD_KEY_CAT, LESSON, of="the gradient of the key of cat")
    assert_close(by_v[:, 1], WEIGHTS_THE, LESSON, of="the gradient of the values")
    nothing = torch.ones(5, 5)
    nothing[0] = 0
    masked = gradients(layer.vjp(*SENTENCE, cotangent=cotangent, mask=nothing))
    assert_close(masked[0], np.zeros((5, 4)), of="the gradient of q when all keys are blocked for The")


@worth(1, "queries and keys of different widths raise a ValueError that names both widths", target=CLASS)
def test_layer_refuses_different_widths(student):
    layer = layer_of(student, 3)
    assert_raises(ValueError, lambda: layer(torch.ones(2, 3), torch.ones(4, 6), torch.ones(4, 5)), 3, 6)


@worth(1, "the gradients of two weights are those of the lesson", target="softmax_backward")
def test_softmax_backward_of_two_weights(student):
    found = student.softmax_backward(np.array([[1.0, 0.0], [0.0, 4.0]]), np.array([[0.5, 0.5], [0.25, 0.75]]))
    assert_close(found, np.array([[0.25, -0.25], [-0.75, 0.75]]))


@worth(1, "the gradient of the row of The is that of the lesson", target="softmax_backward")
def test_softmax_backward_of_the_shared_example(student):
    weights = np.exp(Q[0] @ K.T / 2)
    found = student.softmax_backward(V[:, 1], weights / weights.sum())
    assert_close(found, GRAD_SCORES_THE, LESSON)


@worth(2, "the gradients of the shared example are those of the lesson", target="attention_backward")
def test_attention_backward_of_the_shared_example(student):
    found = student.attention_backward(Q, K, V, ONE_ENTRY)
    assert type(found) is tuple, "expected the tuple (grad_Q, grad_K, grad_V)"
    assert len(found) == 3, f"expected the tuple (grad_Q, grad_K, grad_V), got {len(found)} values"
    by_q, by_k, by_v = (array_like(grad, x.shape) for grad, x in zip(found, (Q, K, V), strict=True))
    assert_close(by_q[0], GRAD_QUERY_THE, LESSON, of="grad_Q, row The")
    assert_close(by_q[1:], np.zeros((4, 4)), of="grad_Q of the other queries")
    assert_close(by_k[1], GRAD_KEY_CAT, LESSON, of="grad_K, row cat")
    assert_close(by_v[:, 1], WEIGHTS_THE, LESSON, of="grad_V, second column")


@worth(
    1,
    "each gradient has the shape of its input, for 2 queries, 3 keys and values of another width",
    target="attention_backward",
)
def test_attention_backward_of_other_sizes(student):
    found = student.attention_backward(Q[:2], K[:3], V[:3, :1], np.ones((2, 1)))
    assert type(found) is tuple, "expected the tuple (grad_Q, grad_K, grad_V)"
    assert len(found) == 3, f"expected the tuple (grad_Q, grad_K, grad_V), got {len(found)} values"
    for name, grad, x in zip("QKV", found, (Q[:2], K[:3], V[:3, :1]), strict=True):
        array_like(grad, x.shape, of=f"grad_{name}")
    assert_close(np.asarray(found[2]).sum(), 2.0, of="the sum of grad_V for two queries")
