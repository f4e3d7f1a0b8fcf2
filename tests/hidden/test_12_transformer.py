"""Hidden suite of 12_transformer. Oracle: a GPT of plain functions, with PyTorch's own norm and attention."""

import math

import numpy as np
import torch
from torch.nn import functional

from grader import testing
from grader.core.errors import StudentRaisedError
from grader.testing import (
    Tolerance,
    arguments,
    array_like,
    assert_close,
    assert_dtype,
    assert_raises,
    derangement,
    draw_until,
    generator,
    remembered,
    worth,
)

NORM, NETWORK, BLOCK, MODEL = "RMSNorm", "FeedForward", "TransformerBlock", "GPT"
LOSS, BATCH, SAMPLE, WRITE, TRAIN = "cross_entropy", "get_batch", "sample_next", "generate", "train"
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")
# Float32 in any order of addition keeps four digits here.
SINGLE = Tolerance(2e-4, 5e-5)
STEEP = Tolerance(2e-3, 2e-4)  # gradients add up over many places
SIZES = (7, 6, 8, 2, 2, 12)  # vocabulary, context, features, layers, heads, hidden features
SMALL = (5, 4, 4, 1, 1, 6)
LESSON = (5, 8, 4, 2, 2, 8)
OFF = {"norm": ("Dropout", 1.0)}  # in train mode, such a model has logits of 0
ALONE = 5.0  # standard deviations: a right submission is beyond this limit once in three million seeds
DRAWS = 1200  # a submission that draws row by row needs a millisecond for each


def single(array):
    return torch.tensor(np.asarray(array), dtype=torch.float32)


def normal(rng, *shape, scale=1.0):
    return single(rng.normal(scale=scale, size=shape))


def block_parts(rng, width, hidden):
    """Return parameters of a block in which every one of them matters."""
    state = {"norm1.weight": 1 + normal(rng, width, scale=0.3), "norm2.weight": 1 + normal(rng, width, scale=0.3)}
    for name in PROJECTIONS:
        state[f"attention.{name}.weight"] = normal(rng, width, width, scale=1.2 * width**-0.5)
        state[f"attention.{name}.bias"] = normal(rng, width, scale=0.4)
    for name in ("gate", "up"):
        state[f"feed_forward.{name}.weight"] = normal(rng, hidden, width, scale=1.5 * width**-0.5)
    return state | {"feed_forward.down.weight": normal(rng, width, hidden, scale=1.5 * hidden**-0.5)}


@remembered
def block_state(rng, width, hidden):
    return block_parts(rng, width, hidden)


@remembered
def model_state(rng, sizes):
    """Return parameters of a model in which every one of them matters."""
    vocab, context, width, layers, _, hidden = sizes
    state = {"token_embedding.weight": normal(rng, vocab, width, scale=1.5)}
    state["position_embedding.weight"] = normal(rng, context, width, scale=1.5)
    for layer in range(layers):
        state |= {f"blocks.{layer}.{name}": one for name, one in block_parts(rng, width, hidden).items()}
    state["norm.weight"] = 1 + normal(rng, width, scale=0.3)
    return state | {"head.weight": normal(rng, vocab, width, scale=2.0 * width**-0.5)}


def below(state, name):
    """Return the parameters of one part of a model, in float64."""
    return {key.removeprefix(f"{name}."): one.double() for key, one in state.items() if key.startswith(f"{name}.")}


def oracle_norm(x, weight, eps=1e-5):
    return functional.rms_norm(x, weight.shape, weight, eps)


def oracle_network(state, x):
    gate, up, down = (state[f"{name}.weight"] for name in ("gate", "up", "down"))
    opened = x @ gate.T
    return (opened / (1 + torch.exp(-opened)) * (x @ up.T)) @ down.T


def oracle_block(state, num_heads, x, mask=None, eps=1e-5):
    """Return the block's result: PyTorch's norm and attention, on plain matrices."""
    made = oracle_norm(x, state["norm1.weight"], eps)
    q, k, v = (
        functional.linear(made, state[f"attention.{name}.weight"], state[f"attention.{name}.bias"])
        .unflatten(-1, (num_heads, -1))
        .transpose(1, 2)
        for name in PROJECTIONS[:3]
    )
    mixed = functional.scaled_dot_product_attention(q, k, v, None if mask is None else mask != 0)
    mixed = mixed.transpose(1, 2).flatten(2)
    x = x + functional.linear(mixed, state["attention.out_proj.weight"], state["attention.out_proj.bias"])
    return x + oracle_network(below(state, "feed_forward"), oracle_norm(x, state["norm2.weight"], eps))


def oracle_model(state, sizes, ids, eps=1e-5):
    """Return the logits, in float64. Gradients reach the state."""
    state = {name: one.double() for name, one in state.items()}
    x = state["token_embedding.weight"][ids] + state["position_embedding.weight"][: ids.shape[1]]
    for layer in range(sizes[3]):
        part = {key.removeprefix(f"blocks.{layer}."): one for key, one in state.items() if f"blocks.{layer}." in key}
        x = oracle_block(part, sizes[4], x, torch.ones(ids.shape[1], ids.shape[1]).tril(), eps)
    return oracle_norm(x, state["norm.weight"], eps) @ state["head.weight"].T


@remembered
def oracle_logits(state, sizes, ids):
    return oracle_model(state, sizes, ids).to(torch.float32)


def hardly_needs_eps(result):
    """Whether a result, as a function of eps, is nearly the same for any small eps: a mistake there is the norm's."""
    return float((result(1e-5) - result(0.0)).abs().max()) < 1e-5


def oracle_loss(logits, targets):
    return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def tensor_of(value, shape, of="the result"):
    """Return the student's result as a finite float32 tensor of this shape, or fail."""
    assert type(value) is torch.Tensor, f"{of} should be a tensor"
    return single(array_like(value.detach(), tuple(shape), of=of))


def ids_of(value, shape, below, of="the result"):
    """Return the student's tokens as an int64 tensor of this shape, all of them from 0 to `below` - 1, or fail."""
    assert type(value) is torch.Tensor, f"{of} should be a tensor"
    array = array_like(value, tuple(shape), of=of)
    assert_dtype(value, torch.int64)
    assert array.min() >= 0, f"{of}: there are negative tokens"
    assert array.max() < below, f"{of}: there are tokens that do not exist"
    return torch.from_numpy(array.astype(np.int64))


def model_of(student, state, sizes=SIZES, **more):
    """Return the student's model with these parameters; errors show in its first call."""
    return student.GPT.made(*sizes, state=state, **more)


def most_chi_square(freedom):
    """Return what a chi-square of this many degrees of freedom exceeds once in three million times."""
    part = 2 / (9 * freedom)  # Wilson and Hilferty
    return freedom * (1 - part + ALONE * math.sqrt(part)) ** 3


def assert_follows(drawn, expected, of):
    """Fail unless the numbers of draws fit these probabilities, by a chi-square test."""
    assert int(drawn.max()) < len(expected), f"{of}: {int(drawn.max())} was drawn, which is not possible"
    counts = np.bincount(drawn.numpy(), minlength=len(expected)).astype(float)
    possible = expected > 0
    assert not counts[~possible].any(), f"{of}: a token was drawn that is not possible"
    wanted = expected[possible] * len(drawn)
    found = float(((counts[possible] - wanted) ** 2 / wanted).sum())
    if possible.sum() > 1:
        limit = most_chi_square(int(possible.sum()) - 1)
        assert found <= limit, f"{of}: the draws do not follow the probabilities (chi-square {found:.0f})"


# RMSNorm ------------------------------------------------------------------------------------------------


def norm_of(student, weight, *eps):
    return student.RMSNorm.made(len(weight), *eps, state={"weight": weight})


@worth(2, "it agrees with an independent formula, for any number of axes and any eps", target=NORM)
def test_norm_agrees_with_the_oracle(student, rng, shown):
    for eps in (1e-5, 0.5):
        for shape in ((6,), (2,), (2, 4), (2, 3, 6), (6, 6)):
            weight, x = normal(rng, shape[-1]), normal(rng, *shape, scale=2.0)
            expected = oracle_norm(x.double(), weight.double(), eps).float()
            assert_close(tensor_of(norm_of(student, weight, eps)(x), shape), expected, SINGLE, of=f"{shape}, eps {eps}")
    shown(student, "RMSNorm.forward", tolerance=SINGLE)


@worth(2, "the mean of the squares of every token becomes 1, however large it was", target=NORM)
def test_norm_brings_every_token_to_one_size(student, rng):
    x = normal(rng, 5, 4) * torch.tensor([0.1, 1.0, 10.0, 100.0, 1.0])[:, None]
    result = tensor_of(norm_of(student, torch.ones(4), 0.0)(x), (5, 4))
    assert_close(result.square().mean(dim=-1), torch.ones(5), SINGLE, of="the means of the squares")
    assert_close(result.sign(), x.sign(), of="the signs")


