"""Hidden suite of 06_multi_head_attention. Oracles: nn.MultiheadAttention with the same parameters, and einsum."""

import numpy as np
import torch
from torch import nn

from grader import testing
from grader.testing import (
    Tolerance,
    arguments,
    array_like,
    assert_close,
    assert_dtype,
    assert_raises,
    assert_rows_sum_to_one,
    assert_unmodified,
    half_dtypes,
    remembered,
    worth,
)

SPLIT, MERGE, CLASS = "split_heads", "merge_heads", "MultiHeadAttention"
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")
PARTS = ("query", "key", "value")
# Float32, whatever the order in which a student adds up: products of a dozen numbers keep five digits.
SINGLE = Tolerance(1e-4, 2e-5)
STEEP = Tolerance(2e-3, 2e-4)  # gradients add up over the batch, and logarithms lose digits
HALF = Tolerance(0.1, 0.06)
PRINTED = Tolerance(0.0, 6e-5)  # published with four decimals
DOUBLE = Tolerance(1e-6, 1e-7)  # the scale may have been kept in float32

SENTENCE = (
    torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]),
    torch.tensor([[0.0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]]),
    torch.tensor([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]]),
)
# Batch, queries, keys, features, heads: all different, many the same, and the smallest
SIZES = [(2, 3, 5, 8, 2), (3, 4, 2, 6, 3), (2, 2, 2, 4, 2), (4, 4, 4, 16, 4)]
MORE_SIZES = [*SIZES, (1, 5, 5, 4, 4), (2, 1, 3, 6, 1), (1, 1, 1, 1, 1), (3, 2, 4, 9, 3)]


def single(array):
    """Return an array as a tensor of float32."""
    return torch.from_numpy(np.ascontiguousarray(array)).to(torch.float32)


def normal(rng, *shape, scale=1.0):
    return single(rng.normal(scale=scale, size=shape))


@remembered
def random_state(rng, embed_dim, scale=1.0):
    """Parameters under which weights are neither even nor all on one key, and every bias has a say."""
    state = {}
    for name in PROJECTIONS:
        state[f"{name}.weight"] = normal(rng, embed_dim, embed_dim, scale=scale * embed_dim**-0.5)
        state[f"{name}.bias"] = normal(rng, embed_dim, scale=0.5)
    return state


def plain_state(embed_dim):
    """Projections that pass on what they are given."""
    state = {}
    for name in PROJECTIONS:
        state[f"{name}.weight"], state[f"{name}.bias"] = torch.eye(embed_dim), torch.zeros(embed_dim)
    return state


def tokens(rng, batch, n_q, n_k, embed_dim):
    return tuple(normal(rng, batch, n, embed_dim) for n in (n_q, n_k, n_k))


def open_mask(rng, *shape):
    """Zeros and ones, with at least one key left in every row and one blocked where there are two."""
    mask = rng.integers(0, 2, size=shape)
    mask[..., -1], mask[..., 0] = 0, 1
    return torch.from_numpy(rng.permuted(mask, axis=-1))


def derangement(rng, n):
    """An order of n things in which none is where it was."""
    order = rng.permutation(n)
    place = np.empty(n, dtype=int)
    place[order] = np.roll(order, 1)
    return torch.from_numpy(place)


def oracle_split(x, num_heads):
    return np.stack(np.split(x.numpy(), num_heads, axis=-1), axis=1)


def oracle_merge(x):
    return np.concatenate(list(np.moveaxis(x.numpy(), 1, 0)), axis=-1)


@remembered
def oracle_attention(state, num_heads, query, key, value, mask=None):
    """Output and weights in float64, by einsum over heads and a softmax by logaddexp."""
    made = []
    for name, x in zip(PROJECTIONS, (query, key, value), strict=False):
        weight, bias = (state[f"{name}.{part}"].double().numpy() for part in ("weight", "bias"))
        weight, bias = weight.reshape(num_heads, -1, len(bias)), bias.reshape(num_heads, 1, -1)
        made.append(np.einsum("bne,hde->bhnd", x.double().numpy(), weight) + bias)
    scores = np.einsum("bhid,bhjd->bhij", made[0], made[1]) * float(made[0].shape[-1]) ** -0.5
    if mask is not None:
        allowed = np.asarray(mask) != 0
        allowed = allowed[:, None] if allowed.ndim == 3 else allowed
        scores = np.where(allowed, scores, -np.inf)
    norms = np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isneginf(norms), 0.0, norms))
    mixed = np.einsum("bhij,bhjd->bihd", weights, made[2]).reshape(query.shape)
    output = mixed @ state["out_proj.weight"].double().numpy().T + state["out_proj.bias"].double().numpy()
    return single(output), single(weights)


def oracle_builtin(state, embed_dim, num_heads):
    """PyTorch's own layer with the same parameters."""
    layer = nn.MultiheadAttention(embed_dim, num_heads, batch_first=True)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.cat([state[f"{name}.weight"] for name in PROJECTIONS[:3]]))
        layer.in_proj_bias.copy_(torch.cat([state[f"{name}.bias"] for name in PROJECTIONS[:3]]))
        layer.out_proj.weight.copy_(state["out_proj.weight"])
        layer.out_proj.bias.copy_(state["out_proj.bias"])
    return layer


def oracle_run(layer, query, key, value, mask=None):
    """Output and weights of a layer of PyTorch's; its True means blocked, and it wants a mask for each head."""
    blocked = None
    if mask is not None:
        blocked = mask == 0
        if blocked.dim() > 2:
            blocked = blocked.unsqueeze(1) if blocked.dim() == 3 else blocked
            blocked = blocked.expand(len(query), layer.num_heads, query.shape[1], key.shape[1]).flatten(0, 1)
    return layer(query, key, value, attn_mask=blocked, average_attn_weights=False)


@remembered
def oracle_pair(state, num_heads, query, key, value, mask=None):
    """Output and weights of PyTorch's layer with these parameters."""
    results = oracle_run(oracle_builtin(state, query.shape[-1], num_heads), query, key, value, mask)
    return tuple(result.detach() for result in results)


@remembered
def oracle_gradients(state, embed_dim, num_heads, inputs, cotangent, mask=None):
    """The gradients of PyTorch's layer: those of the inputs, and those of the parameters by our names."""
    layer = oracle_builtin(state, embed_dim, num_heads)
    leaves = [x.clone().requires_grad_(True) for x in inputs]
    query, key, value = (*leaves, *leaves[-1:] * (3 - len(leaves)))
    results = oracle_run(layer, query, key, value, mask)
    pairs = [(out, cot) for out, cot in zip(results, cotangent, strict=True) if cot is not None]
    torch.autograd.backward([out for out, _ in pairs], [cot for _, cot in pairs])
    parameters = {"out_proj.weight": layer.out_proj.weight.grad, "out_proj.bias": layer.out_proj.bias.grad}
    for name, weight, bias in zip(
        PROJECTIONS, layer.in_proj_weight.grad.chunk(3), layer.in_proj_bias.grad.chunk(3), strict=False
    ):
        parameters |= {f"{name}.weight": weight, f"{name}.bias": bias}
    return [leaf.grad for leaf in leaves], parameters


def tensor_of(value, shape, of):
    """Return the student's result as a finite tensor of this shape and of float32, or fail."""
    assert type(value) is torch.Tensor, f"{of} should be a tensor"
    return single(array_like(value, tuple(shape), of=of))


def layer_of(student, embed_dim, num_heads, state):
    """Return the student's layer with these parameters, or fail."""
    made = student.MultiHeadAttention(embed_dim, num_heads)
    assert hasattr(made, "callmany"), f"MultiHeadAttention({embed_dim}, {num_heads}) should be an nn.Module"
    made.load_state_dict(state)
    return made


