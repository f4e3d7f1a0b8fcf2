"""Hidden suite of 05_torch_attention. Oracles: ratios in float64, full Jacobians, torch's built-in and autograd."""

import re
from contextlib import contextmanager

import numpy as np
import torch
from torch.nn import functional

from grader.core.errors import StudentRaisedError
from grader.testing import (
    Tolerance,
    arguments,
    array_like,
    assert_close,
    assert_dtype,
    assert_gradients,
    assert_gradients_match_differences,
    assert_raises,
    assert_rows_sum_to_one,
    half_dtypes,
    mixed_mask,
    remembered,
    worth,
)

CLASS, SOFTMAX, BACKWARD = "ScaledDotProductAttention", "softmax_backward", "attention_backward"
NAMES = ("q", "k", "v")
DOUBLE = Tolerance(1e-6, 1e-7)  # float64, with a scale that may be kept in float32
# Float64 with 16 features, whose scale of 4 is exact in every dtype: 1e-9 added to a sum passes, float32 does not.
SHARP = Tolerance(2e-9, 4e-9)
SINGLE = Tolerance(1e-5, 3e-6)
PRINTED = Tolerance(0.0, 6e-5)  # published with four decimals
SLOPE = Tolerance(1e-6, 1e-8)  # finite differences in float64
LEADS = [
    ((), (4, 5, 3, 2)),
    ((), (1, 1, 1, 1)),
    ((2,), (3, 5, 4, 6)),
    ((2, 3), (2, 4, 3, 2)),
    ((1, 2, 2), (3, 2, 5, 4)),
]
KINDS = [torch.bool, torch.int64, torch.uint8, torch.float32, torch.float64]
OVERWRITTEN = "backward() fails: a tensor that PyTorch needs for the gradients was overwritten in place"

Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1.0]])
K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
SENTENCE = tuple(torch.from_numpy(x).float() for x in (Q, K, V))
WEIGHTS = np.array(
    [
        [0.1095, 0.2976, 0.1805, 0.1805, 0.2318],
        [0.4026, 0.0898, 0.2442, 0.1481, 0.1153],
        [0.1519, 0.2505, 0.2505, 0.1519, 0.1951],
        [0.1903, 0.1903, 0.1154, 0.3137, 0.1903],
        [0.1892, 0.1892, 0.1892, 0.1892, 0.2430],
    ]
)
OUTPUT = np.array(
    [
        [0.2254, 0.4135, 0.2964, 0.2964],
        [0.4602, 0.1475, 0.3018, 0.2058],
        [0.2495, 0.3481, 0.3481, 0.2495],
        [0.2854, 0.2854, 0.2106, 0.4089],
        [0.3108, 0.3108, 0.3108, 0.3108],
    ]
)
CAUSAL_ON = np.array([0.2350, 0.2350, 0.1425, 0.3875, 0])


# inputs, and helpers that call the student's code --------------------------------------------------------------------


def is_masked(call):
    return (len(call.args) > 3 and call.args[3] is not None) or call.kwargs.get("mask") is not None


def is_single(call):
    """Whether a call is not in half precision, where results depend on the style of the code."""
    return call.args[0].element_size() > 2


def tensors(*arrays, dtype=torch.float32):
    """Return NumPy arrays as tensors of one dtype."""
    return tuple(torch.from_numpy(np.array(array, dtype=np.float64)).to(dtype) for array in arrays)


@remembered
def random_qkv(rng, sizes, lead=(), dtype=torch.float32):
    """Return random queries, keys and values of (n_q, n_k, d_k, d_v), with leading dimensions."""
    n_q, n_k, d_k, d_v = sizes
    shapes = [(n_q, d_k), (n_k, d_k), (n_k, d_v)]
    return tensors(*(rng.normal(size=(*lead, *shape)) for shape in shapes), dtype=dtype)


@remembered
def random_mask(rng, shape):
    """Return a random mask of zeros and ones that allows a key in every row, and blocks one if there are several."""
    return torch.from_numpy(mixed_mask(rng, shape))


def double(tensor):
    """Return a tensor as a float64 array."""
    return tensor.double().numpy()


def layer_of(student, d_k, *more, training=None, **named):
    """Return a student's layer in the given mode; it is made together with its first call."""
    return student.ScaledDotProductAttention.made(d_k, *more, training=training is not False, **named)


def attended(value, case, of=""):
    """Return the output and the weights of a call on (q, k, v, ...) as finite float64 arrays, or fail."""
    q, k, v = case[:3]
    assert type(value) is tuple, f"{of} expected the pair (output, weights)".strip()
    assert len(value) == 2, f"{of} expected the pair (output, weights), got {len(value)} values".strip()
    for name, part in zip(("output", "weights"), value, strict=True):
        assert type(part) is torch.Tensor, f"{of} the {name} should be a tensor".strip()
    output = array_like(value[0], (*q.shape[:-1], v.shape[-1]), of=f"{of} the output".strip())
    return output, array_like(value[1], (*q.shape[:-1], k.shape[-2]), of=f"{of} the weights".strip())


def attend_many(layer, cases):
    """Call a layer on each (q, k, v) or (q, k, v, mask), in one round trip."""
    values = layer.call_many([arguments(*case) for case in cases])
    return [attended(value, case) for value, case in zip(values, cases, strict=True)]


def attend(student, *case):
    """Return the output and weights of a new layer of the right width."""
    return attend_many(layer_of(student, case[0].shape[-1]), [case])[0]


@contextmanager
def walking_back():
    """Turn an error of backward() about in-place changes into a failed assertion."""
    try:
        yield
    except StudentRaisedError as error:
        if re.search("in-?place", error.message):
            raise AssertionError(f"{OVERWRITTEN} ({error.message})") from None
        raise


def pulled(layer, case, cotangent, mask=None):
    """Return the vjp of a layer, or fail."""
    with walking_back():
        return layer.vjp(*case, cotangent=cotangent, **({} if mask is None else {"mask": mask}))


def gradients(found, case, names=NAMES):
    """Return the named gradients of a vjp as finite float64 arrays, and None for the others, or fail."""
    wanted = [x if name in names else None for name, x in zip(NAMES, case, strict=True)]
    cut = [x if grad is None else None for x, grad in zip(wanted, found.grads, strict=True)]
    assert_gradients(found, cut, NAMES)  # fails for every missing gradient
    return [
        None if x is None else array_like(grad, tuple(x.shape), of=f"the gradient of {name}")
        for name, x, grad in zip(NAMES, wanted, found.grads, strict=True)
    ]


def assert_attends(found, output, weights, tolerance=SINGLE, of=""):
    """Fail unless output and weights are as expected."""
    assert_close(found[1], weights, tolerance, of=f"{of} weights".strip())
    assert_close(found[0], output, tolerance, of=f"{of} output".strip())


# independent ways to compute the full answer --------------------------------------------------------------------------


@remembered
def oracle_attention(q, k, v, mask=None):
    """Compute each weight by itself: 1 divided by the sum of exp(other score - own score) over the allowed keys."""
    q, k, v = double(q), double(k), double(v)
    scores = np.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
    allowed = np.broadcast_to(True if mask is None else mask.numpy() != 0, scores.shape)
    ratios = np.where(allowed[..., None, :], np.exp(scores[..., None, :] - scores[..., :, None]), 0.0).sum(axis=-1)
    weights = np.where(allowed, 1.0 / np.where(allowed, ratios, 1.0), 0.0)
    return np.einsum("...ij,...jc->...ic", weights, v), weights


@remembered
def oracle_gradients(case, cotangent, allowed=None, factor=None):
    """Return autograd's gradients of the formula in float64, with weights as ratios; `factor` stands for dropout."""
    q, k, v = (x.double().clone().requires_grad_() for x in case)
    scores = torch.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
    exps = torch.exp(scores - scores.detach().amax(dim=-1, keepdim=True))
    exps = exps if allowed is None else exps * (allowed != 0)
    total = exps.sum(dim=-1, keepdim=True)
    weights = exps / (total + (total == 0))
    weights = weights if factor is None else weights * factor
    results = (torch.einsum("...ij,...jc->...ic", weights, v), weights)
    pairs = [(out, cot.double()) for out, cot in zip(results, cotangent, strict=True) if cot is not None]
    return torch.autograd.grad([out for out, _ in pairs], [q, k, v], [cot for _, cot in pairs], allow_unused=True)