@worth(1, "a token of equal entries becomes the weight: no mean is subtracted", target=NORM)
def test_norm_keeps_what_is_constant(student, rng):
    weight = normal(rng, 4)
    result = tensor_of(norm_of(student, weight, 0.0)(torch.full((2, 4), 3.0)), (2, 4))
    assert_close(result, weight.expand(2, 4), SINGLE)


@worth(1, "eps is added to the mean of the squares, inside the root", target=NORM)
def test_norm_adds_eps_inside_the_root(student):
    # The squares have the mean 9 and eps is 16: the root of 25 is 5
    result = tensor_of(norm_of(student, torch.ones(2), 16.0)(torch.tensor([[3.0, -3.0]])), (1, 2))
    assert_close(result, torch.tensor([[0.6, -0.6]]), SINGLE)
    zeros = tensor_of(norm_of(student, torch.ones(2))(torch.zeros(3, 2)), (3, 2))
    assert_close(zeros, torch.zeros(3, 2), of="a token of zeros")


@worth(1, "each token is normalised alone", target=NORM)
def test_norm_takes_each_token_alone(student, rng):
    x, weight = normal(rng, 4, 4, 4), normal(rng, 4)  # all axes have the same size
    together, alone = norm_of(student, weight, 0.1).call_many([arguments(x), arguments(x[1, 2])])
    assert_close(tensor_of(together, (4, 4, 4))[1, 2], tensor_of(alone, (4,)), SINGLE, of="one token alone")


@worth(1, "the weight starts at 1, and gradients reach it and x", target=NORM)
def test_norm_learns(student, rng):
    fresh = student.RMSNorm.made(5)
    parameters = fresh.parameters()
    assert sorted(parameters) == ["weight"], f"the parameters are {', '.join(sorted(parameters)) or 'none'}"
    assert_close(tensor_of(parameters["weight"], (5,)), torch.ones(5), of="the weight of a new norm")
    x, cotangent, weight = normal(rng, 3, 5), normal(rng, 3, 5), normal(rng, 5)
    found = norm_of(student, weight).vjp(x, cotangent=cotangent)
    leaves = [x.clone().requires_grad_(True), weight.clone().requires_grad_(True)]
    wanted = torch.autograd.grad((oracle_norm(*leaves) * cotangent).sum(), leaves)
    testing.assert_gradients(found, wanted[:1], ("x",), STEEP)
    testing.assert_parameter_gradients(found, {"weight": wanted[1]}, STEEP)


@worth(0.6, "a longer token gives the same result, so the gradient has no part along the token", target=NORM)
def test_norm_gradients_are_across(student, rng):
    x, cotangent = normal(rng, 3, 5), normal(rng, 3, 5)
    found = norm_of(student, torch.ones(5), 0.0).vjp(x, cotangent=cotangent)
    assert found.grads[0] is not None, "no gradient reaches x: the graph is cut"
    along = (tensor_of(found.grads[0], (3, 5), "the gradient of x") * x).sum(dim=-1)
    assert_close(along, torch.zeros(3), Tolerance(0.0, 1e-4), of="the gradients along the tokens")


@worth(0.4, "float32 and float64 keep their dtype, and float64 its digits", target=NORM)
def test_norm_dtype(student, rng):
    x = normal(rng, 2, 4)
    norm = norm_of(student, torch.ones(4))
    assert_dtype(norm(x), torch.float32)
    norm.double()
    fine = norm(x.double())
    array_like(fine, (2, 4))
    assert_dtype(fine, torch.float64)
    assert_close(fine.detach(), oracle_norm(x.double(), torch.ones(4).double()), Tolerance(1e-7, 1e-9))


# FeedForward --------------------------------------------------------------------------------------------


def network_state(rng, width=6, hidden=10):
    return {
        key.removeprefix("feed_forward."): one for key, one in block_parts(rng, width, hidden).items() if "f" in key[:4]
    }


def network_of(student, state):
    return student.FeedForward.made(*state["down.weight"].shape, state=state)


@worth(2, "it agrees with an independent formula", target=NETWORK)
def test_network_agrees_with_the_oracle(student, rng, shown):
    for batch, length, width, hidden in ((2, 3, 6, 10), (4, 4, 4, 4), (1, 1, 1, 1), (1, 2, 1, 2)):
        state, x = network_state(rng, width, hidden), normal(rng, batch, length, width)
        expected = oracle_network({name: one.double() for name, one in state.items()}, x.double()).float()
        assert_close(tensor_of(network_of(student, state)(x), x.shape), expected, SINGLE, of=f"{width} to {hidden}")
    shown(student, "FeedForward.forward", tolerance=SINGLE)


@worth(2, "the result is twice as large with twice the weights of up, and not with twice those of gate", target=NETWORK)
def test_network_gates(student, rng):
    state, x = network_state(rng), normal(rng, 1, 4, 6)
    plain = tensor_of(network_of(student, state)(x), x.shape)
    double = tensor_of(network_of(student, state | {"up.weight": 2 * state["up.weight"]})(x), x.shape)
    assert_close(double, 2 * plain, SINGLE, of="with twice the weights of up")
    steep = state | {"gate.weight": 200 * state["gate.weight"], "up.weight": state["up.weight"] / 200}
    # A very steep gate is open or closed: silu(200 z) / 200 is z where z is above 0, and else 0
    opened = (x @ state["gate.weight"].T).clamp(min=0) * (x @ state["up.weight"].T)
    result = tensor_of(network_of(student, steep)(x), x.shape)
    assert_close(result, opened @ state["down.weight"].T, Tolerance(1e-2, 2e-2), of="with a steep gate")


@worth(1, "gate, up and down have no biases: a token of zeros stays zeros", target=NETWORK)
def test_network_of_zeros(student):
    fresh = student.FeedForward.made(4, 6)
    found = fresh.parameters()
    assert sorted(found) == ["down.weight", "gate.weight", "up.weight"], (
        f"the parameters are {', '.join(sorted(found))}"
    )
    assert_close(tensor_of(fresh(torch.zeros(1, 2, 4)), (1, 2, 4)), torch.zeros(1, 2, 4))


@worth(1, "each token is computed alone", target=NETWORK)
def test_network_takes_each_token_alone(student, rng):
    state, x = network_state(rng, 4, 4), normal(rng, 4, 4, 4)
    together, alone = network_of(student, state).call_many([arguments(x), arguments(x[1:2, 2:3])])
    assert_close(tensor_of(together, x.shape)[1:2, 2:3], tensor_of(alone, (1, 1, 4)), SINGLE)


@worth(1, "gradients reach x and all three weights", target=NETWORK)
def test_network_gradients(student, rng):
    state, x, cotangent = network_state(rng), normal(rng, 1, 3, 6), normal(rng, 1, 3, 6)
    found = network_of(student, state).vjp(x, cotangent=cotangent)
    leaves = {name: one.clone().requires_grad_(True) for name, one in state.items()}
    given = x.clone().requires_grad_(True)
    value = (oracle_network(leaves, given) * cotangent).sum()
    wanted = torch.autograd.grad(value, [given, *leaves.values()])
    testing.assert_gradients(found, wanted[:1], ("x",), STEEP)
    testing.assert_parameter_gradients(found, dict(zip(leaves, wanted[1:], strict=True)), STEEP)


# TransformerBlock ---------------------------------------------------------------------------------------


def block_of(student, state, num_heads=2):
    return student.TransformerBlock.made(
        len(state["norm1.weight"]), num_heads, len(state["feed_forward.gate.weight"]), state=state
    )


def without(state, *names):
    """Return parameters of which some are 0."""
    return state | {name: torch.zeros_like(state[name]) for name in names}


SILENT = ("attention.out_proj.weight", "attention.out_proj.bias")  # without these, the attention adds nothing
IDLE = ("feed_forward.down.weight",)  # without it, the network adds nothing


@remembered
def block_and_tokens(rng, batch, length, width):
    """Return parameters of a block, and tokens for it."""

    def drawn(rng):
        return block_parts(rng, width, 10), normal(rng, batch, length, width, scale=4.0)

    def shows(made):
        exact, x = {name: one.double() for name, one in made[0].items()}, made[1].double()
        masks = (None, torch.ones(length, length).tril(), torch.eye(length))
        return all(hardly_needs_eps(lambda eps, mask=mask: oracle_block(exact, 2, x, mask, eps)) for mask in masks)

    return draw_until(rng, drawn, shows)


def with_large_tokens(call):
    """Return a call of a block with tokens next to which eps does not count."""
    return arguments(8 * call.args[0], *call.args[1:], **call.kwargs)