def attended(value, num_heads, query, key=None, of="the call"):
    """Return the student's output and weights as finite tensors of the right shapes, or fail."""
    assert type(value) is tuple, f"{of}: expected the pair (output, weights)"
    assert len(value) == 2, f"{of}: expected the pair (output, weights), got {len(value)} things"
    batch, n_q, _ = query.shape
    n_k = n_q if key is None else key.shape[1]
    output = tensor_of(value[0], query.shape, f"{of}: the output")
    return output, tensor_of(value[1], (batch, num_heads, n_q, n_k), f"{of}: the weights")


def attend(layer, num_heads, *cases):
    """Call the layer on every case, made by `arguments`, in one round trip; return the checked pairs."""
    pairs = []
    for i, (case, value) in enumerate(zip(cases, layer.callmany(list(cases)), strict=True)):
        key = case.args[1] if len(case.args) > 1 else case.kwargs.get("key")
        query = case.args[0] if case.args else case.kwargs["query"]
        pairs.append(attended(value, num_heads, query, key, of=f"call {i + 1}"))
    return pairs


def assert_attends(pair, expected, tolerance=SINGLE, of=""):
    assert_close(pair[1], expected[1], tolerance, of=f"{of} weights".strip())
    assert_close(pair[0], expected[0], tolerance, of=f"{of} output".strip())


