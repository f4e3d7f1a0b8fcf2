"""Visible checks of 06_multi_head_attention. Run them with `attn test` or `python -m pytest checks.py`."""

import numpy as np
import torch

from grader.testing import Tolerance, arguments, array_like, assert_close, assert_raises, assert_rows_sum_to_one, worth

# The shared example, "The cat sat on mat", as a batch of one: a row for each token.
Q = torch.tensor([[[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]])
K = torch.tensor([[[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]]])
V = torch.tensor([[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]]])
LESSON = Tolerance(0.0, 6e-5)  # the lesson gives four decimals
CLASS = "MultiHeadAttention"
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")


def identity(embed_dim=4):
    """Return parameters for projections that are the identity."""
    weights = {f"{name}.weight": torch.eye(embed_dim) for name in PROJECTIONS}
    return weights | {f"{name}.bias": torch.zeros(embed_dim) for name in PROJECTIONS}


def layer_of(student, num_heads, state):
    """Return the student's layer for 4 features with these parameters; errors show in its first call."""
    return student.MultiHeadAttention.made(4, num_heads, state=state, training=True)


def attended(value):
    """Return output and weights, or fail."""
    assert type(value) is tuple, "expected the pair (output, weights)"
    assert len(value) == 2, f"expected the pair (output, weights), got {len(value)} values"
    return value


@worth(1, "head 0 has the first half of both tokens, head 1 the second half", target="split_heads")
def test_two_tokens_for_two_heads(student):
    heads = student.split_heads(torch.tensor([[[0.0, 1, 2, 3], [10, 11, 12, 13]]]), 2)
    assert_close(heads, torch.tensor([[[[0.0, 1], [10, 11]], [[2, 3], [12, 13]]]]))


@worth(0.5, "6 features for 4 heads raise a ValueError that names both numbers", target="split_heads")
def test_six_features_for_four_heads(student):
    assert_raises(ValueError, lambda: student.split_heads(torch.ones(1, 2, 6), 4), 6, 4)


@worth(1, "the two halves of each token are side by side again", target="merge_heads")
def test_two_heads_of_two_tokens(student):
    tokens = student.merge_heads(torch.tensor([[[[0.0, 1], [10, 11]], [[2, 3], [12, 13]]]]))
    assert_close(tokens, torch.tensor([[[0.0, 1, 2, 3], [10, 11, 12, 13]]]))


@worth(1, "there are four projections, each with a weight and a bias", target=CLASS)
def test_names_of_the_parameters(student):
    layer = student.MultiHeadAttention(4, 2)
    assert hasattr(layer, "call_many"), "MultiHeadAttention(4, 2) should be an nn.Module"
    found = layer.parameters()
    assert sorted(found) == sorted(identity()), f"the parameters are {', '.join(sorted(found)) or 'none'}"
    for name, wanted in identity().items():
        array_like(found[name], tuple(wanted.shape), of=name)


@worth(2, "the weights and the output of The are those of the lesson", target=CLASS)
def test_the_shared_example(student):
    output, weights = attended(layer_of(student, 2, identity())(Q, K, V))
    rows = array_like(weights, (1, 2, 5, 5), of="the weights")
    assert_close(rows[0, 0, 0], np.array([0.1237, 0.2509, 0.2509, 0.1237, 0.2509]), LESSON, of="The, head 0")
    assert_close(rows[0, 1, 0], np.array([0.1337, 0.2711, 0.1337, 0.2711, 0.1904]), LESSON, of="The, head 1")
    output = array_like(output, (1, 5, 4), of="the output")
    assert_close(output[0, 0], np.array([0.2491, 0.3763, 0.2289, 0.3663]), LESSON, of="the output of The")


@worth(1, "the output goes through out_proj, which adds its bias", target=CLASS)
def test_the_output_projection(student):
    mixed = identity() | {"out_proj.weight": torch.eye(4).flip(0), "out_proj.bias": torch.tensor([1.0, 2, 3, 4])}
    output = array_like(attended(layer_of(student, 2, mixed)(Q, K, V))[0], (1, 5, 4), of="the output")
    assert_close(output[0, 0], np.array([1.3663, 2.2289, 3.3763, 4.2491]), LESSON, of="the output of The")


@worth(1, "two queries look at five keys, and without a value the key is also the value", target=CLASS)
def test_cross_attention(student):
    layer = layer_of(student, 2, identity())
    alone, twice = map(attended, layer.call_many([arguments(Q[:, :2], K), arguments(Q[:, :2], K, K)]))
    assert_rows_sum_to_one(alone[1], (1, 2, 2, 5), dtype=np.float32)
    assert_close(array_like(alone[0], (1, 2, 4)), array_like(twice[0], (1, 2, 4)), LESSON, of="the output")


@worth(1, "with a causal mask cat sees The and itself, in both heads", target=CLASS)
def test_causal_mask(student):
    _, weights = attended(layer_of(student, 2, identity())(Q, K, V, mask=torch.ones(5, 5).tril()))
    rows = array_like(weights, (1, 2, 5, 5), of="the weights")
    assert_close(rows[0, 0, 1], np.array([0.8044, 0.1956, 0, 0, 0]), LESSON, of="cat, head 0")
    assert_close(rows[0, 1, 1], np.array([0.6698, 0.3302, 0, 0, 0]), LESSON, of="cat, head 1")


@worth(1, "each of two sentences has its own mask", target=CLASS)
def test_two_sentences(student):
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])[:, None].expand(2, 5, 5).clone()  # (2, 5, 5)
    _, weights = attended(layer_of(student, 2, identity())(Q.expand(2, 5, 4).clone(), mask=mask))
    rows = array_like(weights, (2, 2, 5, 5), of="the weights")
    assert rows[0].min() > 0, "the mask blocks nothing in the first sentence, but some of its weights are 0"
    assert_close(rows[1, :, :, 3:], np.zeros((2, 5, 2)), of="weights of the padding in the second sentence")


@worth(0.5, "with every key blocked, the weights are 0 and the output is the bias of out_proj", target=CLASS)
def test_everything_blocked(student):
    state = identity() | {"out_proj.bias": torch.tensor([1.0, 2, 3, 4])}
    output, weights = attended(layer_of(student, 2, state)(Q, mask=torch.zeros(5, 5)))
    assert_close(array_like(weights, (1, 2, 5, 5)), np.zeros((1, 2, 5, 5)), of="the weights")
    assert_close(array_like(output, (1, 5, 4)), np.tile([1.0, 2, 3, 4], (1, 5, 1)), of="the output")


@worth(1, "gradients reach query, key, value and every parameter", target=CLASS)
def test_gradients_arrive(student):
    found = layer_of(student, 2, identity()).vjp(Q, K, V, cotangent=(torch.ones(1, 5, 4), None))
    attended(found.value)
    # The weights of a query sum to 1, so a gradient of 1 for each output adds up to 1 over the values.
    totals = [grad if grad is None else array_like(grad, (1, 5, 4)).sum() for grad in found.grads]
    for name, total in zip(("query", "key", "value"), totals, strict=True):
        assert total is not None, f"no gradient reaches {name}: the graph is cut"
    for name in identity():
        assert found.parameters.get(name) is not None, f"no gradient reaches {name}: the graph is cut"
    assert_close(float(totals[2]), 20.0, Tolerance(1e-5, 0.0), of="the sum of the gradient of value")