@remembered
def oracle_builtin(case, mask=None, cotangent=None):
    """Return the result and the gradients of PyTorch's own attention, whose boolean masks mean the same as ours."""
    leaves = [x.clone().requires_grad_() for x in case]
    output = functional.scaled_dot_product_attention(*leaves, attn_mask=mask)
    return output.detach(), torch.autograd.grad(output, leaves, cotangent)


@remembered
def oracle_softmax_backward(grad, weights):
    """Return the gradient row by row, from the full Jacobian."""
    rows = [
        (np.diag(w) - np.outer(w, w)) @ g
        for g, w in zip(grad.reshape(-1, grad.shape[-1]), weights.reshape(-1, grad.shape[-1]), strict=True)
    ]
    return np.array(rows).reshape(grad.shape)


@remembered
def oracle_attention_backward(q, k, v, grad):
    """Return autograd's gradients of the formula, in float64."""
    cotangent = (torch.from_numpy(np.asarray(grad, dtype=np.float64)), None)
    return [g.numpy() for g in oracle_gradients(tensors(q, k, v, dtype=torch.float64), cotangent)]


# the layer, forwards --------------------------------------------------------------------------------------


@worth(1, "attention agrees with an independent formula for many shapes", target=CLASS)
def test_forward_agrees_with_the_oracle(student, rng, shown):
    for lead, sizes in LEADS:
        case = random_qkv(rng, sizes, lead)
        assert_attends(attend(student, *case), *oracle_attention(*case), of=f"q {tuple(case[0].shape)}:")
    seen = [arguments(*SENTENCE), arguments(*(torch.stack([x, x]) for x in SENTENCE))]
    where = lambda call: is_single(call) and not is_masked(call)  # noqa: E731
    shown(student, f"{CLASS}.forward", *seen, init=(4,), where=where, tolerance=SINGLE)


@worth(1, "attention with masks agrees with an independent formula", target=CLASS)
def test_masked_forward_agrees_with_the_oracle(student, rng, shown):
    shapes = [((), (4, 5), (4, 5)), ((), (3, 3), (3,)), ((2,), (4, 5), (2, 4, 5)), ((3,), (3, 3), (3, 1, 3))]
    shapes += [((2, 3), (3, 4), (3, 4)), ((2, 2), (3, 5), (2, 1, 1, 5)), ((2, 3), (2, 3), (2, 3, 2, 3))]
    cases = [
        (*random_qkv(rng, (*sizes, 3, 2), lead), random_mask(rng, shape).to(kind))
        for (lead, sizes, shape), kind in zip(shapes, [*KINDS, *KINDS[:2]], strict=True)
    ]
    for case, pair in zip(cases, attend_many(layer_of(student, 3), cases), strict=True):
        assert_attends(pair, *oracle_attention(*case), of=f"q {tuple(case[0].shape)}, mask {tuple(case[3].shape)}:")
    causal = torch.ones(5, 5).tril()
    seen = [arguments(*SENTENCE, causal), arguments(*SENTENCE, mask=causal), arguments(*SENTENCE, 1 - torch.eye(5))]
    where = lambda call: is_single(call) and is_masked(call)  # noqa: E731
    shown(student, f"{CLASS}.forward", *seen, init=(4,), where=where, tolerance=SINGLE)


@worth(1, "the sentence has the published weights and outputs, also with a causal mask", target=CLASS)
def test_forward_of_the_sentence(student):
    sentence = tensors(Q, K, V)
    x = np.array([[3, 1, 0, 0], [1, 4, 0, 0], [2, 2, 0, 0]])
    other = tensors(x, x, [[1, 0, 0, 0], [0, 1, 0, 0], [0.5, 0.5, 0, 0]])
    causal = (*sentence, torch.tril(torch.ones(5, 5)))
    plain, masked, third = attend_many(layer_of(student, 4), [sentence, causal, other])
    assert_attends(plain, OUTPUT, WEIGHTS, PRINTED)
    assert_close(masked[1][3], CAUSAL_ON, PRINTED, of="causal weights, row on")
    assert_close(third[1][0], np.array([0.6285, 0.1402, 0.2312]), PRINTED, of="another published example, weights")
    assert_close(third[0][0], np.array([0.7441, 0.2559, 0, 0]), PRINTED, of="another published example, output")


@worth(1, "four copies of the features act like queries twice as long: the scale is sqrt(d_k)", target=CLASS)
def test_scale_follows_the_width(student, rng):
    q, k, v = random_qkv(rng, (3, 5, 3, 2))
    broad, narrow = layer_of(student, 12), layer_of(student, 3)
    (wide,) = attend_many(broad, [(q.repeat(1, 4), k.repeat(1, 4), v)])
    long, plain, wider = attend_many(narrow, [(2 * q, k, v), (q, k, v), (q, k, v.repeat(1, 5))])
    assert_attends(wide, *long, of="features four times:")
    assert np.abs(wide[1] - 1 / 5).max() > 1e-2, "the weights are uniform for all scores"
    assert_close(wider[1], plain[1], SINGLE, of="weights with wider values")


@worth(1, "the output is the weighted mean of the values, and v does not change the weights", target=CLASS)
def test_forward_mixes_the_values(student, rng):
    q, k, v = random_qkv(rng, (4, 4, 3, 3))
    other, constant = random_qkv(rng, (4, 4, 3, 3))[2], torch.tensor([[7.0, -2.0, 3.0]]).repeat(4, 1)
    cases = [(q, k, v), (q, k, other), (q, k, 2 * v - other), (q, k, constant), (0 * q, k, v), (q, k[:1], v[:1])]
    one, two, both, same, even, single = attend_many(layer_of(student, 3), cases)
    assert_rows_sum_to_one(one[1], (4, 4), dtype=np.float32)
    assert_close(
        one[0], (one[1][:, :, None] * double(v)[None]).sum(axis=1), SINGLE, of="the output against the weights"
    )
    assert_attends(both, 2 * one[0] - two[0], one[1], Tolerance(1e-5, 1e-5), of="2v - u:")
    assert_close(same[0], double(constant), SINGLE, of="equal values")
    assert_close(even[0], np.stack([double(v).mean(axis=0)] * 4), SINGLE, of="queries of zeros")
    assert_attends(single, np.repeat(double(v)[:1], 4, axis=0), np.ones((4, 1)), of="a single key:")


@worth(1, "reordering the tokens only reorders the results", target=CLASS)
def test_forward_follows_its_tokens(student, rng):
    q, k, v = random_qkv(rng, (4, 5, 3, 2))
    rows, keys = [2, 0, 3, 1], [3, 0, 4, 1, 2]
    cases = [(q, k, v), (q[rows], k, v), (q, k[keys], v[keys]), (q[1:3], k, v)]
    plain, by_row, by_key, fewer = attend_many(layer_of(student, 3), cases)
    assert_rows_sum_to_one(plain[1], (4, 5), dtype=np.float32)
    assert_attends(by_row, plain[0][rows], plain[1][rows], of="queries in another order:")
    assert_attends(by_key, plain[0], plain[1][:, keys], of="keys and values in another order:")
    assert_attends(fewer, plain[0][1:3], plain[1][1:3], of="two of the queries alone:")


@worth(1.5, "each element of a batch gives the same result as alone, for any leading dimensions", target=CLASS)
def test_forward_of_batches(student, rng):
    q, k, v = random_qkv(rng, (4, 4, 4, 4), (2, 4))
    mask = random_mask(rng, (2, 4, 4, 4))
    cases = [(q[1], k[1], v[1]), (q, k, v), (q, k, v, mask), (q[:, None], k[:, None], v[:, None])]
    cases += [(q[1, b], k[1, b], v[1, b]) for b in (0, 2)]
    cases += [(q[1, b], k[1, b], v[1, b], mask[1, b]) for b in (0, 2)]
    batch, whole, masked, five, *pairs = attend_many(layer_of(student, 4), cases)
    alone = {0: pairs[0], 2: pairs[1], 4: pairs[2], 6: pairs[3]}
    for b in (0, 2):
        assert_rows_sum_to_one(alone[b][1], (4, 4), dtype=np.float32)
        assert_attends((batch[0][b], batch[1][b]), *alone[b], of=f"element {b}:")
        assert_attends((whole[0][1, b], whole[1][1, b]), *alone[b], of=f"element (1, {b}):")
        assert_attends((five[0][1, 0, b], five[1][1, 0, b]), *alone[b], of=f"element (1, 0, {b}):")
        assert_attends((masked[0][1, b], masked[1][1, b]), *alone[4 + b], of=f"element (1, {b}), masked:")