@worth(2, "it agrees with an independent computation, with and without a mask", target=BLOCK)
def test_block_agrees_with_the_oracle(student, rng, shown):
    for batch, length, width in ((2, 4, 6), (1, 2, 4)):
        state, x = block_and_tokens(rng, batch, length, width)
        exact = {name: one.double() for name, one in state.items()}
        for mask in (None, torch.ones(length, length).tril(), torch.eye(length)):
            expected = oracle_block(exact, 2, x.double(), mask).float()
            made = block_of(student, state)
            value = made(x) if mask is None else made(x, mask)
            assert_close(tensor_of(value, x.shape), expected, SINGLE, of="no mask" if mask is None else "a mask")
    shown(student, "TransformerBlock.forward", fit=with_large_tokens, tolerance=SINGLE)


@worth(2, "both halves are residuals: where they compute 0, the tokens pass unchanged", target=BLOCK)
def test_block_is_a_residual(student, rng):
    state, x = block_state(rng, 6, 10), normal(rng, 2, 4, 6, scale=2.0)
    same = tensor_of(block_of(student, without(state, *SILENT, *IDLE))(x), x.shape)
    assert_close(same, x, SINGLE, of="both halves compute 0")
    for name, silent in (("the attention", IDLE), ("the network", SILENT)):
        moved = tensor_of(block_of(student, without(state, *silent))(x), x.shape)
        assert float((moved - x).abs().max()) > 1e-2, f"{name} adds nothing"


@worth(2, "what each half adds does not depend on the size of the tokens: there is a norm before it", target=BLOCK)
def test_block_normalises_first(student, rng):
    state, x = block_state(rng, 6, 10), normal(rng, 1, 4, 6)
    x = x + x.sign()  # eps counts next to no entry
    for silent in (SILENT, IDLE):
        made = block_of(student, without(state, *silent))
        once, large = made.call_many([arguments(x), arguments(64 * x)])
        added = tensor_of(large, x.shape) - 64 * x
        assert_close(added, tensor_of(once, x.shape) - x, Tolerance(2e-3, 1e-3), of="what is added to large tokens")


@worth(1.5, "each half has a norm of its own", target=BLOCK)
def test_block_has_two_norms(student, rng):
    state, x = block_state(rng, 6, 10), normal(rng, 1, 4, 6)
    only_first = without(state, "norm2.weight")
    assert_close(
        tensor_of(block_of(student, only_first)(x), x.shape),
        tensor_of(block_of(student, without(state, *IDLE))(x), x.shape),
        SINGLE,
        of="with a weight of 0 in norm2, the network",
    )
    biases = [f"attention.{name}.bias" for name in PROJECTIONS]
    only_second = without(state, "norm1.weight", *biases)
    assert_close(
        tensor_of(block_of(student, only_second)(x), x.shape),
        tensor_of(block_of(student, without(state, *SILENT))(x), x.shape),
        SINGLE,
        of="with a weight of 0 in norm1, the attention",
    )


@worth(1.5, "the network reads the tokens after the attention was added", target=BLOCK)
def test_block_has_an_order(student, rng):
    state, x, shift = block_state(rng, 6, 10), normal(rng, 1, 4, 6), normal(rng, 6)
    # This attention adds the same vector to every token
    fixed = without(state, "attention.v_proj.weight", "attention.v_proj.bias", "attention.out_proj.weight")
    fixed |= {"attention.out_proj.bias": shift}
    after = tensor_of(block_of(student, fixed)(x), x.shape)
    alone = tensor_of(block_of(student, without(state, *SILENT))(x + shift), x.shape)
    assert_close(after, alone, SINGLE)


@worth(1.5, "the mask is that of the attention, and without one every token sees every token", target=BLOCK)
def test_block_passes_the_mask_on(student, rng):
    state, x = block_state(rng, 6, 10), normal(rng, 1, 4, 6)
    other = x.clone()
    other[:, 3] = -x[:, 3]
    mask, made = torch.ones(4, 4).tril().bool(), block_of(student, state)
    calls = [arguments(x, mask), arguments(other, mask=mask), arguments(x), arguments(other)]
    one, two, three, four = (tensor_of(value, x.shape) for value in made.call_many(calls))
    assert_close(one[:, :3], two[:, :3], Tolerance(0.0, 1e-6), of="tokens before a changed one, with a causal mask")
    seen = (three - four).abs().amax(dim=-1)
    assert float(seen.min()) > 1e-4, "without a mask, a token does not see another one"


@worth(1, "texts of a batch do not mix", target=BLOCK)
def test_block_keeps_texts_apart(student, rng):
    state, x = block_state(rng, 6, 10), normal(rng, 4, 4, 6)
    order = torch.from_numpy(derangement(rng, 4))
    whole, turned, alone = block_of(student, state).call_many([arguments(x), arguments(x[order]), arguments(x[2:3])])
    whole = tensor_of(whole, x.shape)
    assert_close(tensor_of(turned, x.shape), whole[order], SINGLE, of="texts in another order")
    assert_close(tensor_of(alone, (1, 4, 6)), whole[2:3], SINGLE, of="one text alone")


@worth(1.5, "gradients reach x and every parameter", target=BLOCK)
def test_block_gradients(student, rng):
    state, x, cotangent = block_state(rng, 6, 10), normal(rng, 1, 3, 6), normal(rng, 1, 3, 6)
    found = block_of(student, state).vjp(x, torch.ones(3, 3).tril(), cotangent=cotangent)
    leaves = {name: one.double().requires_grad_(True) for name, one in state.items()}
    given = x.double().requires_grad_(True)
    value = (oracle_block(leaves, 2, given, torch.ones(3, 3).tril()) * cotangent).sum()
    wanted = [one.float() for one in torch.autograd.grad(value, [given, *leaves.values()])]
    for name in state:
        assert found.parameters.get(name) is not None, f"no gradient reaches {name}: the graph is cut"
    testing.assert_gradients(found, [wanted[0], None], ("x", "mask"), STEEP)
    testing.assert_parameter_gradients(found, dict(zip(leaves, wanted[1:], strict=True)), STEEP)


# GPT ----------------------------------------------------------------------------------------------------


def tokens(rng, *shape, below=SIZES[0]):
    return torch.from_numpy(rng.integers(0, below, size=shape))


@remembered
def model_and_texts(rng, sizes, shapes):
    """Return parameters of a model, and texts for it."""

    def drawn(rng):
        return model_state(rng, sizes), [tokens(rng, *shape, below=sizes[0]) for shape in shapes]

    def shows(made):
        state, texts = made
        return all(hardly_needs_eps(lambda eps, ids=ids: oracle_model(state, sizes, ids, eps)) for ids in texts)

    return draw_until(rng, drawn, shows)


def with_large_embeddings(state):
    """Return parameters next to which eps does not count."""
    return state | {name: 30 * state[name] for name in ("token_embedding.weight", "position_embedding.weight")}


@worth(2.5, "the logits agree with an independent computation, for every length", target=MODEL)
def test_model_agrees_with_the_oracle(student, rng, shown):
    for sizes, shapes in ((SIZES, ((2, 6), (3, 4), (1, 1))), (LESSON, ((1, 5), (1, 8)))):
        state, texts = model_and_texts(rng, sizes, shapes)
        for (batch, length), ids in zip(shapes, texts, strict=True):
            value = tensor_of(model_of(student, state, sizes)(ids), (batch, length, sizes[0]), "the logits")
            assert_close(value, oracle_logits(state, sizes, ids), SINGLE, of=f"{batch} texts of {length} tokens")
    shown(student, "GPT.forward", tolerance=SINGLE)


def quiet_state(rng, sizes):
    """Return parameters of a model in which no attention is sure, even without norms: every token counts later on."""
    parts = ("embedding.weight", "q_proj.weight", "k_proj.weight")
    return {name: one / 2 if name.endswith(parts) else one for name, one in model_state(rng, sizes).items()}


@worth(3, "it is causal: another token later leaves all logits before it as they were, bit for bit", target=MODEL)
def test_model_is_causal(student, rng):
    state, ids = quiet_state(rng, SIZES), tokens(rng, 1, 6)
    ids = torch.cat([ids, (ids + 1 + tokens(rng, 1, 6, below=SIZES[0] - 1)) % SIZES[0]])  # two texts, nowhere the same
    changed = [ids.clone() for _ in range(6)]
    for place, one in enumerate(changed):
        one[:, place] = (ids[:, place] + 1 + place) % SIZES[0]  # another token: 1 to 6 farther, of 7
    first, *others = model_of(student, state).call_many([arguments(one) for one in (ids, *changed)])
    first = tensor_of(first, (2, 6, 7), "the logits")
    for place, value in enumerate(others):
        logits = tensor_of(value, (2, 6, 7), "the logits")
        same = torch.equal(logits[:, :place], first[:, :place])
        assert same, f"another token at place {place} changes the logits before it"
        moved = (logits[:, place:] - first[:, place:]).abs().amax(dim=(0, 2))
        assert float(moved.min()) > 1e-4, f"another token at place {place} does not change all logits from there on"