def heads_of(student, *cases):
    """Split every case, (x, num_heads), in one round trip; return the checked results."""
    results = []
    for (x, heads), value in zip(cases, student.split_heads.callmany([arguments(*one) for one in cases]), strict=True):
        batch, length, width = x.shape
        shape = (batch, heads, length, width // heads)
        results.append(tensor_of(value, shape, f"{heads} heads of {tuple(x.shape)}"))
    return results


def merged_of(student, *cases):
    """Merge every case in one round trip; return the checked results."""
    results = []
    for x, value in zip(cases, student.merge_heads.callmany([arguments(x) for x in cases]), strict=True):
        batch, heads, length, width = x.shape
        results.append(tensor_of(value, (batch, length, heads * width), f"merged {tuple(x.shape)}"))
    return results


# split_heads --------------------------------------------------------------------------------------------


@worth(1, "split_heads agrees with an independent way for many shapes", target=SPLIT)
def test_split_agrees_with_the_oracle(student, rng):
    cases = [(normal(rng, batch, n, width), heads) for batch, n, _, width, heads in MORE_SIZES]
    for (x, heads), value in zip(cases, heads_of(student, *cases), strict=True):
        assert_close(value, single(oracle_split(x, heads)), of=f"{heads} heads of {tuple(x.shape)}")


@worth(1, "entry [b, h, n, d] of the heads is entry [b, n, h * width + d] of the tokens", target=SPLIT)
def test_split_entry_by_entry(student):
    shapes = {(2, 3, 8): 2, (2, 4, 4): 4, (3, 3, 9): 3, (2, 6, 6): 3}
    cases = [(torch.arange(float(np.prod(shape))).reshape(shape), num_heads) for shape, num_heads in shapes.items()]
    for (x, num_heads), heads in zip(cases, heads_of(student, *cases), strict=True):
        found, width = heads.tolist(), x.shape[2] // num_heads
        for (b, n, e), wanted in np.ndenumerate(x.numpy()):
            h, d = divmod(e, width)
            place = f"[{b}, {h}, {n}, {d}] for {num_heads} heads of {tuple(x.shape)}"
            assert found[b][h][n][d] == wanted, f"entry {place} is {found[b][h][n][d]:g}, expected {wanted:g}"


@worth(1, "a feature goes to one head, and a token stays in its place", target=SPLIT)
def test_split_keeps_features_and_tokens_together(student):
    x = torch.zeros(2, 4, 6)
    x[1, 2, 4] = 7
    (heads,) = heads_of(student, (x, 3))
    assert_close(heads[:, :2], torch.zeros(2, 2, 4, 2), of="the heads that have nothing of it")
    assert_close(heads[1, 2], torch.tensor([[0.0, 0], [0, 0], [7, 0], [0, 0]]), of="the head of feature 4")
    assert_close(heads[0], torch.zeros(3, 4, 2), of="the other sentence")


@worth(1, "tokens and sentences are split as if they were alone", target=SPLIT)
def test_split_token_by_token(student, rng):
    x = normal(rng, 3, 4, 6)
    order, others = derangement(rng, 4), derangement(rng, 3)
    cases = [(x, 2), (x[:, order], 2), (x[others], 2), (x[1:2, 2:3], 2)]
    whole, by_token, by_sentence, alone = heads_of(student, *cases)
    assert_close(by_token, whole[:, :, order], of="tokens in another order")
    assert_close(by_sentence, whole[others], of="sentences in another order")
    assert_close(alone, whole[1:2, :, 2:3], of="one token alone")


@worth(1, "one head has all features, and as many heads as features have one each", target=SPLIT)
def test_split_into_one_and_into_all(student, rng):
    x = normal(rng, 2, 3, 4)
    one, wide = heads_of(student, (x, 1), (x, 4))
    assert_close(one[:, 0], x, of="one head")
    for h in range(4):
        assert_close(wide[:, h, :, 0], x[..., h], of=f"head {h} of four")


@worth(1, "a width that is no multiple of the heads is refused by name", target=SPLIT)
def test_split_refuses(student):
    for width, heads in ((6, 4), (5, 2), (3, 5)):
        assert_raises(ValueError, lambda w=width, h=heads: student.split_heads(torch.ones(2, 3, w), h), width, heads)


@worth(1, "gradients flow back through split_heads to where they belong", target=SPLIT)
def test_split_gradients(student, rng):
    x, cotangent = normal(rng, 2, 3, 6), normal(rng, 2, 3, 3, 2)
    found = student.split_heads.vjp(x, 3, cotangent=cotangent)
    expected = torch.cat([cotangent[:, h] for h in range(3)], dim=-1)
    testing.assert_gradients(found, [expected], ("x",))


@worth(0.5, "split_heads leaves the tokens as they were, and remembers nothing", target=SPLIT)
def test_split_leaves_its_input(student, rng):
    x, other = normal(rng, 2, 3, 4), normal(rng, 2, 3, 4)
    cases = [(x, 2), (other, 2), (x, 4), (x, 2)]
    calls = student.split_heads.calls([arguments(*case) for case in cases])
    for call, case in zip(calls, cases, strict=True):
        tensor_of(call.value, (2, case[1], 3, 4 // case[1]), "the heads")
        assert_unmodified(call, *case)
    assert_close(calls[3].value, calls[0].value.detach(), of="the same call again")
    assert_close(calls[1].value[0, 0, 0], other[0, 0, :2], of="of other tokens")


@worth(0.4, "split_heads keeps the dtype", target=SPLIT)
def test_split_dtype(student):
    kinds = (torch.float32, torch.float64, *half_dtypes())
    x = torch.tensor([[[1.0, 2, 3, 4], [5, 6, 7, 8]]])
    fine = 1 + 2.0**-40 * torch.arange(4, dtype=torch.float64).reshape(1, 1, 4)  # in float32 these are all 1
    calls = [*(arguments(x.to(kind), 2) for kind in kinds), arguments(fine, 2)]
    *values, value = student.split_heads.callmany(calls)
    for kind, one in zip(kinds, values, strict=True):
        tensor_of(one, (1, 2, 2, 2), f"heads of {kind}")
        assert_dtype(one, kind)
    assert_close(value, fine.reshape(1, 2, 1, 2), Tolerance(0.0, 0.0), of="small differences in float64")


# merge_heads --------------------------------------------------------------------------------------------


@worth(1, "merge_heads agrees with an independent way for many shapes", target=MERGE)
def test_merge_agrees_with_the_oracle(student, rng):
    cases = [normal(rng, batch, heads, n, width // heads) for batch, n, _, width, heads in MORE_SIZES]
    for x, value in zip(cases, merged_of(student, *cases), strict=True):
        assert_close(value, single(oracle_merge(x)), of=f"heads {tuple(x.shape)}")


@worth(1, "entry [b, n, h * width + d] of the tokens is entry [b, h, n, d] of the heads", target=MERGE)
def test_merge_entry_by_entry(student):
    shapes = [(2, 2, 3, 4), (2, 4, 4, 1), (3, 3, 3, 3), (2, 3, 6, 2)]
    cases = [torch.arange(float(np.prod(shape))).reshape(shape) for shape in shapes]
    for x, merged in zip(cases, merged_of(student, *cases), strict=True):
        found, width = merged.tolist(), x.shape[3]
        for (b, h, n, d), wanted in np.ndenumerate(x.numpy()):
            number = found[b][n][h * width + d]
            place = f"[{b}, {n}, {h * width + d}] for heads {tuple(x.shape)}"
            assert number == wanted, f"entry {place} is {number:g}, expected {wanted:g}"


@worth(1, "merging puts together what was cut apart", target=MERGE)
def test_merge_undoes_a_split(student, rng):
    x = normal(rng, 2, 3, 12)
    cases = [torch.stack(x.split(width, dim=-1), dim=1) for width in (12, 6, 4, 3, 2, 1)]
    for cut, merged in zip(cases, merged_of(student, *cases), strict=True):
        assert_close(merged, x, of=f"{cut.shape[1]} heads")


@worth(1, "each head has its place in every token", target=MERGE)
def test_merge_keeps_features_and_tokens_together(student):
    x = torch.zeros(2, 3, 4, 2)
    x[1, 2, 3, 0] = 7
    (merged,) = merged_of(student, x)
    assert_close(merged[1, 3], torch.tensor([0.0, 0, 0, 0, 7, 0]), of="the token")
    assert_close(merged[1, :3], torch.zeros(3, 6), of="the other tokens")
    assert_close(merged[0], torch.zeros(4, 6), of="the other sentence")


@worth(0.75, "tokens and sentences are merged as if they were alone", target=MERGE)
def test_merge_token_by_token(student, rng):
    x = normal(rng, 3, 2, 4, 3)
    order, others = derangement(rng, 4), derangement(rng, 3)
    cases = [x, x[:, :, order], x[others], x[1:2, :, 2:3], x.flip(1)]
    whole, by_token, by_sentence, alone, turned = merged_of(student, *cases)
    assert_close(by_token, whole[:, order], of="tokens in another order")
    assert_close(by_sentence, whole[others], of="sentences in another order")
    assert_close(alone, whole[1:2, 2:3], of="one token alone")
    assert_close(turned, torch.cat([whole[..., 3:], whole[..., :3]], dim=-1), of="the two heads exchanged")


@worth(1, "gradients flow back through merge_heads to where they belong", target=MERGE)
def test_merge_gradients(student, rng):
    x, cotangent = normal(rng, 2, 3, 4, 2), normal(rng, 2, 4, 6)
    found = student.merge_heads.vjp(x, cotangent=cotangent)
    expected = torch.stack([cotangent[..., 2 * h : 2 * h + 2] for h in range(3)], dim=1)
    testing.assert_gradients(found, [expected], ("x",))


@worth(0.5, "merge_heads leaves the heads as they were, and remembers nothing", target=MERGE)
def test_merge_leaves_its_input(student, rng):
    cases = [normal(rng, 2, 2, 3, 2), normal(rng, 2, 2, 3, 2), normal(rng, 1, 4, 2, 3)]
    calls = student.merge_heads.calls([arguments(x) for x in (*cases, cases[0])])
    for call, x in zip(calls, (*cases, cases[0]), strict=True):
        tensor_of(call.value, (x.shape[0], x.shape[2], x.shape[1] * x.shape[3]), "the tokens")
        assert_unmodified(call, x)
    assert_close(calls[3].value, calls[0].value.detach(), of="the same call again")
    assert_close(calls[1].value[0, 0, :2], cases[1][0, 0, 0], of="of other heads")


@worth(0.35, "merge_heads keeps the dtype", target=MERGE)
def test_merge_dtype(student):
    kinds = (torch.float32, torch.float64, *half_dtypes())
    x = torch.tensor([[[[1.0, 2], [5, 6]], [[3, 4], [7, 8]]]])
    fine = 1 + 2.0**-40 * torch.arange(4, dtype=torch.float64).reshape(1, 2, 1, 2)  # in float32 these are all 1
    *values, value = student.merge_heads.callmany([*(arguments(x.to(kind)) for kind in kinds), arguments(fine)])
    for kind, one in zip(kinds, values, strict=True):
        tensor_of(one, (1, 2, 4), f"heads of {kind}")
        assert_dtype(one, kind)
    assert_close(value, fine.reshape(1, 1, 4), Tolerance(0.0, 0.0), of="small differences in float64")


# MultiHeadAttention: its parameters, and the whole of it ------------------------------------------------


@worth(1, "the parameters are the weights and biases of the four projections, and no others", target=CLASS)
def test_parameters(student):
    for embed_dim, num_heads in ((8, 2), (3, 3)):
        layer = student.MultiHeadAttention(embed_dim, num_heads)
        assert hasattr(layer, "callmany"), f"MultiHeadAttention({embed_dim}, {num_heads}) should be an nn.Module"
        found = layer.parameters()
        wanted = {f"{name}.{part}" for name in PROJECTIONS for part in ("weight", "bias")}
        missing, others = sorted(wanted - found.keys()), sorted(map(str, found.keys() - wanted))
        assert not missing, f"there is no parameter {', '.join(missing)}"
        assert not others, f"there are parameters that nobody asked for: {', '.join(others)}"
        for name in sorted(wanted):
            shape = (embed_dim, embed_dim) if name.endswith("weight") else (embed_dim,)
            tensor_of(found[name], shape, name)


@worth(1.5, "self-attention agrees with PyTorch's own layer of the same parameters", target=CLASS)
def test_self_attention_agrees_with_the_oracle(student, rng):
    for batch, n, _, width, heads in SIZES + MORE_SIZES[-2:]:
        state, query = random_state(rng, width, 1.5), normal(rng, batch, n, width)
        (pair,) = attend(layer_of(student, width, heads, state), heads, arguments(query))
        expected = oracle_pair(state, heads, query, query, query)
        assert_attends(pair, expected, of=f"{heads} heads of {tuple(query.shape)}:")


@worth(1.5, "cross-attention agrees with PyTorch's own layer of the same parameters", target=CLASS)
def test_cross_attention_agrees_with_the_oracle(student, rng):
    for batch, n_q, n_k, width, heads in SIZES:
        state, (query, key, value) = random_state(rng, width, 1.5), tokens(rng, batch, n_q, n_k, width)
        layer = layer_of(student, width, heads, state)
        pairs = attend(layer, heads, arguments(query, key), arguments(query, key, value))
        for pair, mixed in zip(pairs, (key, value), strict=True):
            expected = oracle_pair(state, heads, query, key, mixed)
            assert_attends(pair, expected, of=f"{heads} heads, {n_q} queries, {n_k} keys:")


@worth(1.5, "with masks of two, three and four dimensions it agrees with PyTorch's own layer", target=CLASS)
def test_masked_attention_agrees_with_the_oracle(student, rng):
    for batch, n_q, n_k, width, heads in ((2, 3, 4, 8, 2), (3, 4, 4, 6, 3), (3, 2, 3, 4, 2)):
        state, (query, key, value) = random_state(rng, width, 1.5), tokens(rng, batch, n_q, n_k, width)
        shapes = [(n_q, n_k), (batch, n_q, n_k), (batch, 1, 1, n_k), (batch, heads, n_q, n_k), (1, heads, 1, n_k)]
        masks = [open_mask(rng, *shape) for shape in shapes]
        layer = layer_of(student, width, heads, state)
        pairs = attend(layer, heads, *(arguments(query, key, value, mask) for mask in masks))
        for pair, mask in zip(pairs, masks, strict=True):
            expected = oracle_pair(state, heads, query, key, value, mask)
            assert_attends(pair, expected, of=f"{heads} heads, a mask {tuple(mask.shape)}:")


@worth(1, "with rows that are blocked here and there it agrees with an independent formula", target=CLASS)
def test_attention_agrees_with_an_oracle_of_blocked_rows(student, rng):
    state, (query, key, value) = random_state(rng, 6), tokens(rng, 2, 4, 3, 6)
    masks = [open_mask(rng, *shape) for shape in ((4, 3), (2, 4, 3), (2, 3, 4, 3))]
    masks[0][1], masks[1][0, 2], masks[2][1, 0, 0] = 0, 0, 0
    layer = layer_of(student, 6, 3, state)
    pairs = attend(layer, 3, *(arguments(query, key, value, mask) for mask in masks))
    for pair, mask in zip(pairs, masks, strict=True):
        expected = oracle_attention(state, 3, query, key, value, mask)
        assert_attends(pair, expected, of=f"a mask {tuple(mask.shape)}:")


@worth(1, "with two heads and identity projections The has the output of the lesson", target=CLASS)
def test_shared_example(student):
    layer = layer_of(student, 4, 2, plain_state(4))
    query, key, value = (x[None] for x in SENTENCE)
    ((output, weights),) = attend(layer, 2, arguments(query, key, value))
    assert_close(weights[0, 0, 0], torch.tensor([0.1237, 0.2509, 0.2509, 0.1237, 0.2509]), PRINTED, of="head 0, The")
    assert_close(weights[0, 1, 0], torch.tensor([0.1337, 0.2711, 0.1337, 0.2711, 0.1904]), PRINTED, of="head 1, The")
    assert_close(output[0, 0], torch.tensor([0.2491, 0.3763, 0.2289, 0.3663]), PRINTED, of="output of The")
    layer = layer_of(student, 4, 1, plain_state(4))
    ((output, weights),) = attend(layer, 1, arguments(query, key, value))
    assert_close(weights[0, 0, 0], torch.tensor([0.1095, 0.2976, 0.1805, 0.1805, 0.2318]), PRINTED, of="one head, The")
    assert_close(output[0, 0], torch.tensor([0.2254, 0.4135, 0.2964, 0.2964]), PRINTED, of="one head, output of The")


# Heads --------------------------------------------------------------------------------------------------


@worth(1, "in every head the weights of every query sum to 1, over the keys", target=CLASS)
def test_weights_are_shares(student, rng):
    for batch, n_q, n_k, width, heads in SIZES[:3]:
        state, (query, key, _) = random_state(rng, width), tokens(rng, batch, n_q, n_k, width)
        mask = open_mask(rng, batch, n_q, n_k)
        layer = layer_of(student, width, heads, state)
        for _, weights in attend(layer, heads, arguments(query, key), arguments(query, key, mask=mask)):
            assert_rows_sum_to_one(weights, tuple(weights.shape), dtype=np.float32)


@worth(1.5, "scores are divided by the root of a head's width", target=CLASS)
def test_scale_is_the_root_of_the_width(student, rng):
    for width, heads in ((6, 2), (8, 2), (9, 1), (3, 3)):
        query, key = normal(rng, 1, 2, width), normal(rng, 1, 3, width)
        layer = layer_of(student, width, heads, plain_state(width))
        ((_, weights),) = attend(layer, heads, arguments(query, key))
        assert bool((weights > 1e-6).all()), "a key that is not blocked has no weight"
        slices = [slice(h * width // heads, (h + 1) * width // heads) for h in range(heads)]
        raw = torch.stack([query[..., s] @ key[..., s].mT for s in slices], dim=1)
        odds = torch.log(weights) - torch.log(weights[..., :1])
        wanted = (raw - raw[..., :1]) * (width / heads) ** -0.5
        assert_close(odds, wanted, STEEP, of=f"{heads} heads of width {width // heads}: logarithms of the odds")


@worth(1.5, "with projections in blocks every head is a layer of its own", target=CLASS)
def test_heads_are_layers_of_their_own(student, rng):
    query, key, value = tokens(rng, 2, 3, 4, 6)
    mask = open_mask(rng, 2, 3, 4)
    small = [random_state(rng, 2) for _ in range(3)]
    alone = student.MultiHeadAttention(2, 1)
    assert hasattr(alone, "callmany"), "MultiHeadAttention(2, 1) should be an nn.Module"
    state = {
        name: torch.block_diag(*(one[name] for one in small))
        if "weight" in name
        else torch.cat([o[name] for o in small])
        for name in small[0]
    }
    ((output, weights),) = attend(layer_of(student, 6, 3, state), 3, arguments(query, key, value, mask))
    for h, one in enumerate(small):
        cut = [x[..., 2 * h : 2 * h + 2] for x in (query, key, value)]
        alone.load_state_dict(one)
        ((part, shares),) = attend(alone, 1, arguments(*cut, mask))
        assert_close(weights[:, h], shares[:, 0], SINGLE, of=f"weights of head {h} against itself alone")
        assert_close(output[..., 2 * h : 2 * h + 2], part, SINGLE, of=f"output of head {h} against itself alone")


@worth(1, "another projection in one head changes that head alone", target=CLASS)
def test_heads_do_not_know_of_each_other(student, rng):
    state, (query, key, value) = random_state(rng, 6), tokens(rng, 2, 3, 4, 6)
    state["out_proj.weight"] = torch.eye(6)
    layer = layer_of(student, 6, 3, state)
    ((output, weights),) = attend(layer, 3, arguments(query, key, value))
    for name, h in (("q_proj", 1), ("k_proj", 2), ("v_proj", 0)):
        rows = slice(2 * h, 2 * h + 2)
        others = [i for i in range(3) if i != h]
        changed = {key: one.clone() for key, one in state.items()}
        changed[f"{name}.weight"][rows] = normal(rng, 2, 6)
        changed[f"{name}.bias"][rows] += 1
        layer.load_state_dict(changed)
        ((mixed, shares),) = attend(layer, 3, arguments(query, key, value))
        assert_close(shares[:, others], weights[:, others], SINGLE, of=f"weights of the others, {name} of head {h}")
        kept = [i for i in range(6) if i // 2 != h]
        assert_close(mixed[..., kept], output[..., kept], SINGLE, of=f"output of the others, {name} of head {h}")
        moved = float((mixed[..., rows] - output[..., rows]).abs().max())
        assert moved > 1e-3, f"another {name} in head {h} changes nothing in that head"
        if name == "v_proj":
            assert_close(shares, weights, SINGLE, of="weights, with another v_proj")
        else:
            turned = float((shares[:, h] - weights[:, h]).abs().max())
            assert turned > 1e-3, f"another {name} in head {h} does not change its weights"


@worth(1, "heads in another order make the same output", target=CLASS)
def test_order_of_the_heads(student, rng):
    state, (query, key, value) = random_state(rng, 6), tokens(rng, 2, 3, 4, 6)
    order = torch.tensor([2, 0, 1])
    places = torch.arange(6).reshape(3, 2)[order].flatten()
    turned = {name: one[places] for name, one in state.items() if not name.startswith("out_proj")}
    turned |= {"out_proj.weight": state["out_proj.weight"][:, places], "out_proj.bias": state["out_proj.bias"]}
    layer = layer_of(student, 6, 3, state)
    ((output, weights),) = attend(layer, 3, arguments(query, key, value))
    layer.load_state_dict(turned)
    ((again, shares),) = attend(layer, 3, arguments(query, key, value))
    assert_close(shares, weights[:, order], SINGLE, of="weights")
    assert_close(again, output, SINGLE, of="output")
    spread = float((weights[:, 0] - weights[:, 1]).abs().max())
    assert spread > 1e-3, "all heads have the same weights"


@worth(1, "heads of width 1 look at one feature each", target=CLASS)
def test_heads_of_width_one(student, rng):
    query, key, value = tokens(rng, 2, 3, 4, 3)
    layer = layer_of(student, 3, 3, plain_state(3))
    ((output, weights),) = attend(layer, 3, arguments(query, key, value))
    for h in range(3):
        exps = torch.exp(query[..., h, None] * key[..., None, :, h])
        shares = exps / exps.sum(dim=-1, keepdim=True)
        assert_close(weights[:, h], shares, SINGLE, of=f"weights of feature {h}")
        assert_close(output[..., h], (shares * value[:, None, :, h]).sum(dim=-1), SINGLE, of=f"output of feature {h}")


# Projections --------------------------------------------------------------------------------------------


@worth(1, "the output is out_proj of the merged heads: its weight in proportion, its bias once", target=CLASS)
def test_output_projection(student, rng):
    state, query = random_state(rng, 6), normal(rng, 2, 3, 6)
    mixer, bias = normal(rng, 6, 6), normal(rng, 6)
    outputs, layer = [], layer_of(student, 6, 3, state)
    for weight, added in ((torch.eye(6), torch.zeros(6)), (mixer, bias), (torch.zeros(6, 6), bias)):
        layer.load_state_dict(state | {"out_proj.weight": weight, "out_proj.bias": added})
        outputs.append(attend(layer, 3, arguments(query))[0][0])
    merged, mixed, alone = outputs
    assert_close(mixed, merged @ mixer.T + bias, SINGLE, of="the output for another out_proj")
    assert_close(alone, bias.expand(2, 3, 6), SINGLE, of="the output for an out_proj whose weight is 0")


@worth(1, "where all values are the same, the output is that value, projected twice", target=CLASS)
def test_constant_values(student, rng):
    state, (query, key, _) = random_state(rng, 8), tokens(rng, 2, 3, 5, 8)
    value = normal(rng, 1, 1, 8)
    layer = layer_of(student, 8, 2, state)
    ((output, _),) = attend(layer, 2, arguments(query, key, value.expand(2, 5, 8).clone()))
    once = value @ state["v_proj.weight"].T + state["v_proj.bias"]
    wanted = once @ state["out_proj.weight"].T + state["out_proj.bias"]
    assert_close(output, wanted.expand(2, 3, 8), SINGLE)


@worth(1, "each of query, key and value goes through its own projection", target=CLASS)
def test_each_projection_has_its_input(student, rng):
    query, key, value = tokens(rng, 2, 3, 4, 4)
    inside, before = {}, []
    layer = student.MultiHeadAttention(4, 2)
    assert hasattr(layer, "callmany"), "MultiHeadAttention(4, 2) should be an nn.Module"
    for place, name in enumerate(PROJECTIONS[:3]):
        weight, bias = normal(rng, 4, 4), normal(rng, 4)
        layer.load_state_dict(plain_state(4) | {f"{name}.weight": weight, f"{name}.bias": bias})
        inputs = [query, key, value]
        (inside[name],) = attend(layer, 2, arguments(*inputs))
        inputs[place] = inputs[place] @ weight.T + bias
        before.append(arguments(*inputs))
    layer.load_state_dict(plain_state(4))
    for (name, pair), outside in zip(inside.items(), attend(layer, 2, *before), strict=True):
        assert_attends(pair, outside, of=f"{name} against its input projected before:")


# Self and cross -----------------------------------------------------------------------------------------


@worth(1, "the query stands for key and value, and a key alone for the value", target=CLASS)
def test_defaults(student, rng):
    state, (query, key, value) = random_state(rng, 6), tokens(rng, 2, 4, 4, 6)
    layer = layer_of(student, 6, 2, state)
    calls = [arguments(query), arguments(query, query, query), arguments(query, key), arguments(query, key, key)]
    calls += [arguments(query, key, value), arguments(query=query, key=key, value=value), arguments(query, key=key)]
    alone, thrice, two, key_twice, three, named, by_name = attend(layer, 2, *calls)
    assert_attends(alone, thrice, of="the query alone against query, query, query:")
    assert_attends(two, key_twice, of="query and key against query, key, key:")
    assert_attends(by_name, two, of="a key given by name:")
    assert_attends(named, three, of="all given by name:")
    assert_close(three[1], two[1], SINGLE, of="weights, which a value has no say in")
    for other, pair in (("a value", three), ("a key", alone)):
        assert float((pair[0] - two[0]).abs().max()) > 1e-3, f"{other} of its own changes nothing"


@worth(1, "the output is linear in the values, and the weights do not know them", target=CLASS)
def test_linear_in_the_values(student, rng):
    state, (query, key, one) = random_state(rng, 6), tokens(rng, 2, 3, 4, 6)
    other = normal(rng, 2, 4, 6)
    layer = layer_of(student, 6, 3, state)
    calls = [arguments(query, key, x) for x in (one, other, 2 * one - other, torch.zeros_like(one))]
    first, second, both, nothing = attend(layer, 3, *calls)
    assert_close(both[0], 2 * first[0] - second[0], STEEP, of="output of a combination")
    assert float((first[0] - nothing[0]).abs().max()) > 1e-3, "the values have no say in the output"
    for pair in (second, both, nothing):
        assert_close(pair[1], first[1], SINGLE, of="weights")


@worth(1, "keys in another order, with their values, change nothing; queries take their outputs along", target=CLASS)
def test_order_of_tokens(student, rng):
    state, (query, key, value) = random_state(rng, 8), tokens(rng, 2, 3, 5, 8)
    rows, columns = derangement(rng, 3), derangement(rng, 5)
    layer = layer_of(student, 8, 2, state)
    calls = [arguments(query, key, value), arguments(query, key[:, columns], value[:, columns])]
    calls += [arguments(query[:, rows], key, value), arguments(query[:, 1:2], key, value)]
    plain, by_key, by_query, single_query = attend(layer, 2, *calls)
    assert_attends(by_key, (plain[0], plain[1][..., columns]), of="keys in another order:")
    assert_attends(by_query, (plain[0][:, rows], plain[1][:, :, rows]), of="queries in another order:")
    assert_attends(single_query, (plain[0][:, 1:2], plain[1][:, :, 1:2]), of="one query alone:")


@worth(1, "every sentence of a batch is attended to as if it were alone", target=CLASS)
def test_sentences_are_independent(student, rng):
    for batch, width, heads in ((3, 6, 3), (2, 4, 1)):
        state, (query, key, value) = random_state(rng, width), tokens(rng, batch, 3, 3, width)
        layer = layer_of(student, width, heads, state)
        alone = [arguments(query[b : b + 1], key[b : b + 1], value[b : b + 1]) for b in range(batch)]
        whole, *parts = attend(layer, heads, arguments(query, key, value), *alone)
        for b, part in enumerate(parts):
            assert_attends(part, (whole[0][b : b + 1], whole[1][b : b + 1]), of=f"sentence {b} alone:")


# Masks --------------------------------------------------------------------------------------------------


@worth(1.5, "blocked keys might as well not be there", target=CLASS)
def test_without_the_blocked_keys(student, rng):
    state, (query, key, value) = random_state(rng, 6), tokens(rng, 2, 3, 5, 6)
    layer, kept = layer_of(student, 6, 2, state), [0, 2, 3]
    row = torch.tensor([1, 0, 1, 1, 0])
    masks = [
        row.expand(3, 5).clone(),
        row.expand(2, 3, 5).clone(),
        row.reshape(1, 1, 1, 5),
        row.expand(2, 2, 3, 5).clone(),
    ]
    calls = [arguments(query, key, value, mask=mask) for mask in masks]
    short, *masked = attend(layer, 2, arguments(query, key[:, kept], value[:, kept]), *calls)
    for mask, (output, weights) in zip(masks, masked, strict=True):
        of = f"a mask {tuple(mask.shape)}:"
        assert_close(weights[..., [1, 4]], torch.zeros(2, 2, 3, 2), of=f"{of} weights of blocked keys")
        assert_attends((output, weights[..., kept]), short, of=of)


@worth(1, "a mask may be of bool, int or float", target=CLASS)
def test_mask_kinds(student, rng):
    state, query = random_state(rng, 6), normal(rng, 3, 3, 6)  # as many sentences as queries and keys
    mask = torch.tensor([[1, 0, 1], [1, 1, 0], [0, 0, 1]])
    layer = layer_of(student, 6, 2, state)
    kinds = (torch.bool, torch.int64, torch.float32, torch.uint8, torch.float64)
    masks = [mask.to(kind) for kind in kinds]
    masks += [mask.expand(3, 3, 3).float(), mask.expand(3, 3, 3).clone(), mask[None, None].bool()]
    calls = [arguments(query, mask=one) for one in (*masks, mask[None, None].float())]
    first, *others = attend(layer, 2, *calls)
    assert_close(first[1] * (1 - mask), torch.zeros(3, 2, 3, 3), of="weights of blocked keys")
    assert_rows_sum_to_one(first[1], (3, 2, 3, 3), dtype=np.float32)
    for call, pair in zip(calls[1:], others, strict=True):
        given = call.kwargs["mask"]
        assert_attends(pair, first, of=f"a mask {tuple(given.shape)} of {given.dtype}:")


@worth(1.5, "a mask of three dimensions belongs to its sentence, in all heads", target=CLASS)
def test_masks_of_sentences(student, rng):
    for batch, n_q, width, heads in ((2, 3, 4, 2), (3, 3, 6, 3), (3, 2, 4, 2)):
        state, (query, key, value) = random_state(rng, width), tokens(rng, batch, n_q, 3, width)
        mask = open_mask(rng, batch, n_q, 3)
        mask[0, :, 0], mask[0, :, 1], mask[1, :, 0], mask[1, :, 1] = 0, 1, 1, 0  # no two sentences alike
        layer = layer_of(student, width, heads, state)
        alone = [arguments(query[b : b + 1], key[b : b + 1], value[b : b + 1], mask[b]) for b in range(batch)]
        whole, *parts = attend(layer, heads, arguments(query, key, value, mask), *alone)
        seen = mask[:, None].expand(whole[1].shape)
        assert_close(whole[1] * (1 - seen), torch.zeros(whole[1].shape), of="weights of blocked keys")
        for b, part in enumerate(parts):
            of = f"{batch} sentences, {heads} heads, sentence {b} alone:"
            assert_attends(part, (whole[0][b : b + 1], whole[1][b : b + 1]), of=of)


@worth(1, "a mask of four dimensions may differ from head to head, and broadcasts", target=CLASS)
def test_masks_of_heads(student, rng):
    state, (query, key, value) = random_state(rng, 6), tokens(rng, 2, 3, 4, 6)
    layer = layer_of(student, 6, 3, state)
    full = open_mask(rng, 2, 3, 3, 4)
    by_head, by_key = open_mask(rng, 1, 3, 1, 4), open_mask(rng, 2, 1, 1, 4)
    by_head[0, 0, 0], by_head[0, 1, 0] = torch.tensor([1, 1, 0, 0]), torch.tensor([0, 0, 1, 1])
    by_query = torch.tensor([1, 0, 1]).reshape(1, 1, 3, 1)
    masks = [full, by_head, by_key, by_query]
    plain, *masked = attend(
        layer, 3, arguments(query, key, value), *(arguments(query, key, value, mask) for mask in masks)
    )
    for mask, (_, weights) in zip(masks, masked, strict=True):
        kept = plain[1] * mask
        total = kept.sum(dim=-1, keepdim=True)
        wanted = kept / torch.where(total == 0, 1, total)
        assert_close(weights, wanted, SINGLE, of=f"a mask {tuple(mask.shape)}: what is left, shared out again")


@worth(1.5, "a query with every key blocked has weights of 0 and the bias for output", target=CLASS)
def test_blocked_queries(student, rng):
    state, (query, key, value) = random_state(rng, 6), tokens(rng, 2, 3, 4, 6)
    layer, bias = layer_of(student, 6, 2, state), state["out_proj.bias"]
    flat = torch.tensor([[1, 1, 0, 1], [0, 0, 0, 0], [1, 0, 1, 1]])
    by_sentence = torch.stack([flat, torch.ones_like(flat)])
    masks = [flat, flat.bool(), flat.float(), by_sentence, by_sentence[:, None].bool(), torch.zeros(3, 4)]
    plain, *masked = attend(
        layer, 2, arguments(query, key, value), *(arguments(query, key, value, mask) for mask in masks)
    )
    for mask, (output, weights) in zip(masks, masked, strict=True):
        of = f"a mask {tuple(mask.shape)} of {mask.dtype}:"
        seen = mask if mask.dim() < 3 else mask.reshape(2, 1, 3, 4)
        blocked = (seen == 0).all(dim=-1).expand(2, 2, 3)
        assert_close(weights[blocked], torch.zeros(int(blocked.sum()), 4), of=f"{of} weights of a blocked query")
        rows = blocked[:, 0]
        assert_close(output[rows], bias.expand(int(rows.sum()), 6), SINGLE, of=f"{of} output of a blocked query")
    assert_close(masked[3][0][1], plain[0][1], SINGLE, of="output of the sentence with nothing blocked")
    assert_close(masked[0][0][:, [0, 2]], masked[1][0][:, [0, 2]], SINGLE, of="output of the other queries")
    assert_rows_sum_to_one(masked[0][1][:, :, [0, 2]], (2, 2, 2, 4), dtype=np.float32)


@worth(1, "a head may be blocked while the others go on", target=CLASS)
def test_blocked_heads(student, rng):
    state, (query, key, value) = random_state(rng, 6), tokens(rng, 2, 3, 4, 6)
    state["out_proj.weight"] = torch.eye(6)
    layer, bias = layer_of(student, 6, 3, state), state["out_proj.bias"]
    mask = torch.tensor([1, 0, 1]).reshape(1, 3, 1, 1)
    plain, (output, weights) = attend(
        layer, 3, arguments(query, key, value), arguments(query, key, value, mask.expand(2, 3, 3, 4).clone())
    )
    assert_close(weights[:, 1], torch.zeros(2, 3, 4), of="weights of the blocked head")
    assert_close(output[..., 2:4], bias[2:4].expand(2, 3, 2), SINGLE, of="output of the blocked head")
    assert_close(weights[:, [0, 2]], plain[1][:, [0, 2]], SINGLE, of="weights of the others")
    kept = [0, 1, 4, 5]
    assert_close(output[..., kept], plain[0][..., kept], SINGLE, of="output of the others")


@worth(1, "what a blocked key and its value hold has no say", target=CLASS)
def test_blocked_keys_may_hold_anything(student, rng):
    state, (query, key, value) = random_state(rng, 6), tokens(rng, 2, 3, 4, 6)
    mask = torch.tensor([[1, 0, 1, 1], [1, 0, 0, 1], [0, 0, 1, 0]])
    wild_key, wild_value, other_key = key.clone(), value.clone(), key.clone()
    wild_key[:, 1], wild_value[:, 1] = 500 * query[:, 0] + 500 * query[:, 1], 1e4
    other_key[:, 1] = -wild_key[:, 1]
    layer = layer_of(student, 6, 2, plain_state(6) | {"out_proj.bias": state["out_proj.bias"]})
    inputs = [(key, value), (wild_key, value), (key, wild_value), (other_key, wild_value)]
    calls = [arguments(query, *given, one) for one in (mask, mask.expand(2, 3, 4).clone()) for given in inputs]
    first, *others = attend(layer, 2, *calls)
    assert_rows_sum_to_one(first[1], (2, 2, 3, 4), dtype=np.float32)
    for pair in others:
        assert_attends(pair, first, of="another blocked key:")


@worth(1, "the bias of k_proj raises all scores of a query alike, and changes no weight", target=CLASS)
def test_bias_of_the_keys(student, rng):
    state, (query, key, value) = random_state(rng, 6), tokens(rng, 2, 3, 4, 6)
    layer = layer_of(student, 6, 3, state)
    mask = open_mask(rng, 2, 3, 4)
    calls = [arguments(query, key, value), arguments(query, key, value, mask)]
    plain = attend(layer, 3, *calls)
    assert_rows_sum_to_one(plain[0][1], (2, 3, 3, 4), dtype=np.float32)
    for size in (1.0, 200.0):
        layer.load_state_dict(state | {"k_proj.bias": normal(rng, 6, scale=size)})
        for pair, before in zip(attend(layer, 3, *calls), plain, strict=True):
            assert_attends(pair, before, STEEP, of=f"a bias of about {size:g}:")


@worth(1, "scores of thousands, and blocked ones far above or below, do no harm", target=CLASS)
def test_large_scores(student):
    share = 1 / (1 + np.exp(-1.0))
    layer = layer_of(student, 1, 1, plain_state(1))
    query, value = torch.tensor([[[1.0]]]), torch.tensor([[[1.0], [0], [5]]])
    mask = torch.tensor([[1, 1, 0]])
    sizes = [(base, blocked) for base in (5000.0, -5000.0) for blocked in (0.0, 2e4, 3e10, base)]
    keys = [torch.tensor([[[base], [base - 1], [blocked]]]) for base, blocked in sizes]
    low = torch.tensor([[[-2e10], [-4e10], [0.0]]])  # 1e9 is not infinity
    calls = [arguments(query, key, value, mask) for key in (*keys, low)]
    unmasked = [arguments(query, key[:, :2], value[:, :2]) for key in keys[::4]]
    pairs = attend(layer, 1, *calls, *unmasked)
    for (base, blocked), (output, weights) in zip(sizes, pairs, strict=False):
        of = f"scores near {base:g}, a blocked one of {blocked:g}"
        assert_close(weights.flatten(), single([share, 1 - share, 0]), STEEP, of=of)
        assert_close(output.flatten(), single([share]), STEEP, of=f"{of}: output")
    assert_close(pairs[len(sizes)][1].flatten(), torch.tensor([1.0, 0, 0]), of="scores of -2e10 and -4e10")
    for _, weights in pairs[len(sizes) + 1 :]:
        assert_close(weights.flatten(), single([share, 1 - share]), STEEP, of="without a mask")


# Gradients ----------------------------------------------------------------------------------------------


@worth(1.5, "the gradients of self-attention agree with those of PyTorch's own layer", target=CLASS)
def test_gradients_agree_with_the_oracle(student, rng):
    for batch, n, width, heads in ((2, 3, 8, 2), (3, 4, 6, 3)):
        state, query = random_state(rng, width), normal(rng, batch, n, width)
        cotangent = (normal(rng, batch, n, width), normal(rng, batch, heads, n, n))
        layer = layer_of(student, width, heads, state)
        found = layer.vjp(query, cotangent=cotangent)
        inputs, parameters = oracle_gradients(state, width, heads, (query,), cotangent)
        testing.assert_gradients(found, inputs, PARTS, STEEP)
        testing.assert_parameter_gradients(found, parameters, STEEP)


@worth(1.5, "the gradients of cross-attention with masks agree with those of PyTorch's own layer", target=CLASS)
def test_masked_gradients_agree_with_the_oracle(student, rng):
    state, inputs = random_state(rng, 6), tokens(rng, 2, 3, 4, 6)
    layer = layer_of(student, 6, 2, state)
    cotangent = (normal(rng, 2, 3, 6), normal(rng, 2, 2, 3, 4))
    for shape, given in (((3, 4), inputs), ((2, 3, 4), inputs[:2]), ((2, 2, 3, 4), inputs)):
        mask = open_mask(rng, *shape)
        found = layer.vjp(*given, mask=mask, cotangent=cotangent)
        expected, parameters = oracle_gradients(state, 6, 2, given, cotangent, mask)
        testing.assert_gradients(found, expected, PARTS, STEEP)
        testing.assert_parameter_gradients(found, parameters, STEEP)


@worth(1.5, "gradients are the slopes of the function itself, in float64", target=CLASS)
def test_gradients_match_differences(student, rng):
    state = {name: one.double() for name, one in random_state(rng, 4).items()}
    layer = student.MultiHeadAttention(4, 2)
    assert hasattr(layer, "callmany"), "MultiHeadAttention(4, 2) should be an nn.Module"
    layer.double()
    layer.load_state_dict(state)
    inputs = [x.double() for x in tokens(rng, 2, 2, 3, 4)]
    cotangent = (normal(rng, 2, 2, 4).double(), normal(rng, 2, 2, 2, 3).double())
    mask = torch.tensor([[1, 0, 1], [0, 0, 0]])
    testing.assert_gradients_match_differences(layer, inputs, cotangent, rng, kwargs={"mask": mask}, of=PARTS)


@worth(1, "a gradient reaches query, key, value and every parameter", target=CLASS)
def test_gradients_reach_everything(student, rng):
    state, inputs = random_state(rng, 6), tokens(rng, 2, 3, 4, 6)
    layer = layer_of(student, 6, 2, state)
    found = layer.vjp(*inputs, cotangent=(normal(rng, 2, 3, 6), None))
    named = dict(zip(PARTS, found.grads, strict=True)) | dict(found.parameters)
    missing = [name for name in (*PARTS, *state) if named.get(name) is None]
    assert not missing, f"no gradient of the output reaches {', '.join(missing)}"
    for name in (*PARTS, *(name for name in state if name != "k_proj.bias")):  # which shifts all scores alike
        shape = inputs[PARTS.index(name)].shape if name in PARTS else state[name].shape
        size = float(tensor_of(named[name], shape, f"the gradient of {name}").abs().max())
        assert size > 1e-6, f"the gradient of {name} is 0"
    layer.eval()
    found = layer.vjp(*inputs, cotangent=(None, normal(rng, 2, 2, 3, 4)))
    named = dict(zip(PARTS, found.grads, strict=True)) | dict(found.parameters)
    for name in ("query", "key", "q_proj.weight", "q_proj.bias", "k_proj.weight"):
        assert named.get(name) is not None, f"no gradient of the weights reaches {name}: the graph is cut"


@worth(1.5, "blocked queries and keys have gradients of 0, never NaN", target=CLASS)
def test_gradients_of_blocked_rows(student, rng):
    state, (query, key, value) = random_state(rng, 6), tokens(rng, 2, 3, 4, 6)
    layer = layer_of(student, 6, 2, state)
    mask = torch.tensor([[1, 0, 1, 1], [0, 0, 0, 0], [1, 0, 0, 1]])
    cotangent = (normal(rng, 2, 3, 6), normal(rng, 2, 2, 3, 4))
    kept, columns = [0, 2], [0, 2, 3]
    short = layer.vjp(
        query[:, kept],
        key[:, columns],
        value[:, columns],
        mask=mask[kept][:, columns],
        cotangent=(cotangent[0][:, kept], cotangent[1][:, :, kept][..., columns]),
    )
    for given in (mask.bool(), mask.float().expand(2, 3, 4).clone(), mask[None, None]):
        found = layer.vjp(query, key, value, mask=given, cotangent=cotangent)
        of = f"a mask {tuple(given.shape)}: the gradient of"
        for name, one, x in zip(PARTS, found.grads, (query, key, value), strict=True):
            assert one is not None, f"no gradient reaches {name}: the graph is cut"
            tensor_of(one, x.shape, f"{of} {name}")
        grads = [single(array_like(one, tuple(one.shape))) for one in found.grads]
        assert_close(grads[0][:, 1], torch.zeros(2, 6), SINGLE, of=f"{of} a blocked query")
        assert_close(grads[1][:, 1], torch.zeros(2, 6), SINGLE, of=f"{of} a blocked key")
        assert_close(grads[2][:, 1], torch.zeros(2, 6), SINGLE, of=f"{of} a blocked value")
        cut = (grads[0][:, kept], grads[1][:, columns], grads[2][:, columns])
        for name, one, alone in zip(PARTS, cut, short.grads, strict=True):
            assert alone is not None, f"no gradient reaches {name}: the graph is cut"
            assert_close(one, single(array_like(alone, tuple(one.shape))), STEEP, of=f"{of} {name}, the rest of it")
        for name, one in found.parameters.items():
            assert one is not None, f"no gradient reaches {name}: the graph is cut"
            assert name in state, f"there is a parameter {name} that nobody asked for"
            tensor_of(one, state[name].shape, f"{of} {name}")


# The rest -----------------------------------------------------------------------------------------------


@worth(1, "train() and eval() give the same, whatever chance says", target=CLASS)
def test_modes(student, rng):
    state, query = random_state(rng, 8), normal(rng, 3, 4, 8)
    layer = layer_of(student, 8, 2, state)
    calls = [arguments(query), arguments(query, mask=torch.ones(4, 4).tril()), arguments(query)]
    layer.train()
    student.seed(3)
    training = attend(layer, 2, *calls)
    layer.eval()
    student.seed(4)
    for pair, again in zip(attend(layer, 2, *calls), training, strict=True):
        assert_attends(pair, again, of="in eval mode against train mode:")
    assert_attends(training[2], training[0], of="the same call again in train mode:")
    assert_rows_sum_to_one(training[0][1], (3, 2, 4, 4), dtype=np.float32)


@worth(1, "features that do not share out among the heads are refused by name", target=CLASS)
def test_constructor_refuses(student):
    for embed_dim, num_heads in ((6, 4), (5, 2), (3, 7)):
        make = student.MultiHeadAttention
        assert_raises(ValueError, lambda m=make, e=embed_dim, h=num_heads: m(e, h), embed_dim, num_heads)


@worth(1, "keys and values of different lengths are refused by name", target=CLASS)
def test_forward_refuses(student):
    layer = layer_of(student, 4, 2, plain_state(4))
    for n_k, n_v in ((3, 5), (4, 1), (1, 4)):
        inputs = [torch.ones(2, n, 4) for n in (3, n_k, n_v)]
        assert_raises(ValueError, lambda given=inputs: layer(*given), n_k, n_v)


@worth(1, "arguments stay as they were, and nothing is kept from one call for the next", target=CLASS)
def test_leaves_its_input(student, rng):
    state, (query, key, value) = random_state(rng, 6), tokens(rng, 2, 3, 4, 6)
    mask = open_mask(rng, 3, 4)
    mask[1] = 0
    masks = [mask, mask.float(), mask.expand(2, 3, 4).clone().float(), mask[None, None].float()]
    cases = [(query,), (query, key), (query, key, value), *((query, key, value, one) for one in masks)]
    cases += [(query, key, value), (query,)]
    layer, other = layer_of(student, 6, 2, state), layer_of(student, 6, 3, random_state(rng, 6))
    calls = layer.calls([arguments(*case) for case in cases[:4]])
    (between,) = attend(other, 3, arguments(query, key, mask=masks[3]))
    calls += layer.calls([arguments(*case) for case in cases[4:]])
    for call, case in zip(calls, cases, strict=True):
        attended(call.value, 2, case[0], case[1] if len(case) > 1 else None)
        assert_unmodified(call, *case)
    pairs = [attended(call.value, 2, *case[:2]) for call, case in zip(calls, cases, strict=True)]
    assert_attends(pairs[7], pairs[2], of="without a mask again:")
    assert_attends(pairs[8], pairs[0], of="self-attention again:")
    assert_attends(attend(other, 3, arguments(query, key, mask=masks[3]))[0], between, of="another layer again:")


@worth(1, "the dtype of the layer and its query is that of output and weights, whatever the mask", target=CLASS)
def test_attention_dtype(student, rng):
    state, query = random_state(rng, 8), normal(rng, 1, 2, 8)
    mask = torch.tensor([[1, 0], [1, 1]])
    expected = seen_alone(state, query)
    kinds = {torch.float32: "float", torch.float64: "double"}
    kinds |= {kind: "bfloat16" if kind == torch.bfloat16 else "half" for kind in half_dtypes()}
    layer = student.MultiHeadAttention(8, 2)
    assert hasattr(layer, "callmany"), "MultiHeadAttention(8, 2) should be an nn.Module"
    for kind, method in kinds.items():
        getattr(layer, method)()
        layer.load_state_dict(state)
        x = query.to(kind)
        masks = (mask.bool(), mask.double())
        calls = [arguments(x), *(arguments(x, mask=one) for one in masks)]
        for call, value in zip(calls, layer.callmany(calls), strict=True):
            attended(value, 2, x, of=f"{kind}")
            for part in value:
                assert_dtype(part, kind)
            if "mask" in call.kwargs:
                tolerance = HALF if kind in half_dtypes() else DOUBLE if kind == torch.float64 else SINGLE
                assert_close(value[0][0, :1].detach(), expected.to(kind), tolerance, of=f"{kind}: a query with one key")


def seen_alone(state, query):
    """The output of the first token where it sees itself alone: projected for its value, and once more."""
    value = query[0, :1].double() @ state["v_proj.weight"].double().T + state["v_proj.bias"].double()
    return value @ state["out_proj.weight"].double().T + state["out_proj.bias"].double()


# reflect ------------------------------------------------------------------------------------------------


@worth(1, "the weights of 32 sentences, 96 heads and 2048 tokens", target="reflect")
def test_reflect_entries(student):
    assert_close(student.REFLECT_WEIGHT_ENTRIES_B32_H96_N2048, 12884901888)


@worth(1, "their bytes in float32", target="reflect")
def test_reflect_bytes(student):
    assert_close(student.REFLECT_WEIGHT_BYTES_FLOAT32, 51539607552)


@worth(1, "the parameters of a layer of 512 features", target="reflect")
def test_reflect_parameters(student):
    assert_close(student.REFLECT_PARAMETERS_E512, 1050624)
