"""Visible checks of 12_transformer. Run them with `attn test` or `python -m pytest checks.py`."""

import math

import numpy as np
import torch

from grader.testing import Tolerance, arguments, array_like, assert_close, assert_raises, generator, worth

# The scores of The, from the shared example, as logits of the five words.
AFTER_THE = torch.tensor([0.0, 2.0, 1.0, 1.0, 1.5])
LESSON = Tolerance(0.0, 6e-5)  # the lesson gives four decimals
SIZES = (5, 8, 4, 2, 2, 8)  # the model of the lesson, with 444 parameters
PARTS = {
    "norm1.weight": (4,),
    "norm2.weight": (4,),
    **{f"attention.{name}.weight": (4, 4) for name in ("q_proj", "k_proj", "v_proj", "out_proj")},
    **{f"attention.{name}.bias": (4,) for name in ("q_proj", "k_proj", "v_proj", "out_proj")},
    "feed_forward.gate.weight": (8, 4),
    "feed_forward.up.weight": (8, 4),
    "feed_forward.down.weight": (4, 8),
}


def parameters_of(made, wanted):
    """Return the parameters of a new object, or fail unless they have these names and shapes."""
    found = made.parameters()
    assert sorted(found) == sorted(wanted), f"the parameters are {', '.join(sorted(found)) or 'none'}"
    for name, shape in wanted.items():
        array_like(found[name], shape, of=name)
    return found


def tokens_of(value, shape, of):
    """Return the student's tokens, or fail."""
    array = array_like(value, shape, of=of)
    assert (array == array.round()).all(), f"{of} are not whole numbers"
    return array.astype(int)


@worth(1, "The and cat, normalised, are those of the lesson", target="RMSNorm")
def test_the_norm_of_two_words(student):
    x = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 1]])
    result = array_like(student.RMSNorm.made(4)(x), (2, 4))
    assert_close(result, np.array([[1.4142, 0, 1.4142, 0], [0, 1.7889, 0, 0.8944]]), LESSON)


@worth(0.5, "an eps of 3 is added to the mean of the squares, which is 1", target="RMSNorm")
def test_the_eps_of_the_norm(student):
    assert_close(
        array_like(student.RMSNorm.made(2, 3.0)(torch.tensor([1.0, -1.0])), (2,)), np.array([0.5, -0.5]), LESSON
    )


@worth(1, "with all weights 1, the token 2 becomes 3.5232", target="FeedForward")
def test_the_network_of_one_feature(student):
    weights = {f"{name}.weight": torch.ones(1, 1) for name in ("gate", "up", "down")}
    network = student.FeedForward.made(1, 1, state=weights)
    assert_close(array_like(network(torch.tensor([[[2.0]]])), (1, 1, 1)), np.array([[[3.5232]]]), LESSON)
    open_gate = network.call_many([arguments(torch.tensor([[[-2.0], [0.0]]]))])[0]
    assert_close(array_like(open_gate, (1, 2, 1)), np.array([[[0.4768], [0.0]]]), LESSON, of="the tokens -2 and 0")


@worth(1, "the block has two norms, the attention of module 06, and the network", target="TransformerBlock")
def test_the_parts_of_a_block(student):
    parameters_of(student.TransformerBlock.made(4, 2, 8), PARTS)


@worth(1, "a block whose halves compute 0 gives its tokens back", target="TransformerBlock")
def test_a_block_that_adds_nothing(student):
    # Every weight is 0 except those of the norms, so both halves add 0.
    state = {name: torch.zeros(shape) for name, shape in PARTS.items() if "norm" not in name}
    x = torch.tensor([[[1.0, 0, 1, 0], [0, 2, 0, 1]]])
    block = student.TransformerBlock.made(4, 2, 8, state=state)
    assert_close(array_like(block(x), (1, 2, 4)), x.numpy().astype(float), LESSON)


@worth(1, "the model has embeddings, blocks, a norm and a head: 444 parameters", target="GPT")
def test_the_parts_of_the_model(student):
    wanted = {"token_embedding.weight": (5, 4), "position_embedding.weight": (8, 4), "norm.weight": (4,)}
    wanted |= {f"blocks.{layer}.{name}": shape for layer in range(2) for name, shape in PARTS.items()}
    found = parameters_of(student.GPT.made(*SIZES, training=True), wanted | {"head.weight": (5, 4)})
    assert sum(one.numel() for one in found.values()) == 444, "there are more parameters than the lesson counts"


@worth(2, "no token sees the tokens after it, and every token sees itself", target="GPT")
def test_the_model_is_causal(student):
    # A head of ones and minus ones, as a new one may be all zeros
    head = torch.ones(5, 4) - 2 * torch.eye(5)[:, :4]
    model = student.GPT.made(*SIZES, state={"head.weight": head}, training=True)
    sentence, changed = torch.tensor([[0, 1, 2, 3, 4]]), torch.tensor([[0, 1, 2, 3, 0]])
    first, second = (array_like(one, (1, 5, 5), of="the logits") for one in (model(sentence), model(changed)))
    assert_close(second[:, :4], first[:, :4], of="the logits before the changed token")
    assert np.abs(second[:, 4] - first[:, 4]).max() > 1e-6, "the last token does not see itself"