@worth(1.5, "each place has its own position embedding, and the first place has row 0", target=MODEL)
def test_model_knows_positions(student, rng):
    state, ids = model_state(rng, SIZES), torch.full((1, 4), 3)
    state |= {"token_embedding.weight": state["token_embedding.weight"] / 4}  # positions count more
    plain = tensor_of(model_of(student, state)(ids), (1, 4, 7), "the logits")
    for row in range(6):
        table = state["position_embedding.weight"].clone()
        table[row] = -table[row]
        other = tensor_of(model_of(student, state | {"position_embedding.weight": table})(ids), (1, 4, 7))
        moved = (other - plain).abs().amax(dim=(0, 2))[: row + 1] > 1e-4  # later places only see it
        wanted = torch.arange(len(moved)) == row
        assert torch.equal(moved, wanted), f"row {row} of the position embedding counts at the wrong places"


@worth(1, "token and position embeddings are added", target=MODEL)
def test_model_adds_its_embeddings(student, rng):
    state, ids, shift = model_state(rng, SIZES), tokens(rng, 2, 5), normal(rng, 8)
    token, place = state["token_embedding.weight"], state["position_embedding.weight"]
    moved = state | {"token_embedding.weight": token + shift, "position_embedding.weight": place - shift}
    plain, other = (tensor_of(model_of(student, one)(ids), (2, 5, 7), "the logits") for one in (state, moved))
    assert_close(other, plain, STEEP, of="the logits, with a vector moved from one table to the other")


@worth(1, "a token sees itself: in a text of one token, its value counts", target=MODEL)
def test_model_sees_the_token_itself(student, rng):
    state, ids = model_state(rng, SIZES), torch.from_numpy(rng.permutation(7))[:, None]
    plain = tensor_of(model_of(student, state)(ids), (7, 1, 7), "the logits")
    for layer in range(2):
        other = tensor_of(model_of(student, without(state, f"blocks.{layer}.attention.v_proj.weight"))(ids), (7, 1, 7))
        assert float((other - plain).abs().amax(dim=(1, 2)).min()) > 1e-4, (
            "the only token of a text does not look at itself"
        )


@worth(1.5, "the loss of a new model is near ln V", target=MODEL)
def test_model_begins_near_ln_v(student, rng):
    sizes = (40, 16, 24, 2, 2, 48)
    ids = tokens(rng, 4, 17, below=40)
    logits = tensor_of(student.GPT.made(*sizes, training=True)(ids[:, :-1]), (4, 16, 40), "the logits")
    found = float(functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()))
    assert abs(found - math.log(40)) < 1, f"the loss of a new model is {found:.3f}, but ln 40 is {math.log(40):.3f}"


@worth(1.5, "every parameter gets a gradient", target=MODEL)
def test_model_gradients_arrive(student, rng):
    sizes = (7, 6, 8, 3, 2, 12)
    wanted, ids, cotangent = model_state(rng, sizes), tokens(rng, 3, 6), normal(rng, 3, 6, 7)
    # A new model may begin with zeros in it, and then some gradients are 0: it only shows the names.
    new = student.GPT.made(*sizes, training=True).vjp(ids, cotangent=cotangent).parameters
    assert sorted(new) == sorted(wanted), f"the parameters are {', '.join(sorted(new))}"
    for name, grad in model_of(student, wanted, sizes).vjp(ids, cotangent=cotangent).parameters.items():
        assert grad is not None, f"no gradient reaches {name}: the graph is cut"
        size = float(tensor_of(grad, wanted[name].shape, f"the gradient of {name}").abs().max())
        # A bias of all keys changes no weight, so its gradient is 0 but for rounding
        assert size > 0 or "k_proj.bias" in name, f"the gradient of {name} is 0"


@worth(1.5, "the gradients agree with an independent computation", target=MODEL)
def test_model_gradients_agree_with_the_oracle(student, rng):
    state, ids, cotangent = model_state(rng, SIZES), tokens(rng, 2, 5), normal(rng, 2, 5, 7)
    leaves = {name: one.clone().requires_grad_(True) for name, one in state.items()}
    value = (oracle_model(leaves, SIZES, ids) * cotangent).sum()
    wanted = dict(zip(leaves, torch.autograd.grad(value, list(leaves.values())), strict=True))
    found = model_of(student, state).vjp(ids, cotangent=cotangent)
    testing.assert_parameter_gradients(found, wanted, Tolerance(5e-3, 2e-3))


@worth(1.5, "texts of a batch do not mix", target=MODEL)
def test_model_keeps_texts_apart(student, rng):
    state, ids = model_state(rng, SIZES), tokens(rng, 5, 5)
    ids[1:] = (ids[:1] + torch.arange(1, 5)[:, None]) % 7  # all texts are different
    order = torch.from_numpy(derangement(rng, 5))
    whole, turned, alone = model_of(student, state).call_many(
        [arguments(ids), arguments(ids[order]), arguments(ids[2:3])]
    )
    whole = tensor_of(whole, (5, 5, 7), "the logits")
    assert_close(tensor_of(turned, (5, 5, 7)), whole[order], SINGLE, of="texts in another order")
    assert_close(tensor_of(alone, (1, 5, 7)), whole[2:3], SINGLE, of="one text alone")


@worth(1, "every layer has parameters of its own, and all of them count", target=MODEL)
def test_model_has_layers(student, rng):
    sizes = (7, 6, 8, 3, 2, 12)
    state, ids = model_state(rng, sizes), tokens(rng, 1, 6)
    plain = tensor_of(model_of(student, state, sizes)(ids), (1, 6, 7), "the logits")
    for layer in range(3):
        names = [f"blocks.{layer}.attention.out_proj.weight", f"blocks.{layer}.feed_forward.down.weight"]
        other = tensor_of(model_of(student, without(state, *names), sizes)(ids), (1, 6, 7))
        assert float((other - plain).abs().max()) > 1e-3, f"layer {layer} makes no difference"


@worth(1, "the logits come from the last norm and from the head", target=MODEL)
def test_model_ends_with_norm_and_head(student, rng):
    state, ids = model_state(rng, SIZES), tokens(rng, 2, 4)
    plain = tensor_of(model_of(student, state)(ids), (2, 4, 7), "the logits")
    twice = [state | {name: 2 * state[name]} for name in ("norm.weight", "head.weight")]
    for other in twice:
        assert_close(
            tensor_of(model_of(student, other)(ids), (2, 4, 7)), 2 * plain, SINGLE, of="with twice the weights"
        )
    order = torch.from_numpy(derangement(rng, 7))
    turned = state | {"head.weight": state["head.weight"][order]}
    assert_close(tensor_of(model_of(student, turned)(ids), (2, 4, 7)), plain[..., order], SINGLE, of="another order")


@worth(1, "more tokens than context_length raise a ValueError that names both numbers", target=MODEL)
def test_model_refuses(student, rng):
    made = model_of(student, model_state(rng, SIZES))
    assert_close(made.context_length, 6, of="context_length")
    try:
        tensor_of(made(torch.zeros(1, 6, dtype=torch.int64)), (1, 6, 7), "the logits")
    except StudentRaisedError as error:
        raise AssertionError(f"6 tokens fit into a context of 6: {error}") from error
    for length in (7, 19):
        assert_raises(ValueError, lambda n=length: made(torch.zeros(2, n, dtype=torch.int64)), length, 6)


@worth(1, "everything that forward makes lives where ids live", target=MODEL)
def test_model_on_a_device(student, rng):
    state, ids = model_state(rng, SMALL), tokens(rng, 2, 3, below=5)
    expected = tensor_of(model_of(student, state, SMALL)(ids), (2, 3, 5), "the logits")
    made = model_of(student, state, SMALL).on_device(ids)
    # What the attention of module 06 makes is not judged here, so it is also called alone, with a mask on the device.
    attention = student.TransformerBlock.made(4, 1, 6).attention
    assert hasattr(attention, "on_device"), "the attention of a block should be an nn.Module"
    alone = attention.on_device(normal(rng, 2, 3, 4), mask=torch.ones(3, 3).tril())
    assert alone.value is not None or alone.findings, "the attention returns nothing"
    strays = [one for one in made.findings if one.kind in ("mixed_devices", "left_on_cpu")]
    if strays and alone.findings:
        assert made.value is None or array_like(made.value, (2, 3, 5)) is not None
        return
    assert not strays, strays[0].what
    assert_close(made.value, expected, SINGLE, of="the logits on the device")