@worth(1.5, "a blocked key has no effect, for every dtype and shape of the mask", target=CLASS)
def test_forward_without_the_blocked_keys(student, rng):
    q, k, v = random_qkv(rng, (3, 5, 4, 2))
    mask, kept = torch.tensor([[1, 0, 1, 1, 0]]), [0, 2, 3]
    other_k, other_v = k.clone(), v.clone()
    other_k[1], other_k[4] = 1e3 * q[0], -40.0  # the first is by far the best match of query 0
    other_v[[1, 4]] = 1e3
    kinds = [*(mask.to(kind) for kind in KINDS), mask[0], mask.repeat(3, 1), mask[0].bool()]
    cases = [(q, k[kept], v[kept]), (q, other_k, other_v, mask), *((q, k, v, kind) for kind in kinds)]
    layer = layer_of(student, 4)
    short, changed, *masked = attend_many(layer, cases)
    assert_rows_sum_to_one(short[1], (3, 3), dtype=np.float32)
    for kind, pair in zip(kinds, masked, strict=True):
        of = f"mask {tuple(kind.shape)} of {kind.dtype}:"
        assert_close(pair[1][:, [1, 4]], np.zeros((3, 2)), of=f"{of} weights of blocked keys")
        assert_attends((pair[0], pair[1][:, kept]), *short, of=of)
    assert_attends(changed, *masked[0], of="with other numbers in the blocked keys:")
    named = attended(layer(mask=mask, v=v, k=k, q=q), (q, k, v), "arguments by name:")
    assert_attends(named, *masked[0], of="arguments by name:")


@worth(
    1, "a padding mask applies to all heads and queries of its sentence, and a column mask blocks queries", target=CLASS
)
def test_masks_of_batches(student, rng):
    q, k, v = random_qkv(rng, (3, 3, 4, 2), (3, 2))
    padding = torch.tensor([[1, 1, 1], [1, 0, 0], [1, 1, 0]])[:, None, None]
    causal, column = torch.tril(torch.ones(3, 3, dtype=torch.bool)), torch.tensor([[1.0], [0.0], [1.0]])
    cases = [(q, k, v, padding), (q, k, v, causal), (q[0], k[0], v[0], column), (q[0], k[0], v[0])]
    padded, past, rows, plain = attend_many(layer_of(student, 4), cases)
    assert_rows_sum_to_one(padded[1], (3, 2, 3, 3), dtype=np.float32)
    assert_close(padded[1][1], np.tile(np.array([1.0, 0, 0]), (2, 3, 1)), SINGLE, of="the sentence of one token")
    assert_close(padded[1][2, ..., 2], np.zeros((2, 3)), of="the padding of the last sentence")
    assert_rows_sum_to_one(past[1], (3, 2, 3, 3), dtype=np.float32)
    assert_close(past[1] * (1 - np.tri(3)), np.zeros((3, 2, 3, 3)), of="weights of the future")
    assert_close(past[0][..., 0, :], double(v)[..., 0, :], SINGLE, of="the first token gets its own value")
    assert_close(rows[1][:, 1], np.zeros((2, 3)), of="the blocked query of each head")
    assert_attends((rows[0][:, [0, 2]], rows[1][:, [0, 2]]), plain[0][:, [0, 2]], plain[1][:, [0, 2]], of="the others:")


@worth(1.5, "a query with every key blocked has weights of 0 and an output of 0", target=CLASS)
def test_forward_of_a_blocked_query(student, rng):
    q, k, v = random_qkv(rng, (3, 4, 2, 3))
    mask = torch.tensor([[1, 1, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0]])
    nothing = torch.zeros(3, 4, dtype=torch.bool)
    cases = [(q, k, v, mask), (q, k, v, mask.float()), (q, k, v, nothing), (40 * q, 40 * k, v, mask.bool())]
    first, second, empty, large = attend_many(layer_of(student, 2), cases)
    for output, weights in (first, second, large):
        assert_close(weights[1], np.zeros(4), of="weights of the blocked query")
        assert_close(output[1], np.zeros(3), of="output of the blocked query")
        assert_close(weights[2], np.array([0.0, 1, 0, 0]), SINGLE, of="a query with one key left")
        assert_close(output[2], double(v)[1], SINGLE, of="the output of a query with one key left")
        assert_close(weights[0].sum(), np.float64(1), SINGLE, of="the sum of the first row")
    assert_attends(empty, np.zeros((3, 3)), np.zeros((3, 4)), of="everything blocked:")
    for kind in half_dtypes():
        ((output, weights),) = attend_many(layer_of(student, 2), [(*(one.to(kind) for one in (q, k, v)), mask)])
        assert_close(weights[1], np.zeros(4), of=f"{kind}: weights of the blocked query")
        assert_close(output[1], np.zeros(3), of=f"{kind}: output of the blocked query")


@worth(1, "very large scores, positive or negative, do not overflow, and blocked keys keep the weight 0", target=CLASS)
def test_forward_of_large_scores(student):
    q, k = np.zeros((4, 16)), np.zeros((4, 16))
    q[:, 0] = [400, -400, 0, 800]
    q[2, 1] = 4
    k[:, 0] = [50, 49.99, 25, 49.98]  # scores are divided by 4: steps of 1 for the first query, of 2 for the last
    k[:, 1] = [1, 2, 3, 2]
    v = np.arange(8.0).reshape(4, 2)
    mask = torch.tensor([[0, 1, 1, 1], [1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1]])
    case = tensors(q, k, v, dtype=torch.float64)
    e1, e2, e4 = np.exp(-1.0), np.exp(-2.0), np.exp(-4.0)
    rows = np.array([[1, e1, 0, e2], [0, 0, 1, 0], [e2, e1, 1, e1], [1, e2, 0, e4]])
    left = np.array([[0, 1, 0, e1], [e1, 1, 0, 0], [e2, 0, 1, 0], [0, 1, 0, e2]])
    low_q, low_k = np.zeros((1, 16)), np.zeros((3, 16))
    low_q[0, 0], low_k[:2, 0] = 1e5, -8e5  # two allowed scores of -2e10 next to a blocked score of 0
    low = (*tensors(low_q, low_k, v[:3], dtype=torch.float64), torch.tensor([1.0, 1.0, 0.0]))
    *found, lowest = attend_many(layer_of(student, 16), [case, (*case, mask), low])
    assert_attends(lowest, v[:2].mean(axis=0)[None], np.array([[0.5, 0.5, 0]]), PRINTED, of="very low scores, allowed:")
    for name, pair, shares in zip(("plain:", "masked:"), found, (rows, left), strict=True):
        shares = shares / shares.sum(axis=1, keepdims=True)
        output = (shares[:, :, None] * v[None]).sum(axis=1)
        assert_attends(pair, output, shares, DOUBLE, of=name)


@worth(1, "results and gradients agree with PyTorch's own attention, also with boolean masks", target=CLASS)
def test_forward_agrees_with_the_builtin(student, rng):
    for lead, sizes, masked in [((2, 3), (4, 5, 16, 2), True), ((2, 1), (3, 3, 16, 16), False)]:
        case = random_qkv(rng, sizes, lead, torch.float64)
        mask = random_mask(rng, (*lead, *sizes[:2])).bool() if masked else None
        if mask is not None:
            mask[..., 1, :] = False
        cotangent = tensors(rng.normal(size=(*lead, sizes[0], sizes[3])), dtype=torch.float64)[0]
        output, grads = oracle_builtin(case, mask, cotangent)
        found = pulled(layer_of(student, sizes[2]), case, (cotangent, None), mask)
        assert_close(attended(found.value, case)[0], output.numpy(), SHARP, of="output")
        assert_gradients(found, grads, NAMES, SHARP)


# the layer, backwards -------------------------------------------------------------------------------------


@worth(1.5, "the gradients from output and weights agree with those of an independent formula", target=CLASS)
def test_gradients_agree_with_the_oracle(student, rng):
    layer = layer_of(student, 16)
    for lead, (n_q, n_k), masked in [((), (4, 5), False), ((2,), (3, 3), True), ((2, 2), (2, 4), True)]:
        case = random_qkv(rng, (n_q, n_k, 16, 2), lead, torch.float64)
        mask = random_mask(rng, (n_q, n_k)).to(torch.float32) if masked else None
        shapes = (*lead, n_q, 2), (*lead, n_q, n_k)
        cotangent = tensors(*(rng.normal(size=shape) for shape in shapes), dtype=torch.float64)
        found = pulled(layer, case, cotangent, mask)
        assert_gradients(found, oracle_gradients(case, cotangent, mask), NAMES, SHARP)


