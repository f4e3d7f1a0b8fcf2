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
    derangement,
    draw_until,
    half_dtypes,
    mixed_mask,
    remembered,
    worth,
)

SPLIT, MERGE, CLASS = "split_heads", "merge_heads", "MultiHeadAttention"
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")
PARTS = ("query", "key", "value")
# Float32 in any order of addition: products of a dozen numbers keep five digits.
SINGLE = Tolerance(1e-4, 2e-5)
STEEP = Tolerance(2e-3, 2e-4)  # gradients add up over the batch, and logarithms lose some digits
HALF = Tolerance(0.1, 0.06)
ROUGH = Tolerance(5e-2, 5e-2)  # weights in half precision; the error of a wrong scale is larger
DOUBLE = Tolerance(1e-6, 1e-7)  # the scale may be stored in float32

# Batch, queries, keys, features, heads: all different, many equal, one head, and heads of width 1
SIZES = [(2, 3, 5, 8, 2), (4, 4, 4, 16, 4), (2, 5, 3, 6, 1), (3, 2, 4, 3, 3)]


def is_masked(call):
    return (len(call.args) > 3 and call.args[3] is not None) or call.kwargs.get("mask") is not None


def is_single(call):
    """Whether a call is not in half precision, where results depend on the style of the code."""
    return call.args[0].element_size() > 2


def single(array):
    """Return an array as a float32 tensor."""
    return torch.from_numpy(np.ascontiguousarray(array)).to(torch.float32)


def normal(rng, *shape, scale=1.0):
    return single(rng.normal(scale=scale, size=shape))


@remembered
def setting(rng, batch, n_q, n_k, embed_dim, scale=1.0):
    """Return tokens and parameters that give uneven weights, but not all on one key, and make every bias matter."""
    state = {}
    for name in PROJECTIONS:
        state[f"{name}.weight"] = normal(rng, embed_dim, embed_dim, scale=scale * embed_dim**-0.5)
        state[f"{name}.bias"] = normal(rng, embed_dim, scale=0.5)
    return state, *(normal(rng, batch, n, embed_dim) for n in (n_q, n_k, n_k))


def plain_state(embed_dim):
    """Return parameters for projections that are the identity."""
    state = {}
    for name in PROJECTIONS:
        state[f"{name}.weight"], state[f"{name}.bias"] = torch.eye(embed_dim), torch.zeros(embed_dim)
    return state


def open_mask(rng, *shape):
    """Return a mask of zeros and ones that allows a key in every row, and blocks one if there are several."""
    return torch.from_numpy(mixed_mask(rng, shape))


def oracle_split(x, num_heads):
    return np.stack(np.split(x.numpy(), num_heads, axis=-1), axis=1)


def oracle_merge(x):
    return np.concatenate(list(np.moveaxis(x.numpy(), 1, 0)), axis=-1)


@remembered
def oracle_attention(state, num_heads, query, key, value, mask=None):
    """Return output and weights in float64, from einsum over heads and a softmax by logaddexp."""
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


def oracle_builtin(state, num_heads):
    """Return PyTorch's own layer with the same parameters."""
    layer = nn.MultiheadAttention(len(state["q_proj.bias"]), num_heads, batch_first=True)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.cat([state[f"{name}.weight"] for name in PROJECTIONS[:3]]))
        layer.in_proj_bias.copy_(torch.cat([state[f"{name}.bias"] for name in PROJECTIONS[:3]]))
        layer.out_proj.weight.copy_(state["out_proj.weight"])
        layer.out_proj.bias.copy_(state["out_proj.bias"])
    return layer


def oracle_run(layer, query, key, value, mask=None):
    """Return output and weights of PyTorch's layer, in whose masks (one for each sentence) True means blocked."""
    blocked = None if mask is None else (mask == 0).repeat_interleave(layer.num_heads, dim=0)
    return layer(query, key, value, attn_mask=blocked, average_attn_weights=False)


@remembered
def oracle_pair(state, num_heads, query, key, value):
    """Return output and weights of PyTorch's layer with these parameters."""
    results = oracle_run(oracle_builtin(state, num_heads), query, key, value)
    return tuple(result.detach() for result in results)


@remembered
def oracle_gradients(state, num_heads, inputs, cotangent, mask=None):
    """Return the gradients of PyTorch's layer: those of the inputs, and those of the parameters under our names."""
    layer = oracle_builtin(state, num_heads)
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
    """Return the student's result as a finite float32 tensor of this shape, or fail."""
    assert type(value) is torch.Tensor, f"{of} should be a tensor"
    if value.dtype == torch.float32 and value.shape == tuple(shape) and bool(value.isfinite().all()):
        return value.detach()
    return single(array_like(value, tuple(shape), of=of))  # fails with a clear message


def layer_of(student, num_heads, state, *, training=False):
    """Return the student's layer with these parameters; errors show in its first call."""
    return student.MultiHeadAttention.made(len(state["q_proj.bias"]), num_heads, state=state, training=training)


def attended(value, num_heads, query, key=None, of="the call"):
    """Return the student's output and weights as finite tensors of the right shapes, or fail."""
    assert type(value) is tuple, f"{of}: expected the pair (output, weights)"
    assert len(value) == 2, f"{of}: expected the pair (output, weights), got {len(value)} values"
    batch, n_q, _ = query.shape
    n_k = n_q if key is None else key.shape[1]
    output = tensor_of(value[0], query.shape, f"{of}: the output")
    return output, tensor_of(value[1], (batch, num_heads, n_q, n_k), f"{of}: the weights")