@worth(0.7, "after .double(), the logits are float64", target=MODEL)
def test_model_dtype(student, rng):
    state, ids = with_large_embeddings(model_state(rng, SIZES)), 1 + tokens(rng, 1, 4, below=6)
    model = model_of(student, state)
    assert_dtype(model(ids), torch.float32)
    model.double()
    model.load_state_dict(state)
    fine = model(ids)
    array_like(fine, (1, 4, 7))
    assert_dtype(fine, torch.float64)
    assert_close(fine.detach(), oracle_model(state, SIZES, ids), Tolerance(1e-5, 1e-6))


# cross_entropy ------------------------------------------------------------------------------------------


def loss_of(value):
    return float(tensor_of(value, (), "the loss"))


@worth(2, "it agrees with an independent computation", target=LOSS)
def test_loss_agrees_with_the_oracle(student, rng, shown):
    for shape in ((2, 3, 5), (4, 4, 4), (1, 1, 9), (3, 1, 2), (1, 2, 2)):
        logits, targets = normal(rng, *shape, scale=3.0), tokens(rng, *shape[:2], below=shape[2])
        expected = oracle_loss(logits.double(), targets).float()
        assert_close(tensor_of(student.cross_entropy(logits, targets), ()), expected, SINGLE, of=f"logits {shape}")
    shown(student, "cross_entropy", tolerance=SINGLE)


@worth(1, "with equal logits it is ln V", target=LOSS)
def test_loss_of_equal_logits(student, rng):
    calls = [arguments(torch.full((2, 3, size), 1.5), tokens(rng, 2, 3, below=size)) for size in (2, 7, 30)]
    for size, value in zip((2, 7, 30), student.cross_entropy.call_many(calls), strict=True):
        assert_close(loss_of(value), math.log(size), Tolerance(1e-5, 1e-5), of=f"{size} tokens")


@worth(1.5, "logits of any size work, and only their differences count", target=LOSS)
def test_loss_of_large_logits(student, rng):
    logits, targets = normal(rng, 2, 3, 4), tokens(rng, 2, 3, below=4)
    shifts = torch.tensor([[[8192.0], [-8192.0], [0.0]], [[512.0], [-512.0], [100.0]]])
    rounded = (logits * 64).round() / 64  # these keep all digits next to 8192
    plain, shifted = student.cross_entropy.call_many(
        [arguments(rounded, targets), arguments(rounded + shifts, targets)]
    )
    assert_close(loss_of(shifted), loss_of(plain), Tolerance(1e-3, 1e-3), of="with a constant added to all logits")
    gap = torch.tensor([[[10000.0, 0.0, -10000.0]] * 3])
    found = student.cross_entropy.call_many([arguments(gap, torch.tensor([[one] * 3])) for one in range(3)])
    for value, wanted in zip(found, (0.0, 10000.0, 20000.0), strict=True):
        assert_close(loss_of(value), wanted, Tolerance(1e-5, 1e-5), of="gaps of 10000")


@worth(1.5, "it is the mean over all places of all texts", target=LOSS)
def test_loss_is_a_mean(student, rng):
    logits, targets = normal(rng, 2, 3, 5), tokens(rng, 2, 3, below=5)
    places = [
        arguments(logits[b : b + 1, n : n + 1], targets[b : b + 1, n : n + 1]) for b in range(2) for n in range(3)
    ]
    calls = [arguments(logits, targets), arguments(logits.repeat(3, 2, 1), targets.repeat(3, 2)), *places]
    whole, repeated, *single_places = (loss_of(value) for value in student.cross_entropy.call_many(calls))
    assert_close(whole, sum(single_places) / 6, Tolerance(1e-4, 1e-5), of="the loss of all places")
    assert_close(repeated, whole, Tolerance(1e-4, 1e-5), of="everything six times")


@worth(1.5, "a target chooses the logit at its own place", target=LOSS)
def test_loss_reads_its_target(student, rng):
    logits = normal(rng, 3, 3, 3)  # all axes have the same size
    targets = torch.tensor([[0, 1, 2], [1, 1, 0], [2, 0, 2]])
    calls = [arguments(logits, targets)]
    for place in range(3):
        raised = logits.clone()
        raised[1, place, targets[1, place]] += 50.0  # the loss of this place becomes 0
        calls.append(arguments(raised, targets))
    first, *others = (loss_of(value) for value in student.cross_entropy.call_many(calls))
    alone = -torch.log_softmax(logits, dim=-1)[1].gather(-1, targets[1][:, None]).flatten() / 9
    for place, other in enumerate(others):
        assert_close(first - other, float(alone[place]), Tolerance(1e-3, 1e-4), of=f"what place {place} adds")


@worth(1, "its gradient is softmax minus 1 at the target, divided by the number of places", target=LOSS)
def test_loss_gradients(student, rng):
    logits, targets = normal(rng, 2, 3, 5), tokens(rng, 2, 3, below=5)
    found = student.cross_entropy.vjp(logits, targets, cotangent=torch.tensor(1.0))
    wanted = (torch.softmax(logits, dim=-1) - functional.one_hot(targets, 5)) / 6
    testing.assert_gradients(found, [wanted, None], ("logits", "targets"), STEEP)


@worth(0.6, "the gradients of all logits of a place sum to 0", target=LOSS)
def test_loss_gradients_sum_to_zero(student, rng):
    logits, targets = normal(rng, 2, 3, 5), tokens(rng, 2, 3, below=5)
    found = student.cross_entropy.vjp(logits, targets, cotangent=torch.tensor(1.0))
    assert found.grads[0] is not None, "no gradient reaches the logits: the graph is cut"
    sums = tensor_of(found.grads[0], (2, 3, 5), "the gradient of the logits").sum(dim=-1)
    assert_close(sums, torch.zeros(2, 3), Tolerance(0.0, 1e-5), of="the sums of the gradients")


@worth(0.2, "the dtype of the logits is kept", target=LOSS)
def test_loss_dtype(student, rng):
    logits, targets = normal(rng, 2, 3, 5), tokens(rng, 2, 3, below=5)
    single_value, double_value = student.cross_entropy.call_many(
        [arguments(logits, targets), arguments(logits.double(), targets)]
    )
    assert_dtype(single_value, torch.float32)
    assert_dtype(double_value, torch.float64)
    assert_close(double_value, oracle_loss(logits.double(), targets), Tolerance(1e-7, 1e-9))


# get_batch ----------------------------------------------------------------------------------------------


def batch_of(value, batch_size, context_length, below):
    """Return inputs and targets, or fail."""
    assert type(value) is tuple or type(value) is list, "expected the pair (inputs, targets)"
    assert len(value) == 2, f"expected the pair (inputs, targets), got {len(value)} values"
    shape = (batch_size, context_length)
    return tuple(ids_of(one, shape, below, of) for one, of in zip(value, ("the inputs", "the targets"), strict=True))


def starts_of(student, seed, starts, context_length, batch_size):
    """Return the places at which the rows of a batch begin."""
    data = torch.arange(starts + context_length)
    inputs, _ = batch_of(
        student.get_batch(data, batch_size, context_length, generator(seed)), batch_size, context_length, len(data)
    )
    return inputs[:, 0]


@worth(2, "each row is a piece of the data, and its targets are the same piece one token later", target=BATCH)
def test_batch_has_pieces(student, rng):
    for length, size, context in ((40, 5, 8), (9, 4, 4), (30, 1, 1), (30, 6, 6)):
        data = torch.from_numpy(rng.permutation(length))
        inputs, targets = batch_of(student.get_batch(data, size, context, generator(3)), size, context, length)
        places = data.argsort()
        first = places[inputs]
        assert_close(
            first - first[:, :1], torch.arange(context).expand(size, -1).clone(), of="the places of the inputs"
        )
        assert_close(places[targets] - first, torch.ones(size, context, dtype=torch.int64), of="targets minus inputs")


@worth(1.5, "data of one token more than the context has only one piece", target=BATCH)
def test_batch_of_the_only_piece(student, rng, shown):
    data = torch.from_numpy(rng.permutation(7))
    inputs, targets = batch_of(student.get_batch(data, 3, 6, generator(1)), 3, 6, 7)
    assert_close(inputs, data[:-1].expand(3, -1).clone(), of="the inputs")
    assert_close(targets, data[1:].expand(3, -1).clone(), of="the targets")
    shown(student, BATCH, where=lambda call: len(call.args[0]) == call.args[2] + 1)  # others are a matter of chance


@worth(2, "all starts are equally likely, the first and the last included", target=BATCH)
def test_batch_starts_are_uniform(student):
    for seed, starts, context in ((1, 6, 4), (2, 9, 1)):
        found = starts_of(student, seed, starts, context, DRAWS)
        assert_follows(found, np.full(starts, 1 / starts), f"{starts} starts")
        counts = found.bincount()
        assert int(counts.max() - counts.min()) > 2, "every start comes equally often: that is not chance"