@worth(1.5, "the gradients agree with finite differences of the layer itself, for any shape and mask", target=CLASS)
def test_gradients_are_slopes(student, rng):
    layer = layer_of(student, 4)
    for lead, sizes, masked in [((), (3, 4, 4, 2), False), ((2,), (3, 3, 4, 4), True)]:
        case = random_qkv(rng, sizes, lead, torch.float64)
        kwargs = {"mask": random_mask(rng, sizes[:2]).bool()} if masked else {}
        shapes = (*lead, sizes[0], sizes[3]), (*lead, *sizes[:2])
        cotangent = tensors(*(rng.normal(size=shape) for shape in shapes), dtype=torch.float64)
        with walking_back():
            assert_gradients_match_differences(layer, case, cotangent, rng, kwargs=kwargs, of=NAMES)


@worth(1.5, "gradients reach q, k and v from the output, and q and k from the weights, also after eval()", target=CLASS)
def test_gradients_reach_everything(student, rng):
    case = random_qkv(rng, (3, 4, 4, 2), (2,))
    c_out, c_weights = tensors(rng.normal(size=(2, 3, 2)), rng.normal(size=(2, 3, 4)))
    layer = layer_of(student, 4, 0.5, training=False)  # gradients of a trained layer are needed, too
    mask = torch.tensor([1, 1, 0, 1])
    for cotangent, names, given in [((c_out, None), NAMES, None), ((None, c_weights), ("q", "k"), mask)]:
        found = pulled(layer, case, cotangent, given)
        attended(found.value, case)
        for name, grad in zip(names, gradients(found, case, names), strict=False):
            assert np.abs(grad).max() > 1e-4, f"the gradient of {name} is 0"


@worth(1, "changes that do not affect the result have a gradient of 0, and v gets its full gradient", target=CLASS)
def test_gradients_of_what_changes_nothing(student, rng):
    q, k, v = random_qkv(rng, (3, 4, 16, 2), (2,), torch.float64)
    case = q / 4, k, v  # small scores: gradients do not vanish, whatever the scale is
    c_out, c_weights = tensors(rng.normal(size=(2, 3, 2)), rng.normal(size=(2, 3, 4)), dtype=torch.float64)
    layer = layer_of(student, 16)
    found = pulled(layer, case, (c_out, c_weights))
    weights = attended(found.value, case)[1]
    by_q, by_k, by_v = gradients(found, case)
    assert np.abs(by_q).max() > 1e-3, "the gradient of q is 0"
    assert_close(by_k.sum(axis=-2), np.zeros((2, 16)), SHARP, of="the sum of the gradients of all keys")
    assert_close(
        by_v, np.einsum("bij,bic->bjc", weights, c_out.numpy()), SHARP, of="the gradient of v against the weights"
    )
    turned = (by_q * double(case[0])).sum(axis=(1, 2)), (by_k * double(case[1])).sum(axis=(1, 2))
    assert_close(turned[0], turned[1], SHARP, of="queries twice as long, compared with keys twice as long")
    same = pulled(layer, case, (None, torch.ones(2, 3, 4, dtype=torch.float64)))
    for name, grad in zip("qk", gradients(same, case, ("q", "k")), strict=False):
        assert_close(grad, np.zeros(grad.shape), SHARP, of=f"weights that always sum to 1: the gradient of {name}")


@worth(1, "blocked keys have a gradient of 0, and the other gradients are the same as without them", target=CLASS)
def test_gradients_of_blocked_keys(student, rng):
    q, k, v = random_qkv(rng, (3, 5, 4, 2), (), torch.float64)
    kept, away = [0, 2, 3], [1, 4]
    c_out = tensors(rng.normal(size=(3, 2)), dtype=torch.float64)[0]
    layer = layer_of(student, 4)
    short = gradients(pulled(layer, (q, k[kept], v[kept]), (c_out, None)), (q, k[kept], v[kept]))
    for kind in (torch.bool, torch.float32):
        mask = torch.tensor([1, 0, 1, 1, 0]).to(kind)
        by_q, by_k, by_v = gradients(pulled(layer, (q, k, v), (c_out, None), mask), (q, k, v))
        assert_close(by_q, short[0], SINGLE, of="the gradient of q")
        for name, grad, rest in (("k", by_k, short[1]), ("v", by_v, short[2])):
            assert_close(grad[away], np.zeros(grad[away].shape), of=f"the gradient of blocked rows of {name}")
            assert_close(grad[kept], rest, SINGLE, of=f"the gradient of the other rows of {name}")


@worth(1.5, "gradients through a fully blocked row are 0, and the other rows keep their gradients", target=CLASS)
def test_gradients_of_a_blocked_query(student, rng):
    q, k, v = random_qkv(rng, (3, 4, 4, 2))
    c_out, c_weights = tensors(rng.normal(size=(3, 2)), rng.normal(size=(3, 4)))
    mask = torch.tensor([[1, 1, 0, 1], [0, 0, 0, 0], [0, 1, 1, 0]])
    layer, rest = layer_of(student, 4), [0, 2]
    alone = pulled(layer, (q[rest], k, v), (c_out[rest], c_weights[rest]), mask[rest])
    expected = gradients(alone, (q[rest], k, v))
    for kind in (torch.bool, torch.float32):
        found = pulled(layer, (q, k, v), (c_out, c_weights), mask.to(kind))
        assert_close(attended(found.value, (q, k, v))[1][1], np.zeros(4), of="weights of the blocked query")
        by_q, by_k, by_v = gradients(found, (q, k, v))
        assert_close(by_q[1], np.zeros(4), of="the gradient of the blocked query")
        assert_close(by_q[rest], expected[0], SINGLE, of="the gradient of the other queries")
        assert_close(by_k, expected[1], SINGLE, of="the gradient of k")
        assert_close(by_v, expected[2], SINGLE, of="the gradient of v")
    found = pulled(layer, (q, k, v), (c_out, c_weights), torch.zeros(3, 4))
    for name, grad in zip(NAMES, gradients(found, (q, k, v)), strict=True):
        assert_close(grad, np.zeros(grad.shape), of=f"everything blocked: the gradient of {name}")


# the layer in its two modes -------------------------------------------------------------------------------


@worth(1.5, "after eval() nothing is dropped and nothing is divided, for every dropout", target=CLASS)
def test_eval_drops_nothing(student, rng):
    case = random_qkv(rng, (4, 5, 4, 2), (2,))
    mask = random_mask(rng, (4, 5))
    student.seed(7)
    layer = layer_of(student, 4, 0.5, training=False)
    plain, again, masked = attend_many(layer, [case, case, (*case, mask)])
    assert_rows_sum_to_one(plain[1], (2, 4, 5), dtype=np.float32)
    assert_close(plain[0], np.einsum("bij,bjc->bic", plain[1], double(case[2])), SINGLE, of="output against weights")
    assert_attends(again, *plain, of="a second time:")
    assert_rows_sum_to_one(masked[1], (2, 4, 5), dtype=np.float32)
    layer.train()
    layer(*case)
    layer.eval()
    assert_attends(attend_many(layer, [case])[0], *plain, of="after training:")


@worth(1, "a layer without dropout gives the same in training as after eval()", target=CLASS)
def test_no_dropout_is_the_same_in_both_modes(student, rng):
    case = random_qkv(rng, (4, 6, 4, 2), (2,))
    mask = random_mask(rng, (4, 6))
    mask[2] = 0
    student.seed(7)
    layer = layer_of(student, 4)
    fresh, blocked = attend_many(layer, [case, (*case, mask)])
    layer.eval()
    calm, still = attend_many(layer, [case, (*case, mask)])
    assert_rows_sum_to_one(fresh[1], (2, 4, 6), dtype=np.float32)
    assert_attends(fresh, *calm, of="a new layer, compared with eval():")
    assert_attends(blocked, *still, of="a new layer, compared with eval(), masked:")
    named = attend_many(layer_of(student, d_k=4, dropout=0.0), [case])[0]
    assert_attends(named, *calm, of="a layer with dropout=0.0:")