@worth(0.5, "nine tokens for a context of eight raise a ValueError that names both numbers", target="GPT")
def test_the_context_is_limited(student):
    model = student.GPT.made(*SIZES, training=True)
    array_like(model(torch.zeros(1, 8, dtype=torch.int64)), (1, 8, 5), of="the logits")
    assert_raises(ValueError, lambda: model(torch.zeros(1, 9, dtype=torch.int64)), 9, 8)


@worth(1, "the losses of the five words after The are those of the lesson", target="cross_entropy")
def test_the_losses_of_five_words(student):
    calls = [arguments(AFTER_THE.reshape(1, 1, 5), torch.tensor([[word]])) for word in range(5)]
    losses = [float(array_like(value, (), of="the loss")) for value in student.cross_entropy.call_many(calls)]
    assert_close(np.array(losses), np.array([2.9073, 0.9073, 1.9073, 1.9073, 1.4073]), LESSON)


@worth(1, "a gap of 10000 is a loss of 10000, and two places have their mean", target="cross_entropy")
def test_the_loss_of_large_logits(student):
    loss = student.cross_entropy(torch.tensor([[[10000.0, 0.0], [10000.0, 0.0]]]), torch.tensor([[1, 0]]))
    assert_close(array_like(loss, ()), np.array(5000.0), LESSON)


@worth(1.5, "in pieces of 0, 1, 2 …, every target is its input plus 1", target="get_batch")
def test_pieces_of_numbers(student):
    value = student.get_batch(torch.arange(10), 3, 4, generator(0))
    assert type(value) is tuple, "expected the pair (inputs, targets)"
    assert len(value) == 2, f"expected the pair (inputs, targets), got {len(value)} values"
    inputs, targets = (tokens_of(one, (3, 4), name) for one, name in zip(value, ("inputs", "targets"), strict=True))
    assert_close(inputs - inputs[:, :1], np.tile(np.arange(4), (3, 1)), of="the inputs, minus the first of each row")
    assert_close(targets, inputs + 1, of="the targets")


@worth(1.5, "the words after The are drawn as the table of the lesson says", target="sample_next")
def test_the_words_after_the(student):
    scores = AFTER_THE.expand(1000, 5).clone()
    for settings, possible in (
        ({}, {0, 1, 2, 3, 4}),
        ({"top_k": 2}, {1, 4}),
        ({"top_p": 0.4}, {1}),
        ({"top_p": 0.6}, {1, 4}),
    ):
        drawn = tokens_of(student.sample_next(scores, **settings, generator=generator(0)), (1000,), "the draws")
        assert set(drawn.tolist()) == possible, f"{settings or 'no settings'}: the words {sorted(set(drawn.tolist()))}"
    sharp, even = (
        (tokens_of(student.sample_next(scores, one, generator=generator(1)), (1000,), "the draws") == 1).mean()
        for one in (0.5, 2.0)
    )
    assert_close(np.array([sharp, even]), np.array([0.6035, 0.2976]), Tolerance(0.0, 0.08), of="how often cat comes")


@worth(0.5, "a temperature of 0 raises a ValueError that names it", target="sample_next")
def test_a_temperature_of_zero(student):
    assert_raises(ValueError, lambda: student.sample_next(torch.zeros(1, 3), temperature=0.0), 0)


@worth(1.5, "six tokens after two, with a context of four; the prompt comes first", target="generate")
def test_more_than_the_context(student):
    model = student.GPT.made(5, 4, 4, 1, 2, 8, training=True)
    text = tokens_of(student.generate(model, torch.tensor([[0, 1]]), 6, generator=generator(0)), (1, 8), "the tokens")
    assert text[0, :2].tolist() == [0, 1], f"the text begins with {text[0, :2].tolist()}, not with the prompt"
    assert model.training is True, "a new model is in train mode, and it should be again afterwards"


@worth(1.5, "the loss falls on a simple pattern, from about ln 5", target="train")
def test_a_pattern_is_learnt(student):
    data = torch.tensor([0, 1, 2, 3, 4] * 8)
    losses = student.train(student.GPT.made(5, 8, 8, 1, 2, 16, training=True), data, 30, 4, 0.02, generator(0))
    assert type(losses) is list, "expected a list of floats"
    assert all(type(one) is float for one in losses), "expected a list of floats"
    found = array_like(np.array(losses), (30,), of="the list of losses")
    assert abs(found[0] - math.log(5)) < 1.5, f"the first loss is {found[0]:.3f}, but ln 5 is {math.log(5):.4f}"
    assert found[-1] < 0.5, f"the last loss is {found[-1]:.3f}"