@worth(1, "a piece may begin at the first token, and end one before the last", target=BATCH)
def test_batch_reaches_both_ends(student):
    for starts, context in ((5, 3), (8, 2)):
        found = starts_of(student, 6, starts, context, 400).unique().tolist()
        assert found == list(range(starts)), f"pieces of {context} from {starts + context} tokens begin at {found}"


@worth(1, "the rows are drawn independently: a start may come twice", target=BATCH)
def test_batch_rows_are_independent(student):
    found = starts_of(student, 5, 200, 3, 150)
    assert len(found.unique()) < 150, "no start comes twice, as if they were drawn without putting them back"
    # 150 draws from 200 starts give 106 different ones, with a standard deviation of about 4.5
    assert len(found.unique()) > 80, "the rows begin at too few places"
    steps = (found[1:] - found[:-1]).float()
    assert float(steps.std()) > 30, "the starts of neighbouring rows depend on each other"


@worth(1.5, "the same seed gives the same batch, other seeds others, and nothing else is random", target=BATCH)
def test_batch_is_seeded(student):
    batches = []
    for seed, own in ((1, 7), (2, 7), (2, 8)):
        student.seed(seed)
        batches.append(starts_of(student, own, 1000, 3, 40))
    assert_close(batches[1], batches[0], of="the starts with the same seed")
    assert not torch.equal(batches[2], batches[1]), "the starts do not depend on the generator"


# sample_next --------------------------------------------------------------------------------------------

CHANCES = np.array([0.15, 0.42, 0.05, 0.28, 0.1])  # neither sorted nor equal
LOGITS = single(np.log(CHANCES))
SETTINGS = [
    ({}, CHANCES),
    ({"temperature": 0.5}, CHANCES**2),
    ({"temperature": 2.0}, CHANCES**0.5),
    ({"top_k": 3}, CHANCES * (CHANCES > 0.12)),
    ({"top_k": 9}, CHANCES),
    ({"top_p": 0.8}, CHANCES * (CHANCES > 0.12)),
    ({"top_p": 0.6}, CHANCES * (CHANCES > 0.2)),
    ({"temperature": 0.5, "top_k": 4, "top_p": 0.95}, CHANCES**2 * (CHANCES > 0.12)),
    ({"top_k": 2, "top_p": 0.55}, CHANCES * (CHANCES > 0.4)),  # of two, the first has 0.6
]


def drawn_by(student, logits, seed, **settings):
    """Draw one token from each row, or fail."""
    value = student.sample_next(logits, **settings, generator=generator(seed))
    return ids_of(value, (len(logits),), logits.shape[1], "the drawn tokens")


@worth(3, "the draws follow the probabilities, for every setting (a chi-square test with a fixed seed)", target=SAMPLE)
def test_sample_follows_the_distribution(student):
    for number, (settings, weights) in enumerate(SETTINGS):
        drawn = drawn_by(student, LOGITS.expand(DRAWS, 5).clone(), number, **settings)
        assert_follows(drawn, weights / weights.sum(), f"{settings or 'no settings'}")


@worth(1.5, "a low temperature makes likely tokens likelier, and a high one makes all more alike", target=SAMPLE)
def test_sample_has_a_temperature(student):
    logits = torch.tensor([2.0, 3.0, 0.0, 1.0]).expand(DRAWS, 4).clone()
    cold, hot = (drawn_by(student, logits, 4, temperature=one) for one in (0.05, 50.0))
    assert torch.equal(cold, torch.ones_like(cold)), "at a temperature of 0.05, a token was drawn that is not the first"
    assert float((hot == 2).float().mean()) > 0.18, "at a temperature of 50, the least likely token is too rare"


@worth(1.5, "top_k leaves exactly k tokens, also where logits are equal", target=SAMPLE)
def test_sample_top_k_is_exact(student):
    even = torch.zeros(600, 6)
    for k, wanted in ((1, 1), (2, 2), (5, 5), (6, 6), (11, 6)):
        found = drawn_by(student, even, k, top_k=k).unique()
        assert len(found) == wanted, f"of 6 equal logits, {len(found)} are drawn with top_k={k}"
    logits = torch.tensor([[0.5, 2.0, 1.0, -1.0], [9.0, 8.0, 7.0, 9.5]])
    assert_close(drawn_by(student, logits, 0, top_k=1), torch.tensor([1, 3]), of="the draws with top_k=1")


@worth(2, "top_p leaves the smallest set that reaches p, with the token that reaches it", target=SAMPLE)
def test_sample_top_p_is_the_smallest_set(student):
    logits = LOGITS.expand(DRAWS, 5).clone()
    for p, wanted in (
        (0.1, [1]),
        (0.4, [1]),
        (0.5, [1, 3]),
        (0.72, [0, 1, 3]),
        (0.9, [0, 1, 3, 4]),
        (0.99, [0, 1, 2, 3, 4]),
    ):
        found = drawn_by(student, logits, 11, top_p=p).unique().tolist()
        assert found == wanted, f"top_p={p} draws {found}, not {wanted}"


@worth(1.5, "temperature comes first, then top_k, then top_p on what is left", target=SAMPLE)
def test_sample_has_an_order(student):
    logits = LOGITS.expand(DRAWS, 5).clone()
    # With top_k=2, the probabilities that are left are 0.6 and 0.4
    for settings, wanted in (
        ({"top_k": 2, "top_p": 0.55}, [1]),
        ({"top_k": 2, "top_p": 0.65}, [1, 3]),
        ({"temperature": 0.25, "top_p": 0.8}, [1]),
        ({"temperature": 4.0, "top_p": 0.8}, [0, 1, 3, 4]),
    ):
        found = drawn_by(student, logits, 12, **settings).unique().tolist()
        assert found == wanted, f"{settings} draws {found}, not {wanted}"


@worth(0.5, "of eight equal logits, top_k=4 and top_p=0.6 leave three", target=SAMPLE)
def test_sample_of_equal_logits(student):
    found = drawn_by(student, torch.zeros(600, 8), 13, top_k=4, top_p=0.6).unique()
    assert len(found) == 3, f"{len(found)} different tokens are drawn"


@worth(1.5, "each row is drawn from its own logits", target=SAMPLE)
def test_sample_takes_each_row_alone(student, rng):
    logits = torch.full((40, 6), -30.0)
    wanted = tokens(rng, 40, below=6)
    logits[torch.arange(40), wanted] = 0.0
    for settings in ({}, {"top_k": 2}, {"top_p": 0.9}, {"top_k": 3, "top_p": 0.5}):
        assert_close(drawn_by(student, logits, 1, **settings), wanted, of=f"{settings or 'no settings'}")
    even = drawn_by(student, torch.zeros(400, 4), 2)
    assert len(even.unique()) == 4, "all rows get the same token"
    # Every other row is sure of token 1, and the rows between them need all four tokens to reach 0.9
    mixed = torch.zeros(400, 4)
    mixed[::2, 1] = 20.0
    drawn = drawn_by(student, mixed, 3, top_p=0.9)
    assert set(drawn[::2].tolist()) == {1}, "a row that is sure of a token gets another one"
    assert len(drawn[1::2].unique()) == 4, "what top_p leaves of a row depends on other rows"


@worth(1, "a temperature of 0 or less raises a ValueError that names it", target=SAMPLE)
def test_sample_refuses(student):
    for temperature in (0.0, -3.5):
        call = lambda t=temperature: student.sample_next(torch.zeros(2, 3), temperature=t)  # noqa: E731
        assert_raises(ValueError, call, temperature)


@worth(1, "all chance comes from the generator; without one, from torch itself", target=SAMPLE)
def test_sample_is_seeded(student):
    even, draws = torch.zeros(60, 50), []
    for seed, own in ((1, 7), (2, 7), (2, 8)):
        student.seed(seed)
        draws.append(drawn_by(student, even, own, top_p=0.9))
    assert_close(draws[1], draws[0], of="the draws with the same seed")
    assert not torch.equal(draws[2], draws[1]), "the draws do not depend on the generator"
    found = ids_of(student.sample_next(even), (60,), 50, "the draws without a generator")
    assert len(found.unique()) > 10, "without a generator, the draws are not random"


# generate -----------------------------------------------------------------------------------------------


def prompt(rng, *shape):
    """Return texts of any tokens but 0. None of them begins as it ends."""

    def ends_differ(ids):
        return bool((ids[:, 0] != ids[:, -1]).all())

    return draw_until(rng, lambda rng: 1 + tokens(rng, *shape, below=SMALL[0] - 1), ends_differ)


def greedy(state, ids, count, window=SMALL[1], place=-1):
    """Return the most likely text of a small model, and the leads of its tokens over the next ones."""
    leads = []
    for _ in range(count):
        best = oracle_model(state, SMALL, ids[:, -window:])[:, place].topk(2)
        leads.append(best.values[:, 0] - best.values[:, 1])
        ids = torch.cat([ids, best.indices[:, :1]], dim=1)
    return ids, torch.stack(leads, dim=1)