def attend(layer, num_heads, *cases):
    """Call the layer on every case, made by `arguments`, in one round trip; return the checked pairs."""
    pairs = []
    for i, (case, value) in enumerate(zip(cases, layer.call_many(list(cases)), strict=True)):
        key = case.args[1] if len(case.args) > 1 else case.kwargs.get("key")
        query = case.args[0] if case.args else case.kwargs["query"]
        pairs.append(attended(value, num_heads, query, key, of=f"call {i + 1}"))
    return pairs


def assert_attends(pair, expected, of):
    """Fail unless output and weights, both checked by `attended`, are as expected."""
    for name, ours, theirs in zip(("output", "weights"), pair, expected, strict=True):
        if not (ours.shape == theirs.shape and torch.allclose(ours, theirs, SINGLE.relative, SINGLE.absolute)):
            assert_close(ours, theirs, SINGLE, of=f"{of} {name}")  # fails with a clear message


def heads_of(student, *cases):
    """Split every case, (x, num_heads), in one round trip; return the checked results."""
    results = []
    for (x, heads), value in zip(cases, student.split_heads.call_many([arguments(*one) for one in cases]), strict=True):
        batch, length, width = x.shape
        shape = (batch, heads, length, width // heads)
        results.append(tensor_of(value, shape, f"{heads} heads of {tuple(x.shape)}"))
    return results


def merged_of(student, *cases):
    """Merge every case in one round trip; return the checked results."""
    results = []
    for x, value in zip(cases, student.merge_heads.call_many([arguments(x) for x in cases]), strict=True):
        batch, heads, length, width = x.shape
        results.append(tensor_of(value, (batch, length, heads * width), f"merged {tuple(x.shape)}"))
    return results


# split_heads --------------------------------------------------------------------------------------------


@worth(1.5, "split_heads agrees with an independent computation for many shapes", target=SPLIT)
def test_split_agrees_with_the_oracle(student, rng, shown):
    cases = [(normal(rng, batch, n, width), heads) for batch, n, _, width, heads in SIZES[1:]]
    for (x, heads), value in zip(cases, heads_of(student, *cases), strict=True):
        assert_close(value, single(oracle_split(x, heads)), of=f"{heads} heads of {tuple(x.shape)}")
    shown(student, SPLIT, arguments(torch.ones(1, 2, 4), 2))


@worth(1.5, "entry [b, h, n, d] of the heads is entry [b, n, h * width + d] of the tokens", target=SPLIT)
def test_split_entry_by_entry(student):
    shapes = {(2, 3, 8): 2, (2, 6, 6): 3}
    cases = [(torch.arange(float(np.prod(shape))).reshape(shape), num_heads) for shape, num_heads in shapes.items()]
    for (x, num_heads), heads in zip(cases, heads_of(student, *cases), strict=True):
        found, width = heads.tolist(), x.shape[2] // num_heads
        for (b, n, e), wanted in np.ndenumerate(x.numpy()):
            h, d = divmod(e, width)
            number = found[b][h][n][d]
            assert number == wanted, (
                f"entry [{b}, {h}, {n}, {d}] of {num_heads} heads of {tuple(x.shape)} is {number:g}, not {wanted:g}"
            )


@worth(1.75, "each token and each sentence is split independently of the others", target=SPLIT)
def test_split_token_by_token(student, rng):
    x = normal(rng, 3, 4, 6)
    order, others = (torch.from_numpy(derangement(rng, n)) for n in (4, 3))
    whole, turned, alone = heads_of(student, (x, 2), (x[others][:, order], 2), (x[1:2, 2:3], 2))
    assert_close(turned, whole[others][:, :, order], of="tokens and sentences in another order")
    assert_close(alone, whole[1:2, :, 2:3], of="one token alone")


@worth(1, "a width that is not a multiple of num_heads raises a ValueError that names both numbers", target=SPLIT)
def test_split_refuses(student):
    for width, heads in ((5, 2), (3, 7)):
        assert_raises(ValueError, lambda w=width, h=heads: student.split_heads(torch.ones(2, 3, w), h), width, heads)


@worth(1.25, "gradients flow back through split_heads to the right entries", target=SPLIT)
def test_split_gradients(student, rng):
    x, cotangent = normal(rng, 2, 3, 6), normal(rng, 2, 3, 3, 2)
    found = student.split_heads.vjp(x, 3, cotangent=cotangent)
    expected = torch.cat([cotangent[:, h] for h in range(3)], dim=-1)
    testing.assert_gradients(found, [expected], ("x",))


@worth(0.25, "split_heads does not depend on earlier calls", target=SPLIT)
def test_split_does_not_remember(student, rng):
    x, other = normal(rng, 2, 3, 4), normal(rng, 2, 3, 4)
    cases = [(x, 2), (other, 2), (x, 2)]
    values = student.split_heads.call_many([arguments(*case) for case in cases])
    values = [tensor_of(value, (2, 2, 3, 2), "the heads") for value in values]
    assert_close(values[2], values[0], of="the same call again")
    assert_close(values[1][0, 0, 0], other[0, 0, :2], of="a call with other tokens")


@worth(0.4, "split_heads returns the dtype of x", target=SPLIT)
def test_split_dtype(student):
    kinds = (torch.float32, torch.float64, *half_dtypes())
    x = torch.tensor([[[1.0, 2, 3, 4], [5, 6, 7, 8]]])
    fine = 1 + 2.0**-40 * torch.arange(4, dtype=torch.float64).reshape(1, 1, 4)  # in float32 these are all 1
    calls = [*(arguments(x.to(kind), 2) for kind in kinds), arguments(fine, 2)]
    *values, value = student.split_heads.call_many(calls)
    for kind, one in zip(kinds, values, strict=True):
        tensor_of(one, (1, 2, 2, 2), f"heads of {kind}")
        assert_dtype(one, kind)
    assert_close(value, fine.reshape(1, 2, 1, 2), Tolerance(0.0, 0.0), of="small differences in float64")


# merge_heads --------------------------------------------------------------------------------------------


@worth(1.25, "merge_heads agrees with an independent computation for many shapes", target=MERGE)
def test_merge_agrees_with_the_oracle(student, rng, shown):
    cases = [normal(rng, batch, heads, n, width // heads) for batch, n, _, width, heads in SIZES[1:]]
    for x, value in zip(cases, merged_of(student, *cases), strict=True):
        assert_close(value, single(oracle_merge(x)), of=f"heads {tuple(x.shape)}")
    shown(student, MERGE, arguments(torch.ones(1, 2, 2, 2)))


@worth(1.5, "entry [b, n, h * width + d] of the tokens is entry [b, h, n, d] of the heads", target=MERGE)
def test_merge_entry_by_entry(student):
    shapes = [(2, 2, 3, 4), (2, 3, 6, 2)]
    cases = [torch.arange(float(np.prod(shape))).reshape(shape) for shape in shapes]
    for x, merged in zip(cases, merged_of(student, *cases), strict=True):
        found, width = merged.tolist(), x.shape[3]
        for (b, h, n, d), wanted in np.ndenumerate(x.numpy()):
            number = found[b][n][h * width + d]
            assert number == wanted, (
                f"entry [{b}, {n}, {h * width + d}] for heads {tuple(x.shape)} is {number:g}, not {wanted:g}"
            )


@worth(1.75, "merge_heads(split_heads(x, H)) is x again", target=MERGE)
def test_merge_undoes_a_split(student, rng):
    x = normal(rng, 2, 3, 12)
    cases = [torch.stack(x.split(width, dim=-1), dim=1) for width in (12, 4, 1)]
    for cut, merged in zip(cases, merged_of(student, *cases), strict=True):
        assert_close(merged, x, of=f"{cut.shape[1]} heads")


@worth(1.25, "gradients flow back through merge_heads to the right entries", target=MERGE)
def test_merge_gradients(student, rng):
    x, cotangent = normal(rng, 2, 3, 4, 2), normal(rng, 2, 4, 6)
    found = student.merge_heads.vjp(x, cotangent=cotangent)
    expected = torch.stack([cotangent[..., 2 * h : 2 * h + 2] for h in range(3)], dim=1)
    testing.assert_gradients(found, [expected], ("x",))


@worth(0.25, "merge_heads does not depend on earlier calls", target=MERGE)
def test_merge_does_not_remember(student, rng):
    cases = [normal(rng, 2, 2, 3, 2), normal(rng, 2, 2, 3, 2)]
    values = student.merge_heads.call_many([arguments(x) for x in (*cases, cases[0])])
    values = [tensor_of(value, (2, 3, 4), "the tokens") for value in values]
    assert_close(values[2], values[0], of="the same call again")
    assert_close(values[1][0, 0, :2], cases[1][0, 0, 0], of="a call with other heads")


@worth(0.35, "merge_heads returns the dtype of x", target=MERGE)
def test_merge_dtype(student):
    kinds = (torch.float32, torch.float64, *half_dtypes())
    x = torch.tensor([[[[1.0, 2], [5, 6]], [[3, 4], [7, 8]]]])
    fine = 1 + 2.0**-40 * torch.arange(4, dtype=torch.float64).reshape(1, 2, 1, 2)  # in float32 these are all 1
    *values, value = student.merge_heads.call_many([*(arguments(x.to(kind)) for kind in kinds), arguments(fine)])
    for kind, one in zip(kinds, values, strict=True):
        tensor_of(one, (1, 2, 4), f"heads of {kind}")
        assert_dtype(one, kind)
    assert_close(value, fine.reshape(1, 1, 4), Tolerance(0.0, 0.0), of="small differences in float64")


# MultiHeadAttention: its parameters, and its results ----------------------------------------------------


@worth(1, "the parameters are the weights and biases of the four projections, and no others", target=CLASS)
def test_parameters(student):
    found = student.MultiHeadAttention.made(6, 3).parameters()
    wanted = {f"{name}.{part}" for name in PROJECTIONS for part in ("weight", "bias")}
    missing, others = sorted(wanted - found.keys()), sorted(map(str, found.keys() - wanted))
    assert not missing, f"there is no parameter {', '.join(missing)}"
    assert not others, f"there are unexpected parameters: {', '.join(others)}"
    for name in sorted(wanted):
        tensor_of(found[name], (6, 6) if name.endswith("weight") else (6,), name)


@worth(3, "self- and cross-attention agree with PyTorch's own layer with the same parameters", target=CLASS)
def test_attention_agrees_with_the_oracle(student, rng, shown):
    for batch, n_q, n_k, width, heads in SIZES[:2]:
        state, query, key, value = setting(rng, batch, n_q, n_k, width, 1.5)
        cases = [(query, key, key), (value, key, value)] if n_q != n_k else [(query, query, query)]
        calls = [arguments(query, key), arguments(value, key, value)] if n_q != n_k else [arguments(query)]
        for case, pair in zip(cases, attend(layer_of(student, heads, state), heads, *calls), strict=True):
            of = f"{heads} heads, {case[0].shape[1]} queries, {case[1].shape[1]} keys:"
            assert_attends(pair, oracle_pair(state, heads, *case), of=of)
    x, two = torch.ones(1, 5, 4), torch.ones(1, 2, 4)
    seen = [arguments(x), arguments(x, x, x), arguments(two, x), arguments(two, x, x)]
    made = {"init": (4, 2), "state": setting(rng, 1, 1, 1, 4)[0]}
    where = lambda call: is_single(call) and not is_masked(call)  # noqa: E731
    shown(student, f"{CLASS}.forward", *seen, **made, where=where, tolerance=SINGLE)


@worth(2.5, "results agree with an independent formula for masks of two, three and four dimensions", target=CLASS)
def test_masked_attention_agrees_with_the_oracle(student, rng, shown):
    state, *inputs = setting(rng, 2, 4, 5, 6, 1.5)
    masks = [open_mask(rng, *shape) for shape in ((4, 5), (2, 4, 5), (2, 1, 1, 5), (2, 3, 4, 5))]
    masks[0][1], masks[1][0, 2], masks[3][1, 0, 0] = 0, 0, 0  # some rows are fully blocked
    pairs = attend(layer_of(student, 3, state), 3, *(arguments(*inputs, mask) for mask in masks))
    for pair, mask in zip(pairs, masks, strict=True):
        assert_attends(pair, oracle_attention(state, 3, *inputs, mask), of=f"a mask {tuple(mask.shape)}:")
    x, causal = torch.ones(1, 5, 4), torch.ones(5, 5).tril()
    sentences = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])[:, None].expand(2, 5, 5).clone()
    seen = [arguments(x, x, x, mask=causal), arguments(x, mask=causal), arguments(x, mask=torch.zeros(5, 5))]
    seen += [arguments(torch.ones(2, 5, 4), mask=sentences)]
    made = {"init": (4, 2), "state": setting(rng, 1, 1, 1, 4)[0]}
    where = lambda call: is_single(call) and is_masked(call)  # noqa: E731
    shown(student, f"{CLASS}.forward", *seen, **made, where=where, tolerance=SINGLE)


# Heads --------------------------------------------------------------------------------------------------


@worth(2, "in every head, the weights of each query sum to 1 over the keys", target=CLASS)
def test_weights_are_shares(student, rng):
    state, query, key, _ = setting(rng, 3, 4, 5, 8)
    query[0] *= 1000  # also for large scores
    shares = oracle_attention(state, 2, query, key, key)[1][0]

    def leaves_nothing(mask):
        """Whether a query has all its weight on keys that the mask blocks."""
        return bool(((shares * mask[0]).sum(dim=-1) == 0).any())

    mask = draw_until(rng, lambda rng: open_mask(rng, 3, 4, 5), leaves_nothing)
    calls = [arguments(query, key), arguments(query, key, mask=mask)]
    for _, weights in attend(layer_of(student, 2, state), 2, *calls):
        assert_rows_sum_to_one(weights, (3, 2, 4, 5), dtype=np.float32)


@worth(1.5, "scores are divided by the square root of a head's width", target=CLASS)
def test_scale_is_the_root_of_the_width(student, rng):
    _, query, key, _ = setting(rng, 2, 3, 4, 6)
    ((_, weights),) = attend(layer_of(student, 2, plain_state(6)), 2, arguments(query, key))
    assert bool((weights > 1e-6).all()), "an allowed key has the weight 0"
    raw = torch.stack([query[..., s] @ key[..., s].mT for s in (slice(3), slice(3, 6))], dim=1)
    odds = torch.log(weights) - torch.log(weights[..., :1])
    assert_close(odds, (raw - raw[..., :1]) * 3**-0.5, STEEP, of="two heads of width 3: logarithms of the odds")


@worth(1.5, "if the projections do not mix heads, each head gives the same result as a layer of its own", target=CLASS)
def test_heads_are_layers_of_their_own(student, rng):
    state, query, key, value = setting(rng, 2, 3, 4, 6)
    small, rows = {}, slice(2, 4)  # head 1, in the middle
    for name, one in state.items():
        if name.endswith("weight"):
            state[name] = torch.block_diag(one[:2, :2], one[rows, rows], one[4:, 4:])
        small[name] = state[name][rows, rows] if name.endswith("weight") else one[rows]
    mask = open_mask(rng, 2, 3, 4)
    ((output, weights),) = attend(layer_of(student, 3, state), 3, arguments(query, key, value, mask))
    cut = [x[..., rows] for x in (query, key, value)]
    ((part, shares),) = attend(layer_of(student, 1, small), 1, arguments(*cut, mask))
    assert_close(weights[:, 1], shares[:, 0], SINGLE, of="weights of head 1, compared with a layer of its own")
    assert_close(output[..., rows], part, SINGLE, of="output of head 1, compared with a layer of its own")


# Projections --------------------------------------------------------------------------------------------


@worth(1.5, "if all values are equal, the output is that value after v_proj and out_proj", target=CLASS)
def test_constant_values(student, rng):
    state, query, key, value = setting(rng, 2, 3, 5, 8)
    value = value[:1, :1]
    ((output, _),) = attend(layer_of(student, 2, state), 2, arguments(query, key, value.expand(2, 5, 8).clone()))
    once = value @ state["v_proj.weight"].T + state["v_proj.bias"]
    wanted = once @ state["out_proj.weight"].T + state["out_proj.bias"]
    assert_close(output, wanted.expand(2, 3, 8), SINGLE)


@worth(2, "query, key and value each go through their own projection", target=CLASS)
def test_each_projection_has_its_input(student, rng):
    state, *inputs = setting(rng, 2, 3, 4, 4)
    layer = layer_of(student, 2, state)
    (inside,) = attend(layer, 2, arguments(*inputs))
    parts = zip(inputs, PROJECTIONS, strict=False)
    projected = [x @ state[f"{name}.weight"].T + state[f"{name}.bias"] for x, name in parts]
    layer.load_state_dict({name: one for name, one in plain_state(4).items() if not name.startswith("out_proj")})
    (before,) = attend(layer, 2, arguments(*projected))
    assert_attends(inside, before, of="compared with inputs that are already projected:")


# Self and cross -----------------------------------------------------------------------------------------


@worth(1.5, "without key and value the query is used for both, and without a value the key is used", target=CLASS)
def test_defaults(student, rng):
    state, query, key, _ = setting(rng, 2, 4, 4, 6)
    calls = [arguments(query), arguments(query=query, key=query, value=query)]
    mask = open_mask(rng, 4, 4)
    calls += [arguments(query, key), arguments(query, key, key)]
    calls += [arguments(query, key, mask=mask), arguments(query, key, key, mask)]
    alone, thrice, two, key_twice, masked, masked_twice = attend(layer_of(student, 2, state), 2, *calls)
    assert_attends(masked, masked_twice, of="query and key, compared with query, key, key, with a mask:")
    assert_attends(alone, thrice, of="the query alone, compared with query, query, query:")
    assert_attends(two, key_twice, of="query and key, compared with query, key, key:")
    assert float((alone[0] - two[0]).abs().max()) > 1e-3, "another key changes nothing"


@worth(1.5, "the output is linear in the values, and the values do not change the weights", target=CLASS)
def test_linear_in_the_values(student, rng):
    state, query, key, value = setting(rng, 2, 3, 4, 6)
    one, other = value
    values = torch.stack([one, other, 2 * one - other])  # three sentences that differ only in their values
    inputs = [x[:1].expand(3, -1, -1).clone() for x in (query, key)]
    ((output, weights),) = attend(layer_of(student, 3, state), 3, arguments(*inputs, values))
    assert_close(output[2], 2 * output[0] - output[1], STEEP, of="output for a combination of values")
    assert float((output[0] - output[1]).abs().max()) > 1e-3, "the output does not depend on the values"
    assert_close(weights[1:], weights[:1].expand(2, -1, -1, -1), SINGLE, of="weights")


@worth(1.5, "reordering keys and values changes nothing, and reordering queries reorders the outputs", target=CLASS)
def test_order_of_tokens(student, rng):
    state, *inputs = setting(rng, 1, 3, 5, 8)
    query, key, value = (x[0] for x in inputs)
    rows, columns = (torch.from_numpy(derangement(rng, n)) for n in (3, 5))
    queries = torch.stack([query, query, query[rows]])  # three sentences: as it is, keys reordered, queries reordered
    keys, values = torch.stack([key, key[columns], key]), torch.stack([value, value[columns], value])
    calls = [arguments(queries, keys, values), arguments(inputs[0][:, 1:2], *inputs[1:])]
    (output, weights), alone = attend(layer_of(student, 2, state), 2, *calls)
    plain = output[0], weights[0]
    assert_attends((output[1], weights[1]), (plain[0], plain[1][..., columns]), of="keys in another order:")
    assert_attends((output[2], weights[2]), (plain[0][rows], plain[1][:, rows]), of="queries in another order:")
    assert_attends(alone, (output[:1, 1:2], weights[:1, :, 1:2]), of="one query of one sentence alone:")


# Masks --------------------------------------------------------------------------------------------------


@worth(1.5, "a blocked key has no effect", target=CLASS)
def test_without_the_blocked_keys(student, rng):
    state, query, key, value = setting(rng, 2, 3, 5, 6)
    kept, row = [0, 2, 3], torch.tensor([1, 0, 1, 1, 0])
    masks = [row.expand(3, 5).clone(), row.reshape(1, 1, 1, 5)]
    calls = [arguments(query, key, value, mask=mask) for mask in masks]
    short, *masked = attend(layer_of(student, 2, state), 2, arguments(query, key[:, kept], value[:, kept]), *calls)
    for mask, (output, weights) in zip(masks, masked, strict=True):
        of = f"a mask {tuple(mask.shape)}:"
        assert_close(weights[..., [1, 4]], torch.zeros(2, 2, 3, 2), of=f"{of} weights of blocked keys")
        assert_attends((output, weights[..., kept]), short, of=of)


@worth(2, "bool, int and float masks give the same result", target=CLASS)
def test_mask_kinds(student, rng):
    state, query, _, _ = setting(rng, 3, 3, 3, 6)  # as many sentences as queries and keys
    mask = torch.tensor([[1, 0, 1], [1, 1, 0], [0, 0, 1]])
    masks = [mask.bool(), mask.float(), mask.expand(3, 3, 3).double()]
    first, *others = attend(layer_of(student, 2, state), 2, *(arguments(query, mask=one) for one in masks))
    assert_close(first[1] * (1 - mask), torch.zeros(3, 2, 3, 3), of="weights of blocked keys")
    assert_rows_sum_to_one(first[1], (3, 2, 3, 3), dtype=np.float32)
    for given, pair in zip(masks[1:], others, strict=True):
        assert_attends(pair, first, of=f"a mask {tuple(given.shape)} of {given.dtype}:")


@worth(2, "a mask of three dimensions applies to each sentence, in all heads", target=CLASS)
def test_masks_of_sentences(student, rng):
    state, *inputs = setting(rng, 2, 3, 4, 6)
    mask = open_mask(rng, 2, 3, 4)
    mask[:, :, 0], mask[:, :, 1] = torch.tensor([[0], [1]]), torch.tensor([[1], [0]])  # all sentences are different
    calls = [arguments(*inputs, mask), arguments(*(x[1:] for x in inputs), mask[1])]
    whole, alone = attend(layer_of(student, 2, state), 2, *calls)  # as many sentences as heads
    assert_close(whole[1] * (1 - mask[:, None]), torch.zeros(2, 2, 3, 4), of="weights of blocked keys")
    assert_attends(alone, (whole[0][1:], whole[1][1:]), of="the second sentence alone:")


@worth(2, "a mask of four dimensions may differ between heads, and broadcasts", target=CLASS)
def test_masks_of_heads(student, rng):
    state, *inputs = setting(rng, 2, 3, 4, 6)
    state["out_proj.weight"] = torch.eye(6)
    masks = [torch.tensor([1, 0, 1]).reshape(1, 1, 3, 1), open_mask(rng, 1, 3, 1, 4), open_mask(rng, 2, 3, 3, 4)]
    masks[1][0, :2, 0], masks[2][1, 1] = torch.tensor([[1, 1, 0, 0], [0, 0, 1, 1]]), 0
    calls = [*(arguments(*inputs, mask) for mask in masks), arguments(*inputs)]
    *masked, (_, plain) = attend(layer_of(student, 3, state), 3, *calls)
    for mask, (_, weights) in zip(masks, masked, strict=True):
        kept = plain * mask
        total = kept.sum(dim=-1, keepdim=True)
        wanted = kept / torch.where(total == 0, 1, total)
        assert_close(weights, wanted, SINGLE, of=f"a mask {tuple(mask.shape)}: the other weights, rescaled to sum to 1")
    bias = state["out_proj.bias"][2:4].expand(3, 2)
    assert_close(masked[2][0][1, :, 2:4], bias, SINGLE, of="output of a head with everything blocked")


@worth(2, "a query with every key blocked has weights of 0, and its output is the bias of out_proj", target=CLASS)
def test_blocked_queries(student, rng):
    state, *inputs = setting(rng, 3, 3, 4, 6)  # as many sentences as queries
    flat = torch.tensor([[1, 1, 0, 1], [0, 0, 0, 0], [1, 0, 1, 1]])
    by_sentence = torch.stack([flat, torch.ones_like(flat), flat])
    masks = [flat.bool(), by_sentence.float()]
    pairs = attend(layer_of(student, 2, state), 2, *(arguments(*inputs, mask) for mask in masks))
    for mask, (output, weights) in zip(masks, pairs, strict=True):
        of, blocked = f"a mask {tuple(mask.shape)} of {mask.dtype}:", [0, 1, 2] if mask.dim() == 2 else [0, 2]
        zeros, bias = torch.zeros(len(blocked), 2, 4), state["out_proj.bias"].expand(len(blocked), 6)
        assert_close(weights[blocked, :, 1], zeros, of=f"{of} weights of a blocked query")
        assert_close(output[blocked, 1], bias, SINGLE, of=f"{of} output of a blocked query")
    assert_rows_sum_to_one(pairs[0][1][:, :, [0, 2]], (3, 2, 2, 4), dtype=np.float32)
    assert_rows_sum_to_one(pairs[1][1][1], (2, 3, 4), dtype=np.float32)


@worth(1.5, "the numbers in a blocked key and its value do not matter", target=CLASS)
def test_blocked_keys_may_hold_anything(student, rng):
    _, query, key, value = setting(rng, 1, 3, 4, 6)
    mask = torch.tensor([[1, 0, 1, 1], [1, 0, 0, 1], [0, 0, 1, 0]])
    # Four sentences: as it is, with another value, and with keys of a very high and a very low score
    query, key, value = (x.expand(4, -1, -1).clone() for x in (query, key, value))
    value[1:, 1], key[2, 1] = 1e4, 500 * query[0, 0] + 500 * query[0, 1]
    key[3, 1] = -key[2, 1]
    calls = [arguments(query, key, value, one) for one in (mask, mask.expand(4, 3, 4).clone())]
    for output, weights in attend(layer_of(student, 2, plain_state(6)), 2, *calls):
        assert_rows_sum_to_one(weights, (4, 2, 3, 4), dtype=np.float32)
        first = output[:1].expand(3, -1, -1), weights[:1].expand(3, -1, -1, -1)
        assert_attends((output[1:], weights[1:]), first, of="with another blocked key:")


@worth(1.5, "scores in the thousands work, also next to much higher or lower blocked scores", target=CLASS)
def test_large_scores(student):
    share = 1 / (1 + np.exp(-1.0))
    bases = [(base, blocked) for base in (5000.0, -5000.0) for blocked in (0.0, 2e4, 3e10, base)]
    rows = [[base, base - 1, blocked] for base, blocked in bases]
    keys = torch.tensor([*rows, [-2e10, -4e10, 0.0]])[..., None]  # 1e9 is not infinity
    query, value = torch.ones(9, 1, 1), torch.tensor([[1.0], [0], [5]]).expand(9, 3, 1).clone()
    calls = [arguments(query, keys, value, torch.tensor([[1, 1, 0]]))]
    calls += [arguments(query[:8], keys[:8, :2], value[:8, :2])]
    (output, weights), (_, unmasked) = attend(layer_of(student, 1, plain_state(1)), 1, *calls)
    wanted = single([share, 1 - share, 0]).expand(8, 3)
    assert_close(weights[:8, 0, 0], wanted, STEEP, of="scores near 5000 and -5000")
    assert_close(output[:8, 0, 0], single([share]).expand(8), STEEP, of="output for scores near 5000 and -5000")
    assert_close(weights[8].flatten(), torch.tensor([1.0, 0, 0]), of="scores of -2e10 and -4e10")
    assert_close(unmasked[:, 0, 0], wanted[:, :2], STEEP, of="without a mask")


# Gradients ----------------------------------------------------------------------------------------------


@worth(2, "the gradients of cross-attention with a mask agree with those of PyTorch's own layer", target=CLASS)
def test_masked_gradients_agree_with_the_oracle(student, rng):
    state, *inputs = setting(rng, 2, 3, 4, 6)
    cotangent, mask = (normal(rng, 2, 3, 6), normal(rng, 2, 2, 3, 4)), open_mask(rng, 2, 3, 4)
    found = layer_of(student, 2, state, training=True).vjp(*inputs, mask=mask, cotangent=cotangent)
    expected, parameters = oracle_gradients(state, 2, inputs, cotangent, mask)
    testing.assert_gradients(found, expected, PARTS, STEEP)
    testing.assert_parameter_gradients(found, parameters, STEEP)


@worth(1.5, "the gradients agree with finite differences in float64", target=CLASS)
def test_gradients_match_differences(student, rng):
    state, *inputs = setting(rng, 1, 2, 3, 4)
    inputs, step = [x.double() for x in inputs], 1e-5
    layer, mask = layer_of(student, 2, state), torch.tensor([[1, 0, 1], [0, 0, 0]])
    layer.double()
    cotangent = (normal(rng, 1, 2, 4).double(), normal(rng, 1, 2, 2, 3).double())
    found = layer.vjp(*inputs, mask=mask, cotangent=cotangent)
    # Two sentences for each input: one step forward and one step back in a random direction
    moved, slopes = [x.repeat(6, 1, 1) for x in inputs], []
    for place, (name, x, grad) in enumerate(zip(PARTS, inputs, found.grads, strict=True)):
        assert grad is not None, f"no gradient reaches {name}: the graph is cut"
        direction = normal(rng, *x.shape[1:]).double()
        moved[place][2 * place : 2 * place + 2] += step * torch.stack([direction, -direction])
        slopes.append(float((array_like(grad, tuple(x.shape)) * direction.numpy()).sum()))
    output, weights = layer(*moved, mask=mask)
    pairs = zip((output, weights), cotangent, strict=True)
    total = sum((array_like(part, (6, *cot.shape[1:])) * cot.numpy()).reshape(6, -1).sum(axis=1) for part, cot in pairs)
    measured = (total[::2] - total[1::2]) / (2 * step)
    assert_close(np.array(slopes), measured, Tolerance(1e-5, 1e-7), of="slopes along query, key and value")


@worth(1, "gradients also flow back from the weights", target=CLASS)
def test_gradients_come_through_the_weights(student, rng):
    state, query, key, _ = setting(rng, 2, 3, 4, 6)
    found = layer_of(student, 2, state, training=True).vjp(query, key, cotangent=(None, normal(rng, 2, 2, 3, 4)))
    named = dict(zip(PARTS, found.grads, strict=False)) | dict(found.parameters)
    shapes = {"query": query.shape, "key": key.shape} | {name: one.shape for name, one in state.items()}
    for name in ("query", "key", "q_proj.weight", "q_proj.bias", "k_proj.weight"):
        assert named.get(name) is not None, f"no gradient of the weights reaches {name}: the graph is cut"
        size = float(tensor_of(named[name], shapes[name], f"the gradient of {name}").abs().max())
        assert size > 1e-6, f"the gradient of {name} is 0"


@worth(2, "blocked queries and keys have gradients of 0, never NaN, and do not change other gradients", target=CLASS)
def test_gradients_of_blocked_rows(student, rng):
    state, *inputs = setting(rng, 2, 3, 4, 6)
    mask = torch.tensor([[1, 0, 1, 1], [0, 0, 0, 0], [1, 0, 0, 1]]).float().expand(2, 3, 4).clone()
    cotangent = (normal(rng, 2, 3, 6), normal(rng, 2, 2, 3, 4))
    for x in (*inputs, cotangent[0]):  # two sentences that differ only in their blocked tokens
        x[1, [0, *range(2, x.shape[1])]] = x[0, [0, *range(2, x.shape[1])]]
    cotangent[1][1, :, [0, 2]] = cotangent[1][0, :, [0, 2]]
    found = layer_of(student, 2, state).vjp(*inputs, mask=mask, cotangent=cotangent)
    for name, one, x in zip(PARTS, found.grads, inputs, strict=True):
        assert one is not None, f"no gradient reaches {name}: the graph is cut"
        grad = tensor_of(one, x.shape, f"the gradient of {name}")
        assert_close(grad[:, 1], torch.zeros(2, 6), SINGLE, of=f"the gradient of a blocked {name}")
        assert_close(grad[1], grad[0], STEEP, of=f"the gradient of {name}, with other numbers in the blocked tokens")
    padding = torch.tensor([1.0, 0.0]).reshape(2, 1, 1, 1).repeat(1, 2, 1, 4)  # the second sentence is fully blocked
    padded = layer_of(student, 2, state).vjp(*inputs, mask=padding, cotangent=cotangent)
    for name, one, x in zip(PARTS, padded.grads, inputs, strict=True):
        assert one is not None, f"no gradient reaches {name}: the graph is cut"
        grad = tensor_of(one, x.shape, f"the gradient of {name}")
        assert_close(grad[1], torch.zeros(x.shape[1:]), SINGLE, of=f"the gradient of {name} where all is padding")
    for name, one in (*found.parameters.items(), *padded.parameters.items()):
        assert one is not None, f"no gradient reaches {name}: the graph is cut"
        assert name in state, f"there is an unexpected parameter {name}"
        tensor_of(one, state[name].shape, f"the gradient of {name}")


# The rest -----------------------------------------------------------------------------------------------


@worth(1.5, "train() and eval() give the same result, with any random seed", target=CLASS)
def test_modes(student, rng):
    state, query, _, _ = setting(rng, 3, 4, 4, 8)
    layer = layer_of(student, 2, state, training=True)
    student.seed(3)
    (training,) = attend(layer, 2, arguments(query))
    layer.eval()
    student.seed(4)
    (again,) = attend(layer, 2, arguments(query))
    assert_attends(again, training, of="in eval mode, compared with train mode:")
    assert_rows_sum_to_one(training[1], (3, 2, 4, 4), dtype=np.float32)


@worth(1, "an embed_dim that is not a multiple of num_heads raises a ValueError that names both numbers", target=CLASS)
def test_constructor_refuses(student):
    for embed_dim, num_heads in ((6, 4), (3, 7)):
        make = student.MultiHeadAttention
        assert_raises(ValueError, lambda m=make, e=embed_dim, h=num_heads: m(e, h), embed_dim, num_heads)


@worth(1, "keys and values of different lengths raise a ValueError that names both lengths", target=CLASS)
def test_forward_refuses(student):
    layer = layer_of(student, 2, plain_state(4))
    for n_k, n_v in ((3, 5), (4, 1)):
        inputs = [torch.ones(2, n, 4) for n in (3, n_k, n_v)]
        assert_raises(ValueError, lambda given=inputs: layer(*given), n_k, n_v)


@worth(0.5, "nothing is kept from one call to the next", target=CLASS)
def test_does_not_remember(student, rng):
    state, *inputs = setting(rng, 2, 3, 4, 6)
    mask = open_mask(rng, 3, 4).float()
    mask[1] = 0
    cases = [inputs, [*inputs, mask], inputs]
    values = layer_of(student, 2, state).call_many([arguments(*case) for case in cases])
    first, last = (attended(value, 2, *inputs[:2]) for value in (values[0], values[2]))
    assert_attends(last, first, of="without a mask again:")


@worth(1, "output and weights have the dtype of the layer and its query, for every dtype of the mask", target=CLASS)
def test_attention_dtype(student, rng):
    state, query, _, _ = setting(rng, 1, 4, 4, 8)
    mask = torch.tensor([[1, 0, 0, 0], [1, 1, 0, 1], [1, 1, 1, 0], [0, 1, 1, 1]]).double()
    expected, weights = seen_alone(state, query), oracle_attention(state, 2, query, query, query, mask)[1]
    kinds = {torch.float32: None, torch.float64: "double"}
    kinds |= {kind: "bfloat16" if kind == torch.bfloat16 else "half" for kind in half_dtypes()}
    layer = layer_of(student, 2, state)
    for kind, method in kinds.items():
        if method is not None:
            getattr(layer, method)()
            layer.load_state_dict(state)
        x = query.to(kind)
        calls = [arguments(x, mask=mask), arguments(x)]
        masked, *plain = layer.call_many(calls if kind == torch.float64 else calls[:1])
        for pair in (masked, *plain):
            attended(pair, 2, x, of=f"{kind}")
            for part in pair:
                assert_dtype(part, kind)
        tolerance = HALF if kind in half_dtypes() else DOUBLE if kind == torch.float64 else SINGLE
        assert_close(masked[0][0, :1].detach(), expected.to(kind), tolerance, of=f"{kind}: a query with one key")
        near = ROUGH if kind in half_dtypes() else SINGLE
        assert_close(masked[1].detach(), weights.to(kind), near, of=f"{kind}: weights")


@remembered
def seen_alone(state, query):
    """Return the output of the first token when it sees only itself: v_proj, then out_proj."""
    value = query[0, :1].double() @ state["v_proj.weight"].double().T + state["v_proj.bias"].double()
    return value @ state["out_proj.weight"].double().T + state["out_proj.bias"].double()


# reflect ------------------------------------------------------------------------------------------------


@worth(1, "the number of weights is right for 32 sentences, 96 heads and 2048 tokens", target="reflect")
def test_reflect_entries(student):
    assert_close(student.REFLECT_WEIGHT_ENTRIES_B32_H96_N2048, 12884901888)


@worth(1, "the number of bytes of these weights in float32 is right", target="reflect")
def test_reflect_bytes(student):
    assert_close(student.REFLECT_WEIGHT_BYTES_FLOAT32, 51539607552)


@worth(1, "the number of parameters of a layer with 512 features is right", target="reflect")
def test_reflect_parameters(student):
    assert_close(student.REFLECT_PARAMETERS_E512, 1050624)