@worth(
    2,
    "in training a weight is 0 or divided by 1 - dropout, and the output is computed from the returned weights",
    target=CLASS,
)
def test_dropout_of_weights(student, rng):
    case = random_qkv(rng, (8, 8, 4, 3), (4,))
    mask = random_mask(rng, (8, 8))
    mask[5] = 0
    cases = [case, (*case, mask)]
    whole = attend_many(layer_of(student, 4), cases)
    for p in (0.5, 0.2):
        student.seed(11)
        found = attend_many(layer_of(student, 4, dropout=p), cases)
        dropped = (found[0][1] == 0) & (whole[0][1] != 0)  # without a mask: it may leave few weights to drop
        assert dropped.any(), "nothing is dropped in training"
        for (output, weights), (_, plain) in zip(found, whole, strict=True):
            kept = weights != 0
            assert kept.any(), "everything is dropped"
            lost = ((plain != 0).all(axis=-1) & ~kept.any(axis=-1)).sum()  # eight keys each: a chance of 1 in 400 000
            assert p > 0.2 or not lost, f"with dropout {p}, {lost} of 32 queries have lost all their weights at once"
            assert_close(weights[kept], plain[kept] / (1 - p), SINGLE, of=f"kept weights, with dropout {p}")
            mixed = np.einsum("bij,bjc->bic", weights, double(case[2]))
            assert_close(output, mixed, SINGLE, of="the output against the returned weights")


@worth(1, "the share of dropped weights is about `dropout`, and each weight is dropped independently", target=CLASS)
def test_dropout_share(student, rng):
    case = random_qkv(rng, (16, 16, 4, 2), (2, 2))
    for p in (0.25, 0.7):
        student.seed(5)
        layer = layer_of(student, 4, p, training=True)
        weights = attend_many(layer, [case])[0][1].reshape(4, 16, 16)
        share = float((weights == 0).mean())
        assert abs(share - p) < 0.1, f"with dropout {p}, a share of {share:.2f} of 1024 weights is dropped"
        patterns = [weights == 0, np.swapaxes(weights, 1, 2) == 0]
        for pattern, what in zip(patterns, ("queries", "keys"), strict=True):
            distinct = len({row.tobytes() for row in pattern[0]})
            assert distinct > 4, f"the same weights are dropped for many {what}: {distinct} patterns in 16"
        tables = len({table.tobytes() for table in patterns[0]})
        assert tables == 4, f"the same weights are dropped in several sentences: {tables} patterns in 4"


@worth(1, "in training two calls drop different weights, and train() and eval() switch back and forth", target=CLASS)
def test_modes_switch(student, rng):
    case = random_qkv(rng, (6, 6, 4, 2), (2,))
    student.seed(3)
    layer, other = layer_of(student, 4, 0.5), layer_of(student, 4, 0.0)
    first, second = attend_many(layer, [case, case])
    assert (first[1] == 0).any(), "a new layer is in training, but nothing is dropped"
    assert ((first[1] == 0) != (second[1] == 0)).any(), "two calls in training drop the same weights"
    assert ((first[1][0] == 0) != (first[1][1] == 0)).any(), "the same weights are dropped in two sentences of a batch"
    layer.eval()
    assert_rows_sum_to_one(attend_many(layer, [case])[0][1], (2, 6, 6), dtype=np.float32)
    layer.train()
    third = attend_many(layer, [case])[0]
    assert (third[1] == 0).any(), "after eval() and train(), nothing is dropped any more"
    assert_rows_sum_to_one(attend_many(other, [case])[0][1], (2, 6, 6), dtype=np.float32)


@worth(1.5, "in training, gradients pass through kept weights only", target=CLASS)
def test_gradients_with_dropout(student, rng):
    q, k, v = random_qkv(rng, (5, 6, 16, 3), (2,), torch.float64)
    case = q / 4, k, v  # small scores: gradients do not vanish, whatever the scale is
    c_out = tensors(rng.normal(size=(2, 5, 3)), dtype=torch.float64)[0]
    mask = random_mask(rng, (5, 6))
    mask[3] = 0
    student.seed(13)
    layer = layer_of(student, 16, 0.5, training=True)
    for seen in (None, mask.bool()):
        found = pulled(layer, case, (c_out, None), seen)
        weights = attended(found.value, case)[1]
        by_q, by_k, by_v = gradients(found, case)
        assert_close(by_v, np.einsum("bij,bic->bjc", weights, c_out.numpy()), SHARP, of="the gradient of v")
        assert_close(by_k.sum(axis=-2), np.zeros((2, 16)), SHARP, of="the sum of the gradients of all keys")
        # With a mask, dropout may leave one key to each query. A wrong formula then gives 0, but only for some masks.
        assert seen is not None or np.abs(by_q).max() > 1e-3, "the gradient of q is 0"
        lengths = (by_q * double(case[0])).sum(axis=(1, 2)), (by_k * double(case[1])).sum(axis=(1, 2))
        assert_close(lengths[0], lengths[1], SHARP, of="queries twice as long, compared with keys twice as long")


@worth(1, "the gradients in training agree with those of an independent formula", target=CLASS)
def test_gradients_with_dropout_agree_with_the_oracle(student, rng):
    case = random_qkv(rng, (5, 6, 16, 3), (2,), torch.float64)
    cotangent = tensors(rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 5, 6)), dtype=torch.float64)
    student.seed(17)
    layer = layer_of(student, 16, 0.75, training=True)
    found = pulled(layer, case, cotangent)
    weights = attended(found.value, case)[1]
    factor = torch.from_numpy((weights != 0) / 0.25)  # 4 is exact in every dtype
    assert_gradients(found, oracle_gradients(case, cotangent, factor=factor), NAMES, SHARP)


# the layer: errors, arguments, state and dtypes -----------------------------------------------------------


@worth(1, "sizes of q, k and v that disagree raise a ValueError that names both sizes", target=CLASS)
def test_forward_refuses_sizes_that_disagree(student, rng):
    d = int(rng.integers(7, 20))
    widths = [((2, 3), (4, 6), (4, 5)), ((2, 2, 3), (2, 4, d), (2, 4, 5))]
    lengths = [((2, 3), (4, 3), (6, 5)), ((2, 3), (d, 3), (1, 5)), ((2, 2, 3), (2, 6, 3), (2, 4, 5))]
    layer, narrow = layer_of(student, 3), layer_of(student, 1)
    for sizes, numbers in [(s, (s[0][-1], s[1][-1])) for s in widths] + [(s, (s[1][-2], s[2][-2])) for s in lengths]:
        assert_raises(ValueError, lambda s=sizes: layer(*(torch.ones(size) for size in s)), *numbers)
    assert_raises(ValueError, lambda: narrow(torch.ones(2, 1), torch.ones(4, d), torch.ones(4, 5)), 1, d)


@worth(0.5, "results do not depend on earlier calls or other layers, and the layer has no parameters", target=CLASS)
def test_forward_does_not_remember(student, rng):
    case, other = random_qkv(rng, (3, 3, 4, 2)), random_qkv(rng, (3, 3, 4, 2))
    mask, open_row = torch.tril(torch.ones(3, 3)), torch.ones(3)
    layer, wide = layer_of(student, 4), layer_of(student, 16)
    cases = [case, (*case, mask), other, (*other, open_row), case, (*case, mask), random_qkv(rng, (2, 5, 4, 1), (2,))]
    pairs = attend_many(layer, cases)
    assert_rows_sum_to_one(pairs[0][1], (3, 3), dtype=np.float32)
    assert_attends(pairs[4], *pairs[0], of="the same call again:")
    assert_attends(pairs[5], *pairs[1], of="the same masked call again:")
    assert np.abs(pairs[2][1] - pairs[0][1]).max() > 1e-3, "other queries and keys give the same weights"
    (long,) = attend_many(wide, [(case[0].repeat(1, 4) / 2, case[1].repeat(1, 4), case[2])])
    assert_attends(long, *pairs[0], of="features four times in another layer, queries half as long:")
    assert_attends(attend_many(layer, [case])[0], *pairs[0], of="after another layer was used:")
    names = ", ".join(layer.parameters())
    assert not names, f"this layer has nothing to learn, but it has the parameters {names}"