@remembered
def telling_prompt(rng, shape, count):
    """Return a model that is never sure, and texts. How they go on shows what was read, and that nothing was drawn."""

    def drawn(rng):
        state = model_state(rng, SMALL)
        return state | {"head.weight": state["head.weight"] / 2}, prompt(rng, *shape)

    def shows(made):
        text, leads = greedy(*made, count)
        if leads.min() < 0.03 or torch.sigmoid(leads).prod() > 0.01:
            return False  # too close to call, or likely to be drawn by chance from the best two
        new = text[:, shape[1] :]
        wrong = [greedy(*made, count, window=1)[0], greedy(*made, count, place=0)[0]]
        rows_differ = all(not torch.equal(new[0], other) for other in new[1:])
        return rows_differ and len(new[0].unique()) > 2 and all((one != text).any(dim=1).all() for one in wrong)

    return draw_until(rng, drawn, shows)


def written(student, model, ids, count, vocab, **settings):
    """Let the student's generate write, or fail."""
    value = student.generate(model, ids, count, **settings)
    text = ids_of(value, (len(ids), ids.shape[1] + count), vocab, "the text")
    assert_close(text[:, : ids.shape[1]], ids, of="the prompt")
    return text


def last_logits(value, count):
    """Return the logits at the last place that the student's model gives for some texts, or fail."""
    assert type(value) is torch.Tensor, "the logits should be a tensor"
    assert value.ndim == 3, f"the logits have {value.ndim} axes, not 3"
    assert value.shape[1] > 0, "there are logits of no place"
    return tensor_of(value, (count, value.shape[1], SMALL[0]), "the logits")[:, -1]


CLOSE = 1e-3  # the order of logits that are as close as this does not count


def own_text(model, ids, count):
    """Return the text that the student's own model finds most likely, and for each text the smallest lead of a token.

    Ask before `generate` writes. Afterwards a model could say that what it saw `generate` write was likely.
    """
    leads = []
    for _ in range(count):
        best = last_logits(model(ids[:, -SMALL[1] :].clone()), len(ids)).topk(2)
        leads.append(best.values[:, 0] - best.values[:, 1])
        ids = torch.cat([ids, best.indices[:, :1]], dim=1)
    return ids, torch.stack(leads).amin(dim=0)


def assert_likeliest(model, text, count, own, of=""):
    """Fail unless the text is the one of `own_text`: a wrong model costs no points here."""
    expected, leads = own
    clear = leads >= CLOSE
    assert torch.equal(text[clear], expected[clear]), f"{of}a token is not the one with the largest logit"
    if clear.all():
        return
    # Where the model finds two tokens as good, either may follow.
    ends = range(text.shape[1] - count, text.shape[1])
    values = model.call_many([arguments(text[:, max(0, end - SMALL[1]) : end].clone()) for end in ends])
    for end, value in zip(ends, values, strict=True):
        logits = last_logits(value, len(text))
        chosen = logits.gather(1, text[:, end : end + 1])[:, 0]
        best = logits.amax(dim=1) - CLOSE
        assert bool((chosen >= best).all()), f"{of}token {end} is not the one with the largest logit"


@worth(2.5, "with top_k=1 it writes the most likely text, also beyond the context", target=WRITE)
def test_text_is_the_most_likely(student, rng):
    for length in (2, 4, 9):
        state, ids = telling_prompt(rng, (1, length), 12)
        model = model_of(student, state, SMALL)
        own = own_text(model, ids, 12)
        assert_likeliest(model, written(student, model, ids, 12, SMALL[0], top_k=1), 12, own)


@worth(2, "it sees the last context_length tokens, and none before them", target=WRITE)
def test_text_is_cropped(student, rng):
    state, ids = telling_prompt(rng, (1, 4), 12)
    longer = torch.cat([prompt(rng, 1, 7), ids], dim=1)
    model = model_of(student, state, SMALL)
    own = own_text(model, ids, 12)
    try:
        whole, alone = (written(student, model, one, 12, 5, top_k=1) for one in (longer, ids))
    except StudentRaisedError as error:
        raise AssertionError(f"no text longer than the context of 4: {error}") from error
    assert_close(whole[:, 7:], alone, of="the text after a longer prompt")
    assert_likeliest(model, alone, 12, own)


@remembered
def known_chances(rng, ids):
    """Return a small model that gives CHANCES at the last place of a text, and others at the first place."""

    def drawn(rng):
        state = {name: one.double() for name, one in model_state(rng, SMALL).items()}
        # With the unit matrix as its head, the model returns what its head reads
        read = oracle_model(state | {"head.weight": torch.eye(SMALL[2], dtype=torch.float64)}, SMALL, ids)[0]
        head, last = state["head.weight"], read[-1]
        head = head + torch.outer(torch.from_numpy(np.log(CHANCES)) - head @ last, last) / (last @ last)
        return {name: single(one) for name, one in state.items()} | {"head.weight": single(head)}

    def shows(state):
        first, *_, last = torch.softmax(oracle_model(state, SMALL, ids)[0], dim=-1).numpy()
        return np.abs(last - CHANCES).max() < 1e-4 and np.abs(first - CHANCES).sum() > 0.6

    return draw_until(rng, drawn, shows)