@worth(1, "float64 input gives float64 precision, also after layer.double()", target=CLASS)
def test_forward_of_float64(student, rng):
    case = random_qkv(rng, (3, 4, 4, 2), (2,), torch.float64)
    mask = random_mask(rng, (3, 4))
    layer = layer_of(student, 4)
    layer.double()
    plain, masked = attend_many(layer, [case, (*case, mask.float())])
    for name, (output, weights) in (("plain", plain), ("masked", masked)):
        assert_close(weights.sum(axis=-1), np.ones((2, 3)), DOUBLE, of=f"{name}: the sums of the weights")
        mixed = np.einsum("bij,bjc->bic", weights, case[2].numpy())
        assert_close(output, mixed, DOUBLE, of=f"{name}: the output against the weights")
    # Two keys that differ very little: only float64 can show the difference of their weights
    near = torch.tensor([[1.0, 0, 0, 0], [1.0 + 2e-9, 0, 0, 0]], dtype=torch.float64)
    weights = attend_many(layer, [(near[:1], near, near)])[0][1]
    assert_close(
        1e9 * np.log(weights[0, 1] / weights[0, 0]), 1.0, Tolerance(1e-3, 0.0), of="scores 1e-9 apart, in billionths"
    )


@worth(1.25, "output and weights have the dtype of q, k and v, for every dtype of the mask", target=CLASS)
def test_forward_dtype(student):
    q, k, v = [[1, 2, 0, 0], [0, 1, 1, 0]], [[1, 1, 0, 0], [2, 0, 0, 0], [0, 1, 0, 1]], [[1, 2], [3, 4], [5, 6]]
    mask = torch.tensor([[1, 0, 1], [0, 1, 1]])
    layer = layer_of(student, 4)
    exact = attended(layer(*tensors(q, k, v), mask), tensors(q, k, v))
    for dtype in (torch.float32, torch.float64, *half_dtypes()):
        case = tensors(q, k, v, dtype=dtype)
        masks = [None, mask.bool(), mask.double()]
        try:
            values = layer.call_many([arguments(*case, mask=one) for one in masks])
        except StudentRaisedError as error:
            raise AssertionError(f"with q, k and v of {dtype}: {error}") from None
        for given, value in zip(masks, values, strict=True):
            pair = attended(value, case, f"{dtype}:")
            for part in value:
                assert_dtype(part, dtype)
            if given is not None:
                assert_attends(pair, *exact, Tolerance(2e-2, 1e-2), of=f"{dtype}:")


# softmax_backward -----------------------------------------------------------------------------------------


def softmax(x):
    """Return the softmax over the last axis, to make inputs for tests."""
    exps = np.exp(x - x.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


def arrays(value, shapes, names):
    """Return the arrays of a tuple as finite float64 arrays, or fail."""
    wanted = ", ".join(names)
    assert type(value) is tuple, f"expected a tuple ({wanted})"
    assert len(value) == len(shapes), f"expected a tuple ({wanted}), got {len(value)} values"
    return [array_of(one, shape, name) for one, shape, name in zip(value, shapes, names, strict=True)]


def array_of(value, shape, of="the result"):
    """Return a NumPy array as a finite float64 array, or fail; a tensor does not count as an array."""
    found = array_like(value, shape, of=of)
    assert type(value) is not torch.Tensor, f"{of} should be a NumPy array, not a tensor"
    return found


def back(student, cases):
    """Call softmax_backward on each pair of gradient and weights."""
    values = student.softmax_backward.call_many([arguments(*case) for case in cases])
    return [
        array_of(value, case[0].shape, f"case {i}") for i, (value, case) in enumerate(zip(values, cases, strict=True))
    ]


@worth(1.25, "the gradient agrees with the full Jacobian, row by row", target=SOFTMAX)
def test_softmax_backward_agrees_with_the_oracle(student, rng, shown):
    shapes = [(3,), (2, 4), (4, 4), (1, 1), (2, 3, 5), (3, 3, 3), (2, 2, 3, 2)]
    cases = [(rng.normal(size=shape), softmax(rng.normal(scale=2, size=shape))) for shape in shapes]
    cases.append(cases[1])  # again, after other calls
    for case, found in zip(cases, back(student, cases), strict=True):
        assert_close(found, oracle_softmax_backward(*case), of=f"shape {case[0].shape}")
    named = student.softmax_backward(weights=cases[1][1], grad_weights=cases[1][0])
    assert_close(named, oracle_softmax_backward(*cases[1]), of="arguments by name")
    seen = [arguments(np.ones(shape), np.ones(shape)) for shape in [(2,), (5,), (2, 2), (5, 5)]]
    shown(student, SOFTMAX, *seen, where=lambda call: all(x.dtype == np.float64 for x in call.args))


@worth(1, "the gradient agrees with finite differences of a softmax in any direction", target=SOFTMAX)
def test_softmax_backward_is_a_slope(student, rng):
    for shape in [(4, 4), (2, 3, 5)]:
        scores, grad = rng.normal(scale=2, size=shape), rng.normal(size=shape)
        (found,) = back(student, [(grad, softmax(scores))])
        for _ in range(2):
            way = rng.normal(size=shape)
            rise = (grad * (softmax(scores + 1e-5 * way) - softmax(scores - 1e-5 * way))).sum() / 2e-5
            assert_close((found * way).sum(), rise, SLOPE, of="the slope of the softmax")


@worth(1, "every row of the gradient sums to 0", target=SOFTMAX)
def test_softmax_backward_sums_to_zero(student, rng):
    cases = [(rng.normal(size=shape), softmax(rng.normal(size=shape))) for shape in [(5,), (4, 4), (2, 3, 6)]]
    for (grad, _), found in zip(cases, back(student, cases), strict=True):
        assert np.abs(found).max() > 1e-3, "the gradient is 0"
        assert_close(found.sum(axis=-1), np.zeros(grad.shape[:-1]), Tolerance(0.0, 1e-12), of="the sums of the rows")
    weights = softmax(rng.normal(size=(3, 3)))
    level, once, shifted = back(
        student, [(np.full((3, 3), 5.0), weights), (weights, weights), (weights + 3.0, weights)]
    )
    assert_close(level, np.zeros((3, 3)), Tolerance(0.0, 1e-12), of="the same gradient for every weight")
    assert_close(shifted, once, Tolerance(1e-9, 1e-12), of="a gradient of the weights that is larger by 3 everywhere")


@worth(1, "of two scores, one gains what the second loses", target=SOFTMAX)
def test_softmax_backward_of_two(student):
    first = np.array([0.5, 0.25, 0.9, 1.0, 0.0])
    weights = np.stack([first, 1 - first], axis=-1)
    grad = np.array([[1.0, 0], [2, 1], [0, 5], [3, 7], [1, 4]])
    expected = first * (1 - first) * (grad[:, 0] - grad[:, 1])
    (found,) = back(student, [(grad, weights)])
    assert_close(found, np.stack([expected, -expected], axis=-1))


@worth(0.75, "a row with one weight of 1, or with only zeros, has a gradient of 0", target=SOFTMAX)
def test_softmax_backward_of_certain_rows(student, rng):
    weights = np.array([[0, 1.0, 0, 0], [0, 0, 0, 0], [0.25, 0.25, 0.25, 0.25], [0.5, 0, 0.5, 0]])
    grad = rng.normal(size=(4, 4)) + np.arange(4.0)
    (found,) = back(student, [(grad, weights)])
    assert_close(found[0], np.zeros(4), Tolerance(0.0, 1e-12), of="one weight of 1")
    assert_close(found[1], np.zeros(4), of="weights that are all 0")
    assert_close(found[2], (grad[2] - grad[2].mean()) / 4, of="four equal weights")
    assert_close(found[3, [1, 3]], np.zeros(2), of="weights of 0 in a row")
    assert_close(found[3, 0], (grad[3, 0] - grad[3, 2]) / 4, of="two halves")


@worth(0.75, "each row is independent of the others, and reordering its entries reorders the gradient", target=SOFTMAX)
def test_softmax_backward_of_rows(student, rng):
    grad, weights = rng.normal(size=(2, 4, 4)), softmax(rng.normal(size=(2, 4, 4)))
    order = [2, 0, 3, 1]
    cases = [(grad, weights), (grad[1], weights[1]), (grad[1, 2], weights[1, 2])]
    cases += [(grad[:, order], weights[:, order]), (grad[..., order], weights[..., order])]
    whole, table, row, rows, entries = back(student, cases)
    assert np.abs(whole).max() > 1e-3, "the gradient is 0"
    assert_close(table, whole[1], of="one table of two")
    assert_close(row, whole[1, 2], of="a single row")
    assert_close(rows, whole[:, order], of="rows in another order")
    assert_close(entries, whole[..., order], of="entries in another order")


@worth(0.75, "the result is linear in grad_weights, and the Jacobian is symmetric", target=SOFTMAX)
def test_softmax_backward_is_linear(student, rng):
    weights = softmax(rng.normal(size=(3, 5)))
    one, two = rng.normal(size=(2, 3, 5))
    by_one, by_two, both = back(student, [(one, weights), (two, weights), (3 * one - two, weights)])
    assert np.abs(by_one).max() > 1e-3, "the gradient is 0"
    assert_close(both, 3 * by_one - by_two, of="three times one gradient minus another")
    assert_close((by_one * two).sum(axis=-1), (by_two * one).sum(axis=-1), of="the Jacobian is symmetric")


@worth(0.5, "float32 and integer inputs give the right gradients", target=SOFTMAX)
def test_softmax_backward_of_other_dtypes(student, rng, shown):
    grad, weights = rng.integers(-4, 5, size=(3, 4)), softmax(rng.normal(size=(3, 4)))
    grad[:, 0] = [5, -5, 6]
    certain = np.array([[0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0]])
    cases = [(grad.astype(np.float32), weights.astype(np.float32)), (grad.astype(float), weights), (grad, weights)]
    low, high, whole, sure = back(student, [*cases, (grad, certain)])
    assert np.abs(high).max() > 1e-3, "the gradient is 0"
    assert_close(high.sum(axis=-1), np.zeros(3), Tolerance(0.0, 1e-12), of="the sums of the rows")
    assert_close(low, high.astype(np.float32), of="float32")
    assert_close(whole, high, of="a gradient of integers")
    assert_close(sure, np.zeros((3, 4)), of="weights of integers")
    shown(student, SOFTMAX, where=lambda call: any(x.dtype != np.float64 for x in call.args))


@worth(0.5, "softmax_backward keeps float32 and float64, and returns float64 for integers", target=SOFTMAX)
def test_softmax_backward_dtype(student):
    grad, weights = np.array([[1, 0, 2]]), np.array([[0.5, 0.25, 0.25]])
    cases = [(grad.astype(kind), weights.astype(kind)) for kind in (np.float32, np.float64)]
    cases.append((grad, np.array([[0, 1, 0]])))
    values = student.softmax_backward.call_many([arguments(*case) for case in cases])
    for value, kind in zip(values, (np.float32, np.float64, np.float64), strict=True):
        array_of(value, (1, 3))
        assert_dtype(value, kind)


# attention_backward ---------------------------------------------------------------------------------------


def random_arrays(rng, sizes, lead=()):
    """Return random Q, K, V and grad_output of (n_q, n_k, d_k, d_v), with leading dimensions."""
    n_q, n_k, d_k, d_v = sizes
    return tuple(rng.normal(size=(*lead, *shape)) for shape in [(n_q, d_k), (n_k, d_k), (n_k, d_v), (n_q, d_v)])


def backwards(student, cases):
    """Call attention_backward on each (Q, K, V, grad_output)."""
    values = student.attention_backward.call_many([arguments(*case) for case in cases])
    names = ("grad_Q", "grad_K", "grad_V")
    return [arrays(value, [x.shape for x in case[:3]], names) for value, case in zip(values, cases, strict=True)]


def assert_backward(found, expected, tolerance=None, of=""):
    """Fail unless the three gradients are as expected."""
    for name, ours, theirs in zip(("grad_Q", "grad_K", "grad_V"), found, expected, strict=True):
        assert_close(ours, theirs, tolerance, of=f"{of} {name}".strip())


def attention(Q, K, V):
    """Return the attention of arrays, for finite differences."""
    return softmax(Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])) @ V


@worth(1.5, "the three gradients agree with those of autograd, for many shapes", target=BACKWARD)
def test_attention_backward_agrees_with_the_oracle(student, rng, shown):
    for leads in ([((), (4, 4, 4, 4)), ((4,), (4, 4, 4, 4))], LEADS):
        cases = [random_arrays(rng, sizes, lead) for lead, sizes in leads]
        for case, found in zip(cases, backwards(student, cases), strict=True):
            assert_backward(found, oracle_attention_backward(*case), of=f"Q {case[0].shape}, V {case[2].shape}:")
    seen = arguments(*(np.ones((5, 4)) for _ in range(4)))
    shown(student, BACKWARD, seen, where=lambda call: all(x.dtype == np.float64 for x in call.args))


@worth(1.5, "the three gradients agree with finite differences of attention", target=BACKWARD)
def test_attention_backward_is_a_slope(student, rng):
    for lead, sizes in [((), (3, 5, 4, 2)), ((), (4, 4, 4, 4)), ((2,), (3, 3, 2, 4))]:
        *inputs, grad = random_arrays(rng, sizes, lead)
        (found,) = backwards(student, [(*inputs, grad)])
        for place, name in enumerate(("grad_Q", "grad_K", "grad_V")):
            way = rng.normal(size=inputs[place].shape)
            ends = []
            for sign in (1, -1):
                moved = [x + sign * 1e-5 * way if i == place else x for i, x in enumerate(inputs)]
                ends.append((grad * attention(*moved)).sum())
            assert_close((found[place] * way).sum(), (ends[0] - ends[1]) / 2e-5, SLOPE, of=f"the slope along {name}")


@worth(1, "grad_V, added up over the keys, is grad_output, added up over the queries", target=BACKWARD)
def test_attention_backward_of_values(student, rng):
    Q, K, V, grad = random_arrays(rng, (4, 5, 3, 2), (2,))
    (found,) = backwards(student, [(Q, K, V, grad)])
    assert_close(found[2].sum(axis=-2), grad.sum(axis=-2), of="grad_V, added up over the keys")
    even, single = backwards(student, [(0 * Q, K, V, grad), (Q, K[:, :1], V[:, :1], grad)])
    spread = np.repeat(grad.mean(axis=-2, keepdims=True) * 4 / 5, 5, axis=-2)
    assert_close(even[2], spread, of="queries of zeros: grad_V")
    assert_close(even[1], np.zeros(K.shape), Tolerance(0.0, 1e-12), of="queries of zeros: grad_K")
    assert_close(single[2], grad.sum(axis=-2, keepdims=True), of="a single key: grad_V")
    assert_close(single[0], np.zeros(Q.shape), Tolerance(0.0, 1e-12), of="a single key: grad_Q")


@worth(1, "changes that do not affect the output have a gradient of 0", target=BACKWARD)
def test_attention_backward_of_what_changes_nothing(student, rng):
    Q, K, V, grad = random_arrays(rng, (4, 4, 4, 4), (2,))
    constant = np.broadcast_to(rng.normal(size=(2, 1, 4)), V.shape).copy()
    cases = [(Q, K, V, grad), (Q, K, constant, grad), (Q, K, V + 7.0, grad), (4e3 * Q, K, constant, grad)]
    plain, level, shifted, steep = backwards(student, cases)
    none = Tolerance(0.0, 1e-11)
    assert np.abs(plain[0]).max() > 1e-3, "grad_Q is 0"
    assert_close(plain[1].sum(axis=-2), np.zeros((2, 4)), none, of="the sum of grad_K over all keys")
    assert_close(level[0], np.zeros(Q.shape), none, of="equal values: grad_Q")
    assert_close(level[1], np.zeros(K.shape), none, of="equal values: grad_K")
    assert_close(steep[0], np.zeros(Q.shape), Tolerance(0.0, 1e-8), of="equal values, and scores of thousands: grad_Q")
    assert_backward(shifted, plain, Tolerance(1e-9, 1e-11), of="with the same vector added to all values:")


@worth(1, "doubling the queries has the same effect as doubling the keys", target=BACKWARD)
def test_attention_backward_of_longer_tokens(student, rng):
    Q, K, V, grad = random_arrays(rng, (3, 5, 4, 2), (2,))
    plain, long, turned = backwards(student, [(Q, K, V, grad), (2 * Q, K, V, grad), (Q, 2 * K, V, grad)])
    lengths = (Q * plain[0]).sum(axis=(1, 2)), (K * plain[1]).sum(axis=(1, 2))
    assert np.abs(lengths[0]).max() > 1e-3, "grad_Q is 0"
    assert_close(lengths[0], lengths[1], of="the change of the loss with longer queries, against longer keys")
    assert_close(2 * long[0], turned[0], of="grad_Q for 2Q, times 2, compared with grad_Q for 2K")
    assert_close(long[1], 2 * turned[1], of="grad_K for 2Q, compared with grad_K for 2K, times 2")
    assert_close(long[2], turned[2], of="grad_V for 2Q, compared with grad_V for 2K")