@worth(2, "the tokens follow the model's probabilities and the settings", target=WRITE)
def test_text_follows_the_distribution(student, rng):
    ids = torch.tensor([[1, 3, 2]])
    model = model_of(student, known_chances(rng, ids), SMALL)
    logits = last_logits(model(ids), 1)[0].double().numpy()  # of the student's own model
    many, order = ids.expand(DRAWS // 2, 3).clone(), np.argsort(-logits)
    for number, settings in enumerate(({}, {"temperature": 2.5}, {"top_k": 2}, {"top_p": 0.6})):
        weights = np.exp((logits - logits.max()) / settings.get("temperature", 1.0))
        weights /= weights.sum()
        if "top_k" in settings:
            weights[order[2:]] = 0
        if "top_p" in settings:
            ahead = np.cumsum(weights[order]) - weights[order]
            weights[order[ahead >= 0.6]] = 0
        text = written(student, model, many, 1, 5, **settings, generator=generator(number))
        assert_follows(text[:, -1], weights / weights.sum(), f"{settings or 'no settings'}")


@worth(1.5, "a low temperature, top_k=1 and a tiny top_p all write the most likely text", target=WRITE)
def test_settings_reach_the_draw(student, rng):
    state, ids = telling_prompt(rng, (1, 3), 12)
    many, model = ids.expand(60, 3).clone(), model_of(student, state, SMALL)
    own = own_text(model, many, 12)
    low = max(float(own[1].min()), CLOSE) / 20  # the second token then has 2e-9 of the chance of the first
    for settings in ({"top_k": 1}, {"temperature": low}, {"temperature": 9.0, "top_p": 1e-3}, {"top_p": 1e-3}):
        text = written(student, model, many, 12, 5, **settings, generator=generator(3))
        assert_likeliest(model, text, 12, own, f"with {settings}, ")
    hot = written(student, model, many, 12, 5, temperature=1e4, generator=generator(4))
    assert len(hot.unique(dim=0)) > 50, "at a temperature of 10000, most texts are the same"


@worth(1.5, "the same seed gives the same text, other seeds others, and nothing else is random", target=WRITE)
def test_text_is_seeded(student, rng):
    state, ids, texts = model_state(rng, SIZES), prompt(rng, 4, 3), []
    model = model_of(student, state | {"head.weight": state["head.weight"] / 4})
    for seed, own in ((1, 7), (2, 7), (2, 8)):
        student.seed(seed)
        texts.append(written(student, model, ids, 12, 7, generator=generator(own)))
    assert_close(texts[1], texts[0], of="the texts with the same seed")
    assert not torch.equal(texts[2], texts[1]), "the text does not depend on the generator"
    assert len(texts[0][:, 3:].unique(dim=0)) > 1, "all texts of the batch get the same tokens"


@worth(1.5, "the model is in eval mode meanwhile, and in its previous mode afterwards", target=WRITE)
def test_text_in_eval_mode(student, rng):
    # This model has logits of 0 in train mode: its last norm is a dropout of everything.
    state, ids = model_state(rng, SMALL), torch.tensor([[1, 3, 2]]).repeat(40, 1)
    state = state | {"head.weight": 1e6 * state["head.weight"]}  # the most likely token is certain
    for training in (True, False):
        model = model_of(student, state, SMALL, training=training, parts=OFF)
        text = written(student, model, ids, 2, 5, generator=generator(2))
        assert len(text.unique(dim=0)) == 1, "the model was not in eval mode when it was asked for a token"
        assert model.training is training, f"afterwards, training is {model.training}, before it was {training}"


@worth(1, "every text of a batch goes on by itself", target=WRITE)
def test_texts_do_not_mix(student, rng):
    state, ids = telling_prompt(rng, (3, 3), 6)
    model = model_of(student, state, SMALL)
    own = own_text(model, ids, 6)
    assert_likeliest(model, written(student, model, ids, 6, 5, top_k=1), 6, own)


@worth(1, "the parameters stay as they were, and get no gradients", target=WRITE)
def test_writing_does_not_learn(student, rng):
    state = model_state(rng, SMALL)
    model = model_of(student, state, SMALL, training=True)
    written(student, model, prompt(rng, 1, 3), 3, 5, generator=generator(1))
    after = model.parameters()
    for name, before in state.items():
        assert name in after, f"the parameter {name} is gone"
        assert_close(tensor_of(after[name], before.shape, name), before, of=name)


# train --------------------------------------------------------------------------------------------------


def floats(losses, count):
    """Return the losses as an array, or fail."""
    assert type(losses) is list, "expected a list of floats"
    assert all(type(one) is float for one in losses), "expected a list of floats"
    assert len(losses) == count, f"there are {len(losses)} losses after {count} steps"
    return array_like(np.array(losses), (count,), of="the list of losses")


@remembered
def oracle_losses(state, lr, decay=0.0, forgets=True):
    """Return the losses of five steps on PIECE, the only piece of its data. A wrong training forgets no gradient."""
    leaves = {name: one.double().requires_grad_(True) for name, one in state.items()}
    optimizer, losses = torch.optim.AdamW(leaves.values(), lr=lr, weight_decay=decay), []
    for _ in range(5):
        loss = oracle_loss(oracle_model(leaves, SIZES, PIECE[None, :-1]), PIECE[None, 1:])
        if forgets:
            optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return np.array(losses)


def telling_state(rng):
    """Return parameters for which a usual weight decay hardly changes the losses, and gradients that add up do."""
    while True:
        state = model_state(rng, SIZES)
        right = {lr: oracle_losses(state, lr) for lr in (0.02, 0.002)}
        decayed = max(
            np.abs(oracle_losses(state, lr, decay=0.1) - one).max() / np.ptp(one) for lr, one in right.items()
        )
        added = np.abs(oracle_losses(state, 0.02, forgets=False) - right[0.02]).max() / np.ptp(right[0.02])
        if decayed < 0.02 and added > 0.1:
            return state, right


PIECE = torch.tensor([0, 3, 1, 4, 1, 5, 2])
EIGHT = torch.tensor([0, 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1] * 4)


@worth(2, "the losses of a short run agree with an independent computation", target=TRAIN)
def test_losses_agree_with_the_oracle(student, rng):
    state, expected = telling_state(rng)
    for lr, losses in expected.items():
        found = floats(student.train(model_of(student, state), PIECE, 5, 3, lr, generator(1)), 5)
        assert_close(found[:1], losses[:1], SINGLE, of="the first loss, which is that of the model that train got")
        assert_close(found, losses, Tolerance(0, 0.05 * float(np.ptp(losses))), of=f"losses with lr={lr}")


@worth(1.5, "there is one float for each step, each taken before its update", target=TRAIN)
def test_losses(student, rng):
    state = without(model_state(rng, SIZES), "head.weight")
    same = torch.full((12,), 3)  # then the first step makes every later batch more likely
    losses = floats(student.train(model_of(student, state), same, 4, 3, 0.01, generator(2)), 4)
    assert_close(losses[0], math.log(7), Tolerance(1e-5, 1e-5), of="the first loss, with a head of zeros")
    assert losses[1] < losses[0] - 1e-3, "the second loss is not smaller"
    still = floats(student.train(model_of(student, model_state(rng, SIZES)), PIECE, 4, 2, 0.0, generator(2)), 4)
    assert_close(still, np.full(4, still[0]), Tolerance(1e-5, 1e-6), of="losses with a learning rate of 0")


@worth(2.5, "it overfits one batch: after 40 steps on the same piece, the model knows it", target=TRAIN)
def test_training_overfits_one_batch(student):
    # The same parameters under every salt: what a wrong model learns in 40 steps would depend on it.
    model = model_of(student, model_state(np.random.default_rng(12), SIZES))
    losses = floats(student.train(model, PIECE, 40, 3, 0.05, generator(3)), 40)
    assert losses[-1] < 0.1, f"the last loss is {losses[-1]:.3f}"
    logits = tensor_of(model(PIECE[None, :-1]), (1, 6, 7), "the logits")
    assert torch.equal(logits.argmax(dim=-1), PIECE[None, 1:]), "the model does not predict the piece that it learnt"


@worth(1.5, "a run is repeated exactly under its seed; every step draws a new batch from all of the data", target=TRAIN)
def test_training_is_seeded(student, rng):
    state, runs = model_state(rng, SIZES), []
    data = torch.from_numpy(rng.integers(0, 7, size=300))
    for seed, own, lr in ((1, 7, 0.01), (2, 7, 0.01), (2, 8, 0.0)):
        student.seed(seed)
        runs.append(floats(student.train(model_of(student, state), data, 6, 2, lr, generator(own)), 6))
    assert_close(runs[1], runs[0], of="the losses with the same seed")
    assert abs(runs[2][0] - runs[0][0]) > 1e-4, "the first loss does not depend on the generator"
    assert np.abs(np.diff(runs[2])).max() > 1e-3, "all steps have the same batch"
    # Only the last pieces have another token than 0, and 160 of them miss those once in two hundred million times
    ends = torch.tensor([0] * 46 + [3] * 4)
    found = floats(student.train(model_of(student, state), ends, 20, 8, 0.0, generator(9)), 20)
    assert float(np.ptp(found)) > 1e-3, "the end of the data is never seen"


@worth(1, "the model is in train mode meanwhile", target=TRAIN)
def test_training_in_train_mode(student, rng):
    # This model has logits of 0 in train mode: its last norm is a dropout of everything.
    model = model_of(student, model_state(rng, SIZES), training=False, parts=OFF)
    losses = floats(student.train(model, EIGHT, 2, 2, 0.01, generator(4)), 2)
    assert_close(losses[:1], np.array([math.log(7)]), Tolerance(1e-4, 1e-4), of="the loss with logits of 0")


@worth(1, "it changes the parameters of the model that it got, all of them", target=TRAIN)
def test_training_changes_the_model(student, rng):
    state = model_state(rng, SIZES)
    model = model_of(student, state)
    floats(student.train(model, PIECE, 1, 3, 0.01, generator(5)), 1)
    after = model.parameters()
    for name, before in state.items():
        assert name in after, f"the parameter {name} is gone"
        moved = (tensor_of(after[name], before.shape, name) - before).abs()
        assert float(moved.max()) > 0.004 or "k_proj.bias" in name, f"{name} does not learn"
        assert float(moved.max()) < 0.03, f"{name} moves farther than one step of Adam"  # with any weight decay


@remembered
def best_pairs(data):
    """Return the loss of the best model of pairs on this text: no model that sees one token can be better."""
    counts = np.zeros((int(data.max()) + 1, int(data.max()) + 1))
    np.add.at(counts, (data[:-1].numpy(), data[1:].numpy()), 1)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return float(-(counts * np.log(np.where(shares > 0, shares, 1))).sum() / counts.sum())


@worth(
    2.5,
    "a training run on the text of the lesson ends below the best model of pairs",
    target=TRAIN,
    needs="training_overfits_one_batch",
    slow=True,
    cpu_s=60,
)
def test_training_beats_pairs(student, reference):
    letters = sorted(set(reference.TEXT))
    data = torch.tensor([letters.index(one) for one in reference.TEXT])
    student.seed(0)
    model = student.GPT.made(len(letters), 16, 32, 1, 2, 64, training=True)
    floats(student.train(model, data, 160, 16, 0.01, generator(11)), 160)
    # The loss of the trained model on the complete text, in pieces of 16
    pieces = data[: 1 + 16 * ((len(data) - 1) // 16)]
    inputs, targets = pieces[:-1].reshape(-1, 16), pieces[1:].reshape(-1, 16)
    logits = tensor_of(model(inputs), (*inputs.shape, len(letters)), "the logits")
    found = float(functional.cross_entropy(logits.flatten(0, 1), targets.flatten()))
    pairs = best_pairs(data)
    assert found < pairs - 0.2, f"the loss is {found:.3f} in the end, and that of pairs {pairs:.3f}"


# reflect ------------------------------------------------------------------------------------------------


@worth(1, "the loss of 65 equally likely tokens is right", target="reflect")
def test_reflect_loss(student):
    assert_close(student.REFLECT_INITIAL_LOSS_V65, math.log(65), Tolerance(0.0, 0.001))


@worth(1, "the number of parameters of the model is right", target="reflect")
def test_reflect_parameters(student):
    assert_close(student.REFLECT_PARAMETERS, 683392)