@worth(1, "the gradients are divided by the square root of d_k, too", target=BACKWARD)
def test_attention_backward_scale(student, rng):
    Q, K, V, grad = random_arrays(rng, (3, 5, 3, 2))
    wide, long = backwards(student, [(np.tile(Q, 4), np.tile(K, 4), V, grad), (2 * Q, K, V, grad)])
    assert np.abs(long[0]).max() > 1e-3, "grad_Q is 0"
    assert_close(wide[0], np.tile(long[0], 4) / 2, of="features four times: grad_Q")
    assert_close(wide[1], np.tile(long[1], 4) / 4, of="features four times: grad_K")
    assert_close(wide[2], long[2], of="features four times: grad_V")
    two, three = np.array([[1.0, 0, 0, 0]]), np.array([[0.0, 0, 0, 0], [1, 0, 0, 0]])
    (found,) = backwards(student, [(0 * two, three, np.array([[0.0], [8.0]]), np.array([[1.0]]))])
    assert_close(found[0], np.array([[1.0, 0, 0, 0]]), of="two equal weights, values 0 and 8, d_k = 4: 8 / 4 / 2")


@worth(1, "each element of a batch gives the same gradients as alone", target=BACKWARD)
def test_attention_backward_of_a_batch(student, rng):
    whole = random_arrays(rng, (4, 4, 4, 4), (2, 4))
    cases = [tuple(x[1] for x in whole), *(tuple(x[1, b] for x in whole) for b in range(4))]
    three, *alone = backwards(student, cases)
    for b in range(4):
        assert np.abs(alone[b][0]).max() > 1e-3, "grad_Q is 0"
        assert_backward([x[b] for x in three], alone[b], of=f"element {b}:")
    (four,) = backwards(student, [whole])
    for b in range(4):
        assert_backward([x[1, b] for x in four], alone[b], of=f"element (1, {b}):")


@worth(1, "reordering the tokens only reorders the gradients", target=BACKWARD)
def test_attention_backward_follows_its_tokens(student, rng):
    Q, K, V, grad = random_arrays(rng, (4, 5, 3, 3))
    rows, keys = [2, 0, 3, 1], [3, 0, 4, 1, 2]
    cases = [(Q, K, V, grad), (Q[rows], K, V, grad[rows]), (Q, K[keys], V[keys], grad)]
    cases += [(Q[i : i + 1], K, V, grad[i : i + 1]) for i in range(4)]
    plain, by_row, by_key, *single = backwards(student, cases)
    assert np.abs(plain[1]).max() > 1e-3, "grad_K is 0"
    assert_backward(by_row, (plain[0][rows], plain[1], plain[2]), of="queries in another order:")
    assert_backward(by_key, (plain[0], plain[1][keys], plain[2][keys]), of="keys and values in another order:")
    added = (np.concatenate([x[0] for x in single]), sum(x[1] for x in single), sum(x[2] for x in single))
    assert_backward(plain, added, of="query by query, added up:")


@worth(0.75, "the gradients are linear in grad_output", target=BACKWARD)
def test_attention_backward_is_linear(student, rng):
    Q, K, V, one = random_arrays(rng, (3, 5, 4, 2))
    two = rng.normal(size=one.shape)
    by_one, by_two, both, none = backwards(
        student, [(Q, K, V, one), (Q, K, V, two), (Q, K, V, 3 * one - two), (Q, K, V, 0 * one)]
    )
    assert np.abs(by_one[1]).max() > 1e-3, "grad_K is 0"
    assert_backward(both, [3 * a - b for a, b in zip(by_one, by_two, strict=True)], of="3 * one - another:")
    assert_backward(none, [np.zeros(x.shape) for x in (Q, K, V)], of="a grad_output of zeros:")


@worth(0.75, "scores in the thousands do not overflow", target=BACKWARD)
def test_attention_backward_of_large_scores(student):
    Q, K = np.array([[200.0, 0, 0, 0], [-200, 0, 0, 0]]), np.array([[50.0, 0, 1, 0], [50, 1, 0, 0], [-50, 0, 0, 2]])
    V, grad = np.array([[0.0, 1], [8, 1], [3, 5]]), np.array([[1.0, 0], [0, 1]])
    (found,) = backwards(student, [(Q, K, V, grad)])
    # The first query gives equal weight to the first two keys, with values 0 and 8; the second looks at the third only.
    assert_close(found[0], np.array([[0, 1.0, -1.0, 0], [0, 0, 0, 0]]), Tolerance(1e-9, 1e-9), of="grad_Q")
    assert_close(
        found[1], np.array([[-200.0, 0, 0, 0], [200, 0, 0, 0], [0, 0, 0, 0]]), Tolerance(1e-9, 1e-9), of="grad_K"
    )
    assert_close(found[2], np.array([[0.5, 0], [0.5, 0], [0, 1]]), Tolerance(1e-9, 1e-9), of="grad_V")


@worth(0.75, "float32 and integer inputs give the right gradients", target=BACKWARD)
def test_attention_backward_of_other_dtypes(student, rng, shown):
    case = [rng.integers(-2, 3, size=shape) for shape in [(3, 4), (5, 4), (5, 2), (3, 2)]]
    case[2][:2], case[3][0] = [[2, -2], [-1, 1]], [1, -2]
    kinds = [np.float64, np.float32, np.int64, np.int32]
    high, low, *whole = backwards(student, [tuple(x.astype(kind) for x in case) for kind in kinds])
    assert np.abs(high[2]).max() > 1e-3, "grad_V is 0"
    assert_close(high[2].sum(axis=0), case[3].sum(axis=0).astype(float), of="grad_V, added up over the keys")
    assert_backward(low, high, Tolerance(1e-4, 1e-5), of="float32:")
    for found in whole:
        assert_backward(found, high, of="integers:")
    where = lambda call: any(x.dtype != np.float64 for x in call.args)  # noqa: E731
    shown(student, BACKWARD, where=where, tolerance=Tolerance(1e-4, 1e-5))


@worth(0.35, "repeated calls of attention_backward agree", target=BACKWARD)
def test_attention_backward_does_not_remember(student, rng):
    case, other = random_arrays(rng, (3, 4, 4, 2), (2,)), random_arrays(rng, (3, 3, 3, 4))
    low = tuple(x.astype(np.float32) for x in case)
    cases = [case, low, other, case]
    values = []
    for given, value in zip(cases, student.attention_backward.call_many([arguments(*c) for c in cases]), strict=True):
        values.append(arrays(value, [x.shape for x in given[:3]], ("grad_Q", "grad_K", "grad_V")))
    assert np.abs(values[0][0]).max() > 1e-3, "grad_Q is 0"
    assert_backward(values[3], values[0], of="the first call again:")
    named = student.attention_backward(grad_output=case[3], V=case[2], K=case[1], Q=case[0])
    assert_backward(arrays(named, [x.shape for x in case[:3]], "QKV"), values[0], of="arguments by name:")


@worth(0.75, "attention_backward keeps float32 and float64, and returns float64 for integers", target=BACKWARD)
def test_attention_backward_dtype(student):
    case = np.array([[1, 2], [0, 1]]), np.array([[1, 1], [2, 0], [3, 1]]), np.array([[1, 2], [3, 4], [5, 6]])
    case = (*case, np.array([[1, 0], [0, 2]]))
    kinds = {np.float32: np.float32, np.float64: np.float64, np.int64: np.float64, np.int32: np.float64}
    values = student.attention_backward.call_many([arguments(*(x.astype(kind) for x in case)) for kind in kinds])
    for value, kind in zip(values, kinds.values(), strict=True):
        arrays(value, [x.shape for x in case[:3]], ("grad_Q", "grad_K", "grad_V"))
        for part in value:
            assert_dtype(part, kind)


# reflect --------------------------------------------------------------------------------------------------


def number(value):
    """Return a student's number of any type as a finite float, or fail."""
    if type(value) is int:
        assert abs(value) < 2**1000, "the number is too large"
    return float(array_like(np.float64(value) if type(value) in (int, float) else value, (), of="the number"))


@worth(1.5, "the number is the derivative of the first weight, .25, with respect to the second score", target="reflect")
def test_reflect_offdiagonal(student):
    assert_close(student.REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL, -0.1875, Tolerance(0.0, 1e-6))


@worth(1.5, "the derivatives of a weight with respect to both scores sum to 0", target="reflect")
def test_reflect_row_of_the_jacobian(student):
    offdiagonal = number(student.REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL)
    assert_close(0.25 * (1 - 0.25) + offdiagonal, 0.0, Tolerance(0.0, 1e-6))
