"""Hidden suite of 07_gpu_path. Oracles: a float64 softmax by logaddexp in NumPy, and PyTorch's gradients of a formula.

Checks of devices use a simulated GPU and compare the numbers there, too. The others use plain calls on the CPU.
"""

import numpy as np
import torch

from grader import testing
from grader.core.compare import EXACT, describe
from grader.core.errors import StudentRaisedError
from grader.testing import (
    Tolerance,
    arguments,
    array_like,
    assert_close,
    assert_disciplined,
    assert_dtype,
    assert_rows_sum_to_one,
    derangement,
    draw_until,
    half_dtypes,
    mixed_mask,
    remembered,
    worth,
)

PICK, MANUAL, FUSED, HALF, MOVE = (
    "pick_device",
    "attention_on_device",
    "fused_attention",
    "half_precision_attention",
    "move_batch",
)
SINGLE = Tolerance(1e-4, 2e-5)
STEEP = Tolerance(2e-3, 2e-4)  # gradients, and weights for scores in the thousands
DOUBLE = Tolerance(1e-12, 1e-12)  # numbers that float64 can hold and float32 cannot
LOW = Tolerance(4e-2, 4e-2)  # 16 bits, rounded at any step; the error of a wrong scale is larger
KINDS = (torch.bool, torch.int64, torch.uint8, torch.float32, torch.float64)

# n_q, n_k, d_k, d_v: all different, many equal, the smallest possible
SIZES = [(3, 5, 8, 2), (4, 4, 4, 4), (1, 1, 1, 1), (2, 6, 3, 5)]
LEADS = [(), (2,), (2, 3), (2, 1, 2)]


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
def inputs_of(rng, lead, n_q, n_k, d_k, d_v, scale=1.0):
    """Return random q, k and v with these leading axes."""
    return tuple(normal(rng, *lead, n, d, scale=scale) for n, d in ((n_q, d_k), (n_k, d_k), (n_k, d_v)))


def open_mask(rng, *shape):
    """Return a mask of zeros and ones that allows a key in every row, blocks one, and is not causal already."""
    return torch.from_numpy(mixed_mask(rng, shape))


def triangle(n_q, n_k):
    """Return the causal mask: query i may see the keys up to number i."""
    return torch.from_numpy((np.arange(n_k)[None, :] <= np.arange(n_q)[:, None]).astype(np.int64))


def open_causal(rng, *shape):
    """Return an open mask that leaves each query a key with is_causal, too, and the last query more than one.

    Blocked rows have checks of their own. A query with only one key would hide a wrong scale. The mask allows a key
    right after a query: otherwise it would hide a triangle that goes one key too far.
    """
    causal = triangle(*shape[-2:])
    next_keys = triangle(shape[-2] + 1, shape[-1])[1:] - causal

    def shows(mask):
        seen = (mask * causal).sum(dim=-1)
        return bool((seen > 0).all() and (seen[..., -1] > 1).all() and (mask * next_keys).any())

    return draw_until(rng, lambda rng: open_mask(rng, *shape), shows)


@remembered
def oracle_attention(q, k, v, mask=None):
    """Return output and weights in float64: scores by einsum, a softmax by logaddexp."""
    q, k, v = (x.double().numpy() for x in (q, k, v))
    scores = np.einsum("...id,...jd->...ij", q, k) * float(q.shape[-1]) ** -0.5
    if mask is not None:
        scores = np.where(np.asarray(mask) != 0, scores, -np.inf)
    norms = np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isneginf(norms), 0.0, norms))
    return single(np.einsum("...ij,...jd->...id", weights, v)), single(weights)


@remembered
def oracle_gradients(q, k, v, cotangent, mask=None):
    """Return the gradients of the formula in float64, with blocked keys left out of the exponentials."""
    leaves = [x.double().requires_grad_() for x in (q, k, v)]
    scores = torch.einsum("...id,...jd->...ij", leaves[0], leaves[1]) / q.shape[-1] ** 0.5
    exps = scores.exp() if mask is None else scores.exp() * mask.double()
    totals = exps.sum(dim=-1, keepdim=True)
    weights = exps / (totals + (totals == 0))
    results = weights @ leaves[2], weights
    pairs = [(out, cot.double()) for out, cot in zip(results, cotangent, strict=False) if cot is not None]
    torch.autograd.backward([out for out, _ in pairs], [cot for _, cot in pairs])
    return [leaf.grad.float() for leaf in leaves]


def tensor_of(value, shape, of):
    """Return the student's result as a finite float32 tensor of this shape, or fail."""
    assert type(value) is torch.Tensor, f"{of} should be a tensor"
    if value.dtype == torch.float32 and value.shape == tuple(shape) and bool(value.isfinite().all()):
        return value.detach()
    return single(array_like(value, tuple(shape), of=of))  # fails with a clear message


def attended(value, q, k, v, of="the call"):
    """Return the student's output and weights as finite tensors of the right shapes, or fail."""
    assert type(value) is tuple, f"{of}: expected the pair (output, weights)"
    assert len(value) == 2, f"{of}: expected the pair (output, weights), got {len(value)} values"
    output = tensor_of(value[0], (*q.shape[:-1], v.shape[-1]), f"{of}: the output")
    return output, tensor_of(value[1], (*q.shape[:-1], k.shape[-2]), f"{of}: the weights")


def attend(function, *cases):
    """Call the function on every case, made by `arguments`, in one round trip; return the checked pairs."""
    return [
        attended(value, *case.args[:3], of=f"call {i + 1}")
        for i, (case, value) in enumerate(zip(cases, function.call_many(list(cases)), strict=True))
    ]


def fused(student, *cases):
    """Call fused_attention on every case in one round trip; return the checked outputs."""
    outputs = []
    for i, (case, value) in enumerate(zip(cases, student.fused_attention.call_many(list(cases)), strict=True)):
        q, _, v = case.args[:3]
        outputs.append(tensor_of(value, (*q.shape[:-1], v.shape[-1]), f"call {i + 1}: the output"))
    return outputs


def assert_attends(pair, expected, of, tolerance=SINGLE):
    """Fail unless output and weights, both checked by `attended`, are as expected."""
    for name, ours, theirs in zip(("output", "weights"), pair, expected, strict=True):
        assert_close(ours, theirs, tolerance, of=f"{of} {name}")


def assert_finite_gradients(found, shapes):
    """Return the gradients of q, k and v, or fail unless all are there and finite."""
    for name, grad, shape in zip("qkv", found.grads, shapes, strict=True):
        assert grad is not None, f"no gradient reaches {name}: the graph is cut"
        array_like(grad, tuple(shape), of=f"the gradient of {name}")
    return found.grads


# pick_device --------------------------------------------------------------------------------------------


def devices_of(student, names, *, gpu=True):
    """Return the picked devices as pairs of type and number; for the name None, call without an argument."""
    calls = [arguments() if name is None else arguments(name) for name in names]
    picked = []
    for name, found in zip(names, student.pick_device.on_device_many(calls, gpu=gpu), strict=True):
        asked = "" if name is None else repr(name)
        value = found.value
        assert type(value) is torch.device, f"pick_device({asked}) should return a torch.device"
        picked.append((value.type, value.index))
    return picked


@worth(1.5, "a GPU is picked if the machine has one", target=PICK)
def test_picks_the_gpu(student):
    names = ["cuda", None, torch.device("cuda")]
    for name, (kind, number) in zip(names, devices_of(student, names), strict=True):
        assert kind == "cuda", f"asked for {name or 'nothing'} on a machine with a GPU, got {kind}"
        assert number in (None, 0), f"the only GPU has the number 0, got {number}"


@worth(1.5, "the CPU is picked if the machine has no GPU", target=PICK)
def test_falls_back_to_the_cpu(student):
    names = [None, "cuda", "cuda:0", torch.device("cuda", 0)]
    for name, (kind, _) in zip(names, devices_of(student, names, gpu=False), strict=True):
        assert kind == "cpu", f"asked for {name or 'nothing'} on a machine without a GPU, got {kind}"


@worth(1, "cpu gives the CPU, with or without a GPU in the machine", target=PICK)
def test_picks_the_cpu(student):
    for gpu in (True, False):
        for kind, _ in devices_of(student, ["cpu", torch.device("cpu")], gpu=gpu):
            assert kind == "cpu", f"asked for the CPU, got {kind}"


@worth(1, "cuda:0 gives that GPU, and a GPU number that does not exist gives the CPU", target=PICK)
def test_picks_by_number(student):
    first, by_device, fifth, far = devices_of(student, ["cuda:0", torch.device("cuda", 0), "cuda:5", "cuda:1"])
    for one in (first, by_device):
        assert one == ("cuda", 0), f"asked for cuda:0, got {one[0]} with the number {one[1]}"
    for number, one in ((5, fifth), (1, far)):
        assert one[0] == "cpu", f"asked for cuda:{number} on a machine with one GPU, got {one[0]}"


@worth(1, "a kind of device that the machine does not have gives the CPU", target=PICK)
def test_other_kinds(student):
    for gpu in (True, False):
        # A machine with an M chip has mps.
        mps, xpu = devices_of(student, ["mps", "xpu"], gpu=gpu)
        assert mps[0] in ("cpu", "mps" if torch.backends.mps.is_available() else "cpu"), f"asked for mps, got {mps[0]}"
        assert xpu[0] == "cpu", f"asked for xpu, got {xpu[0]}"


@worth(1.5, "a text that is not a device name raises a ValueError that contains the text", target=PICK)
def test_refuses_unknown_names(student):
    for gpu, names in ((True, ("gpu", "")), (False, ("cuda0", "cuda:x"))):
        for name in names:
            error = raised_by(student.pick_device, name, gpu=gpu)
            assert error is not None, f"{name!r} is not a device name: expected a ValueError"
            assert "ValueError" in error.types, f"expected a ValueError for {name!r}: {error}"
            assert name in error.message, f"the message should contain {name!r}: {error.message!r}"


def raised_by(function, *args, gpu):
    """Return the exception that a call on a simulated machine raises, or None."""
    try:
        function.on_device(*args, gpu=gpu)
    except StudentRaisedError as error:
        return error
    return None


# attention_on_device: numbers ---------------------------------------------------------------------------


@worth(1.5, "attention_on_device agrees with the formula for many shapes", target=MANUAL)
def test_manual_agrees_with_the_oracle(student, rng, shown):
    cases = [inputs_of(rng, lead, *sizes) for lead, sizes in zip(LEADS, SIZES, strict=True)]
    for case, pair in zip(cases, attend(student.attention_on_device, *(arguments(*c) for c in cases)), strict=True):
        assert_attends(pair, oracle_attention(*case), of=f"q {tuple(case[0].shape)}:")
    seen = arguments(*(torch.ones(5, 4) for _ in range(3)))
    where = lambda call: is_single(call) and not is_masked(call)  # noqa: E731
    shown(student, MANUAL, seen, where=where, tolerance=SINGLE)


@worth(1.5, "the weights of each query sum to 1, and equal values give that value as output", target=MANUAL)
def test_manual_shares(student, rng):
    q, k, _ = inputs_of(rng, (2,), 3, 5, 4, 4, scale=2.0)
    constant = normal(rng, 2, 1, 6).expand(2, 5, 6).clone()
    order = torch.from_numpy(derangement(rng, 5))
    calls = [arguments(q, k, constant), arguments(q, k[:, order], constant), arguments(2 * q, k / 2, constant)]
    calls.append(arguments(40 * q, 40 * k, constant))
    (output, weights), (_, turned), (_, same), (_, steep) = attend(student.attention_on_device, *calls)
    for shares in (weights, steep):
        assert_rows_sum_to_one(shares, (2, 3, 5), dtype=np.float32)
    assert_close(output, constant[:, :3], SINGLE, of="the output for values that are all equal")
    assert_close(turned, weights[..., order], SINGLE, of="weights of reordered keys")
    assert_close(same, weights, SINGLE, of="weights of doubled queries and halved keys")


@worth(1.5, "scores are divided by the square root of d_k", target=MANUAL)
def test_manual_scale(student):
    # Two keys whose scores differ by d_k/4: the weights are sigmoid(sqrt(d_k)/4).
    cases = []
    for d in (4, 16, 64):
        q, k = torch.ones(1, d) / 4, torch.cat([torch.ones(1, d), torch.zeros(1, d)])
        cases.append(arguments(q, k, torch.eye(2, 3)))
    for d, (output, weights) in zip((4, 16, 64), attend(student.attention_on_device, *cases), strict=True):
        share = 1 / (1 + np.exp(-(d**0.5) / 4))
        assert_close(weights, single([[share, 1 - share]]), SINGLE, of=f"d_k = {d}: weights")
        assert_close(output, single([[share, 1 - share, 0]]), SINGLE, of=f"d_k = {d}: output")


@worth(1.5, "blocked keys have the weight 0, and the other weights are the same as without them", target=MANUAL)
def test_manual_masked_keys(student, rng):
    q, k, v = inputs_of(rng, (), 3, 5, 4, 2)
    left = torch.tensor([0, 2, 4])
    mask = torch.zeros(3, 5, dtype=torch.int64)
    mask[:, left] = 1
    other = v.clone()
    other[[1, 3]] = 1e4
    calls = [arguments(q, k, v, mask), arguments(q, k, other, mask=mask), arguments(q, k[left], v[left])]
    (output, weights), (replaced, _), (alone, shares) = attend(student.attention_on_device, *calls)
    assert_close(weights[:, [1, 3]], torch.zeros(3, 2), of="weights of blocked keys")
    assert_close(weights[:, left], shares, SINGLE, of="weights of the other keys")
    assert_close(output, alone, SINGLE, of="output")
    assert_close(replaced, alone, SINGLE, of="output with other values in the blocked keys")


@worth(1.5, "bool, int and float masks give the same result", target=MANUAL)
def test_manual_kinds_of_masks(student, rng):
    q, k, v = inputs_of(rng, (2,), 3, 4, 4, 2)
    mask = open_mask(rng, 3, 4)
    pairs = attend(student.attention_on_device, *(arguments(q, k, v, mask.to(kind)) for kind in KINDS))
    for kind, pair in zip(KINDS, pairs, strict=True):
        assert_close(pair[1] * (1 - mask), torch.zeros(2, 3, 4), of=f"{kind}: weights of blocked keys")
        assert_rows_sum_to_one(pair[1], (2, 3, 4), dtype=np.float32)
        assert_attends(pair, pairs[0], of=f"a mask of {kind}, compared with a bool mask:")


@worth(1.5, "a mask broadcasts to the weights", target=MANUAL)
def test_manual_masks_broadcast_as_the_oracle_says(student, rng, shown):
    q, k, v = inputs_of(rng, (2, 3), 4, 5, 4, 2)
    shapes = [(5,), (1, 5), (4, 5), (3, 1, 5), (2, 1, 1, 5), (2, 3, 4, 5)]
    masks = [open_mask(rng, *shape) for shape in shapes]
    masks.append(torch.tensor([1, 0, 1, 1]).reshape(4, 1))
    cases = [(q, k, v, mask) for mask in masks]
    cases.append((*inputs_of(rng, (4,), 4, 5, 4, 2), masks[2]))  # as many sentences as queries: rows are still queries
    for case, pair in zip(cases, attend(student.attention_on_device, *(arguments(*c) for c in cases)), strict=True):
        of = f"q {tuple(case[0].shape)}, a mask {tuple(case[3].shape)}:"
        assert_attends(pair, oracle_attention(*case), of=of)
    seen = arguments(*(torch.ones(5, 4) for _ in range(3)), mask=torch.ones(5, 5).tril())
    where = lambda call: is_single(call) and is_masked(call)  # noqa: E731
    shown(student, MANUAL, seen, where=where, tolerance=SINGLE)


@worth(1.5, "a query with every key blocked has weights of 0 and an output of 0", target=MANUAL)
def test_manual_blocked_rows(student, rng):
    q, k, v = inputs_of(rng, (2,), 3, 4, 4, 2)
    mask = torch.tensor([[1, 1, 0, 1], [0, 0, 0, 0], [1, 0, 1, 1]])
    padding = torch.tensor([[[1.0, 1, 1, 0]], [[0, 0, 0, 0]]])
    flat, by_sentence = attend(student.attention_on_device, arguments(q, k, v, mask), arguments(q, k, v, padding))
    for of, (output, weights) in (("a row", [x[:, 1] for x in flat]), ("a sentence", [x[1] for x in by_sentence])):
        assert_close(weights, torch.zeros(weights.shape), of=f"{of} blocked: weights")
        assert_close(output, torch.zeros(output.shape), of=f"{of} blocked: output")
    assert_rows_sum_to_one(flat[1][:, [0, 2]], (2, 2, 4), dtype=np.float32)


@worth(1, "scores in the thousands work, also next to much higher or lower blocked scores", target=MANUAL)
def test_manual_large_scores(student):
    share = 1 / (1 + np.exp(-1.0))
    bases = [(base, blocked) for base in (5000.0, -5000.0) for blocked in (0.0, 2e4, 3e10, base)]
    rows = [[base, base - 1, blocked] for base, blocked in bases]
    keys = torch.tensor([*rows, [-2e10, -4e10, 0.0]])[..., None]  # 1e9 is not infinity
    q, v = torch.ones(9, 1, 1), torch.tensor([[1.0], [0], [5]]).expand(9, 3, 1).clone()
    calls = [arguments(q, keys, v, torch.tensor([[1, 1, 0]])), arguments(q[:8], keys[:8, :2], v[:8, :2])]
    (output, weights), (_, unmasked) = attend(student.attention_on_device, *calls)
    wanted = single([share, 1 - share, 0]).expand(8, 3)
    assert_close(weights[:8, 0], wanted, STEEP, of="scores near 5000 and -5000")
    assert_close(output[:8, 0, 0], single([share]).expand(8), STEEP, of="output for scores near 5000 and -5000")
    assert_close(weights[8, 0], torch.tensor([1.0, 0, 0]), of="scores of -2e10 and -4e10")
    assert_close(unmasked[:, 0], wanted[:, :2], STEEP, of="without a mask")


@worth(1.5, "gradients reach q, k and v from the output, and q and k from the weights", target=MANUAL)
def test_manual_gradients_agree_with_the_oracle(student, rng):
    q, k, v = inputs_of(rng, (2,), 3, 4, 4, 2)
    mask, cotangent = open_mask(rng, 3, 4), (normal(rng, 2, 3, 2), normal(rng, 2, 3, 4))
    found = student.attention_on_device.vjp(q, k, v, mask=mask, cotangent=cotangent)
    testing.assert_gradients(found, oracle_gradients(q, k, v, cotangent, mask), ("q", "k", "v"), STEEP)
    plain = student.attention_on_device.vjp(q, k, v, cotangent=cotangent)
    testing.assert_gradients(plain, oracle_gradients(q, k, v, cotangent), ("q", "k", "v"), STEEP)


@worth(1.5, "gradients of blocked queries and keys are 0, never NaN", target=MANUAL)
def test_manual_gradients_of_blocked_rows(student, rng):
    q, k, v = inputs_of(rng, (), 3, 4, 4, 2)
    mask = torch.tensor([[1, 1, 0, 1], [0, 0, 0, 0], [1, 0, 0, 1]]).float()
    cotangent = (normal(rng, 3, 2), normal(rng, 3, 4))
    found = student.attention_on_device.vjp(q, k, v, mask=mask, cotangent=cotangent)
    grads = assert_finite_gradients(found, [x.shape for x in (q, k, v)])
    assert_close(grads[0][1], torch.zeros(4), SINGLE, of="the gradient of a blocked query")
    assert_close(grads[1][2], torch.zeros(4), SINGLE, of="the gradient of a blocked key")
    assert_close(grads[2][2], torch.zeros(2), SINGLE, of="the gradient of a blocked value")
    assert float(grads[0][0].abs().max()) > 1e-6, "the gradient of a query that is not blocked is 0"
    # The weights of a query always sum to 1, so a gradient of 1 for all of them changes nothing.
    even = student.attention_on_device.vjp(q, k, v, mask=mask, cotangent=(None, torch.ones(3, 4)))
    assert_close(even.grads[0], torch.zeros(3, 4), SINGLE, of="the gradient of q for equal gradients of all weights")


@worth(0.3, "attention_on_device does not depend on earlier calls", target=MANUAL)
def test_manual_does_not_remember(student, rng):
    q, k, v = inputs_of(rng, (2,), 3, 4, 4, 2)
    mask = open_mask(rng, 3, 4).float()
    cases = [(q, k, v), (q, k, v, mask), (q, k, v)]
    values = student.attention_on_device.call_many([arguments(*case) for case in cases])
    first, last = (attended(value, q, k, v) for value in (values[0], values[2]))
    assert_attends(last, first, of="without a mask again:")


@worth(1, "output and weights have the dtype of q, for every dtype of the mask", target=MANUAL)
def test_manual_dtype(student, rng):
    assert_dtypes(student.attention_on_device, rng, (torch.float32, torch.float64, *half_dtypes()))


def assert_dtypes(function, rng, kinds, **kwargs):
    """Fail unless the results have the dtype of q, and values of that precision."""
    q, k, v = inputs_of(rng, (), 2, 3, 4, 2)
    mask = torch.tensor([[1, 0, 0], [1, 1, 1]]).double()
    cases = [[x.to(kind) for x in (q, k, fine(v, kind))] for kind in kinds]
    calls = [arguments(*case, **more, **kwargs) for case in cases for more in ({}, {"mask": mask})]
    for i, value in enumerate(function.call_many(calls)):
        kind = kinds[i // 2]
        output, _ = attended(value, q, k, v, of=f"{kind}")
        for part in value:
            assert_dtype(part, kind)
        if i % 2:
            assert_close(output[0], v[0].to(kind).float(), LOW, of=f"{kind}: a query that sees one key")
            assert_fine(value[0][0], v[0], kind)


def fine(v, kind):
    """For float64, return values that float32 cannot hold; otherwise return the values unchanged."""
    return v.double() + 2.0**-30 if kind == torch.float64 else v


def assert_fine(row, v, kind):
    """For float64, fail unless the last digits of the values are still there."""
    if kind == torch.float64:
        assert_close(row.detach(), fine(v, kind), DOUBLE, of=f"{kind}: the last digits of a value")


# attention_on_device: devices ---------------------------------------------------------------------------


def matrices(rng):
    """Return random q, k and v without leading axes."""
    return inputs_of(rng, (), 3, 4, 4, 2)


def both(q, k, v, mask=None):
    """Return output and weights, as attention_on_device gives them."""
    return oracle_attention(q, k, v, mask)


def causal_output(q, k, v, mask=None):
    """Return the output alone with is_causal, as fused_attention gives it."""
    causal = triangle(q.shape[-2], k.shape[-2])
    return oracle_attention(q, k, v, causal if mask is None else causal * (mask != 0))[0]


def assert_lives_with_its_input(function, rng, oracle, tolerance=SINGLE):
    """Fail unless calls on a GPU, with a mask there and without one, are right there and never make the CPU wait."""
    q, k, v = matrices(rng)
    masks = [None, open_mask(rng, 3, 4).float()]
    calls = [arguments(q, k, v), arguments(q, k, v, mask=masks[1])]
    for found, mask in zip(function.on_device_many(calls), masks, strict=True):
        assert_disciplined(found, oracle(q, k, v, mask), tolerance, device="cuda")


def assert_moves_a_mask(function, rng, oracle, tolerance=SINGLE, **kwargs):
    """Fail unless a mask on the CPU is moved to the GPU once."""
    q, k, v = matrices(rng)
    masks = [open_causal(rng, 3, 4), open_causal(rng, 3, 4).bool()]
    calls = [arguments(q, k, v, mask=mask, **kwargs) for mask in masks]
    for found, mask in zip(function.on_device_many(calls, elsewhere=("mask",)), masks, strict=True):
        assert_disciplined(found, oracle(q, k, v, mask), tolerance, device="cuda")
        assert len([copy for copy in found.copies if copy.line]) <= 4, "tensors are copied to the GPU too often"


def assert_stays_on_the_cpu(function, rng, oracle, tolerance=SINGLE, **kwargs):
    """Fail unless a call with CPU tensors stays on the CPU, on a machine with a GPU and on one without."""
    q, k, v = matrices(rng)
    mask = open_causal(rng, 3, 4)
    expected = oracle(q, k, v, mask)
    found = function.on_device(q, k, v, mask=mask, **kwargs)  # a call on the GPU must not change the next one
    if found.value is not None or found.raised is None:  # other checks say what is wrong on the GPU
        assert_close(found.value, expected, tolerance, of="the result on cuda")
    for gpu in (True, False):
        found = function.on_device(q, k, v, mask=mask, elsewhere=(0, 1, 2, "mask"), gpu=gpu, **kwargs)
        assert_disciplined(found, expected, tolerance, device="cpu")


@worth(2, "on a GPU all new tensors are created there, and the CPU never waits", target=MANUAL)
def test_manual_lives_with_its_input(student, rng):
    assert_lives_with_its_input(student.attention_on_device, rng, both)


@worth(2, "a mask on the CPU is moved to the GPU once", target=MANUAL)
def test_manual_moves_a_mask(student, rng):
    assert_moves_a_mask(student.attention_on_device, rng, both)


@worth(1.5, "CPU tensors stay on the CPU, with or without a GPU in the machine", target=MANUAL)
def test_manual_stays_on_the_cpu(student, rng):
    assert_stays_on_the_cpu(student.attention_on_device, rng, both)


@worth(1.25, "heads, padding and blocked rows work on a GPU, too", target=MANUAL)
def test_manual_heads_on_a_gpu(student, rng):
    q, k, v = inputs_of(rng, (2, 2), 3, 4, 4, 2)
    padding = torch.tensor([[1, 1, 0, 0], [0, 0, 0, 0]]).reshape(2, 1, 1, 4)
    for elsewhere in (("mask",), ()):
        found = student.attention_on_device.on_device(q, k, v, mask=padding, elsewhere=elsewhere)
        assert_disciplined(found, both(q, k, v, padding), SINGLE, device="cuda")
    plain = student.attention_on_device.on_device(q, k, v)
    assert_disciplined(plain, both(q, k, v), SINGLE, device="cuda")


# fused_attention ----------------------------------------------------------------------------------------


@worth(1.5, "fused_attention agrees with the formula for two to five dimensions", target=FUSED)
def test_fused_agrees_with_the_oracle(student, rng, shown):
    cases = [inputs_of(rng, lead, *sizes) for lead, sizes in zip(LEADS, SIZES, strict=True)]
    cases.append(inputs_of(rng, (2, 2), 3, 4, 8, 8))
    for case, output in zip(cases, fused(student, *(arguments(*c) for c in cases)), strict=True):
        assert_close(output, oracle_attention(*case)[0], SINGLE, of=f"q {tuple(case[0].shape)}")
    seen = arguments(*(torch.ones(5, 4) for _ in range(3)))
    where = lambda call: is_single(call) and len(call.args) < 4 and not call.kwargs  # noqa: E731
    shown(student, FUSED, seen, where=where, tolerance=SINGLE)


@worth(1.5, "each output is a weighted mean of the values, and only queries and keys decide the weights", target=FUSED)
def test_fused_mixes(student, rng):
    q, k, v = inputs_of(rng, (2,), 3, 4, 16, 2)
    constant = normal(rng, 2, 1, 3).expand(2, 4, 3).clone()
    order = torch.from_numpy(derangement(rng, 4))
    calls = [arguments(q, k, v), arguments(q, k[:, order], v[:, order]), arguments(q, k, 2 * v + 1)]
    plain, turned, line, flat = fused(student, *calls, arguments(q, k, constant))
    assert_close(turned, plain, SINGLE, of="reordered keys and values")
    assert_close(line, 2 * plain + 1, SINGLE, of="values doubled, plus 1")
    assert_close(flat, constant[:, :3], SINGLE, of="values that are all equal")
    # Scores that differ by 4 at d_k = 16 differ by 1 after the division.
    keys = torch.cat([torch.ones(1, 16), torch.zeros(1, 16)])
    (shares,) = fused(student, arguments(torch.ones(1, 16) / 4, keys, torch.eye(2)))
    share = 1 / (1 + np.exp(-1.0))
    assert_close(shares, single([[share, 1 - share]]), SINGLE, of="weights of two keys")


@worth(1.5, "bool, int and float masks block the keys where they are 0", target=FUSED)
def test_fused_kinds_of_masks(student, rng):
    q, k, v = inputs_of(rng, (2,), 3, 4, 4, 2)
    blocked = torch.tensor([0, 1, 1, 0])
    value = v.clone()
    value[:, [0, 3]] = 1e4
    calls = [arguments(q, k, value, blocked.to(kind).expand(3, 4).clone()) for kind in KINDS]
    *masked, alone = fused(student, *calls, arguments(q, k[:, 1:3], v[:, 1:3]))
    for kind, output in zip(KINDS, masked, strict=True):
        assert_close(output, alone, SINGLE, of=f"{kind}: compared with a call without the blocked keys")


@worth(1.5, "a mask of any shape that broadcasts works", target=FUSED)
def test_fused_masks_broadcast_as_the_oracle_says(student, rng, shown):
    q, k, v = inputs_of(rng, (2, 3), 4, 5, 4, 4)
    shapes = [(5,), (1, 5), (4, 5), (3, 1, 5), (2, 1, 1, 5), (2, 3, 4, 5)]
    masks = [open_mask(rng, *shape) for shape in shapes]
    masks.append(torch.tensor([1, 0, 1, 1]).reshape(4, 1))
    flat = [x[0, 0] for x in (q, k, v)]
    deep = [x[:, :, None] for x in (q, k, v)]
    cases = [(q, k, v, mask) for mask in masks]
    cases += [
        (*flat, masks[0]),
        (*flat, masks[2]),
        (*(x[0] for x in (q, k, v)), masks[3]),
        (*deep, masks[5][:, :, None]),
        (*deep, masks[4][:, None]),
        (*(x[0, :1].expand(4, *x.shape[2:]).clone() for x in (q, k, v)), masks[2]),  # rows are queries, not sentences
    ]
    for case, output in zip(cases, fused(student, *(arguments(*case) for case in cases)), strict=True):
        of = f"q {tuple(case[0].shape)}, a mask {tuple(case[3].shape)}"
        assert_close(output, oracle_attention(*case)[0], SINGLE, of=of)
    x, causal = [torch.ones(5, 4) for _ in range(3)], torch.ones(5, 5).tril()
    seen = [arguments(*x, causal.to(kind)) for kind in (torch.bool, torch.int64, torch.float32)]
    seen += [arguments(*x, mask=torch.tensor([0, 1, 1, 1, 1]), is_causal=True), arguments(*x, is_causal=True)]
    seen += [arguments(*x, mask=causal, is_causal=True)]
    where = lambda call: is_single(call) and (len(call.args) > 3 or bool(call.kwargs))  # noqa: E731
    shown(student, FUSED, *seen, where=where, tolerance=SINGLE)


@worth(
    1, "fused_attention works for scores in the thousands, also next to very high or low blocked scores", target=FUSED
)
def test_fused_large_scores(student):
    share = 1 / (1 + np.exp(-1.0))
    rows = [[base, base - 1, blocked] for base in (1000.0, -1000.0) for blocked in (0.0, 2000.0, 3e10)]
    keys = torch.tensor([*rows, [-2e10, -4e10, 0.0]])[..., None]  # 1e9 is not infinity
    q, v = torch.ones(7, 1, 1), torch.tensor([[1.0], [0], [5]]).expand(7, 3, 1).clone()
    calls = [arguments(q, keys, v, torch.tensor([[1, 1, 0]])), arguments(q[:6], keys[:6, :2], v[:6, :2])]
    masked, unmasked = fused(student, *calls)
    wanted = single([share]).expand(6)
    assert_close(masked[:6, 0, 0], wanted, STEEP, of="output for scores near 1000 and -1000")
    assert_close(masked[6], torch.ones(1, 1), SINGLE, of="output for scores of -2e10 and -4e10")
    assert_close(unmasked[:, 0, 0], wanted, STEEP, of="without a mask")


@worth(1.5, "with is_causal, query i sees the keys up to number i, for all lengths", target=FUSED)
def test_fused_is_causal(student, rng):
    lengths = [(4, 4), (3, 5), (5, 2), (1, 3)]
    cases = [inputs_of(rng, (2,), n_q, n_k, 4, 4) for n_q, n_k in lengths]
    calls = [arguments(*case, is_causal=True) for case in cases]
    shown = [arguments(*case, triangle(*n)) for case, n in zip(cases, lengths, strict=True)]
    outputs = fused(student, *calls, *shown)
    for i, (n_q, n_k) in enumerate(lengths):
        of = f"{n_q} queries, {n_k} keys"
        assert_close(outputs[i][:, 0], cases[i][2][:, 0], SINGLE, of=f"{of}: the first query sees only the first key")
        assert_close(outputs[i], outputs[len(lengths) + i], SINGLE, of=f"{of}: is_causal, compared with the same mask")
    q, k, v = cases[1]
    later = v.clone()
    later[:, 3:] = 1e4
    (unmoved,) = fused(student, arguments(q, k, later, is_causal=True))
    assert_close(unmoved, outputs[1], SINGLE, of="3 queries: no query sees keys 3 and 4")


@worth(2, "with a mask and is_causal, a key must be allowed by both", target=FUSED)
def test_fused_both(student, rng):
    q, k, v = inputs_of(rng, (2,), 4, 5, 4, 2)
    mask = torch.tensor([[1, 0, 1, 1, 1], [1, 1, 0, 1, 0], [1, 1, 1, 0, 1], [0, 1, 1, 1, 1]])
    padding = torch.tensor([1, 1, 0, 1, 1])
    masks = [mask.bool(), mask.float(), padding]
    calls = [arguments(q, k, v, one, True) for one in masks]
    joined = [arguments(q, k, v, (one != 0) & (triangle(4, 5) != 0)) for one in masks]
    outputs = fused(student, *calls, *joined)
    for i, one in enumerate(masks):
        of = f"a mask {tuple(one.shape)} of {one.dtype}, and is_causal"
        assert_close(outputs[i], outputs[len(masks) + i], SINGLE, of=of)
    changed = v.clone()
    changed[:, 4], changed[:, 2] = 1e4, -1e4
    (hidden,) = fused(student, arguments(q, k, changed, mask=padding, is_causal=True))
    assert_close(hidden, outputs[2], SINGLE, of="values that the mask or is_causal hides do not change the output")
    for n_q, n_k in ((1, 3), (5, 2), (3, 3)):
        case, allowed = inputs_of(rng, (2,), n_q, n_k, 4, 4), torch.ones(n_q, n_k)
        allowed[-1, 0] = 0
        (output,) = fused(student, arguments(*case, allowed, True))
        expected, _ = oracle_attention(*case, allowed * triangle(n_q, n_k))
        assert_close(output, expected, SINGLE, of=f"{n_q} queries, {n_k} keys, a mask and is_causal")


@worth(1.5, "a query with every key blocked has an output of 0", target=FUSED)
def test_fused_blocked_rows(student, rng):
    q, k, v = inputs_of(rng, (2,), 3, 4, 4, 4)
    mask = torch.tensor([[1, 1, 0, 1], [0, 0, 0, 0], [1, 0, 1, 1]])
    padding = torch.tensor([[1, 1, 1, 0], [0, 0, 0, 0]]).reshape(2, 1, 4)
    late = torch.tensor([0, 0, 1, 1])  # with is_causal, every key is blocked for queries 0 and 1
    heads = [x[:, None] for x in (q, k, v)]
    calls = [arguments(q, k, v, one) for one in (mask.bool(), mask.float(), padding)]
    calls += [
        arguments(q, k, v, late, is_causal=True),
        arguments(*heads, padding[:, None]),
        arguments(q[0], k[0], v[0], mask),
    ]
    flat, floats, by_sentence, both, by_head, alone = fused(student, *calls)
    zeros = torch.zeros(3, 4)
    for output in (flat, floats):
        assert_close(output[:, 1], zeros[:2], of="output of a blocked row")
    assert_close(by_sentence[1], zeros, of="output of a blocked sentence")
    assert_close(both[:, :2], torch.zeros(2, 2, 4), of="with is_causal, output of the queries with every key blocked")
    assert_close(by_head[1, 0], zeros, of="output of a blocked sentence, four dimensions")
    assert_close(alone[1], zeros[0], of="output of a blocked row, two dimensions")
    assert float(flat[:, 0].abs().min()) > 0, "output of a row that is not blocked"


@worth(1.5, "gradients of fused_attention agree with those of the formula, and are never NaN", target=FUSED)
def test_fused_gradients_agree_with_the_oracle(student, rng):
    q, k, v = inputs_of(rng, (2,), 3, 4, 4, 4)
    mask, cotangent = torch.tensor([[1, 1, 0, 1], [0, 0, 0, 0], [1, 0, 1, 1]]), normal(rng, 2, 3, 4)
    masked = student.fused_attention.vjp(q, k, v, mask=mask, cotangent=cotangent)
    plain = student.fused_attention.vjp(q, k, v, is_causal=True, cotangent=cotangent)
    bare = student.fused_attention.vjp(q, k, v, cotangent=cotangent)
    for found, seen in ((masked, mask), (plain, triangle(3, 4)), (bare, None)):
        grads = assert_finite_gradients(found, [x.shape for x in (q, k, v)])
        for name, ours, theirs in zip("qkv", grads, oracle_gradients(q, k, v, (cotangent,), seen), strict=True):
            assert_close(ours, theirs, STEEP, of=f"the gradient of {name}")


@worth(1, "a blocked query has a gradient of 0, and so does a value that no query sees", target=FUSED)
def test_fused_gradients_of_blocked_rows(student, rng):
    q, k, v = inputs_of(rng, (1, 2), 3, 4, 4, 4)
    mask = torch.tensor([[1, 1, 0, 1], [0, 0, 0, 0], [1, 1, 0, 1]]).float()
    found = student.fused_attention.vjp(q, k, v, mask=mask, cotangent=torch.ones(1, 2, 3, 4))
    grads = assert_finite_gradients(found, [x.shape for x in (q, k, v)])
    assert_close(grads[0][0, :, 1], torch.zeros(2, 4), SINGLE, of="the gradient of a blocked query")
    assert_close(grads[2][0, :, 2], torch.zeros(2, 4), SINGLE, of="the gradient of a value that no query sees")
    # The weights of each of the two queries sum to 1.
    assert_close(grads[2].sum(dim=-2), torch.full((1, 2, 4), 2.0), SINGLE, of="the sum of the gradients of all values")


@worth(0.5, "fused_attention does not depend on earlier calls", target=FUSED)
def test_fused_does_not_remember(student, rng):
    q, k, v = inputs_of(rng, (2,), 3, 3, 4, 2)
    mask = open_causal(rng, 3, 3)
    cases = [(q, k, v), (q, k, v, mask.float(), True), (q, k, v, mask.bool(), True), (q, k, v)]
    values = student.fused_attention.call_many([arguments(*case) for case in cases])
    first, last = (tensor_of(value, (2, 3, 2), "the output") for value in (values[0], values[3]))
    assert_close(last, first, SINGLE, of="without a mask again")


@worth(1, "the output has the dtype of q, in 64, 32 and 16 bits", target=FUSED)
def test_fused_dtype(student, rng):
    q, k, v = inputs_of(rng, (), 2, 3, 4, 4)
    kinds = (torch.float32, torch.float64, *half_dtypes())
    masks = [None, torch.tensor([[1.0, 0, 0], [1, 1, 1]]), torch.tensor([[1, 0, 0], [1, 1, 1]])]
    calls = [arguments(*(x.to(kind) for x in (q, k, fine(v, kind))), mask) for kind in kinds for mask in masks]
    for i, value in enumerate(student.fused_attention.call_many(calls)):
        kind = kinds[i // 3]
        output = tensor_of(value, (2, 4), f"{kind}: the output")
        assert_dtype(value, kind)
        if i % 3:
            assert_close(output[0], v[0].to(kind).float(), LOW, of=f"{kind}: a query that sees one key")
            assert_fine(value[0], v[0], kind)


@worth(1.5, "on a GPU fused_attention creates all new tensors there, and the CPU never waits", target=FUSED)
def test_fused_lives_with_its_input(student, rng):
    q, k, v = matrices(rng)
    mask = open_causal(rng, 3, 4).float()
    calls = [
        arguments(q, k, v, is_causal=True),
        arguments(q, k, v, mask),
        arguments(q, k, v, mask=mask, is_causal=True),
    ]
    expected = [causal_output(q, k, v), oracle_attention(q, k, v, mask)[0], causal_output(q, k, v, mask)]
    for found, output in zip(student.fused_attention.on_device_many(calls), expected, strict=True):
        assert_disciplined(found, output, SINGLE, device="cuda")


@worth(1.5, "fused_attention moves a mask on the CPU to the GPU once", target=FUSED)
def test_fused_moves_a_mask(student, rng):
    assert_moves_a_mask(student.fused_attention, rng, causal_output, is_causal=True)


@worth(1, "fused_attention keeps CPU tensors on the CPU, with or without a GPU in the machine", target=FUSED)
def test_fused_stays_on_the_cpu(student, rng):
    assert_stays_on_the_cpu(student.fused_attention, rng, causal_output, is_causal=True)


# half_precision_attention -------------------------------------------------------------------------------


def low_dtypes():
    """Return the 16-bit dtypes that this machine computes with, or bfloat16 if there are none."""
    return half_dtypes() or (torch.bfloat16,)


@worth(1.5, "half_precision_attention agrees with the formula to about two digits", target=HALF)
def test_half_agrees_with_the_oracle(student, rng, shown):
    cases = [inputs_of(rng, lead, *sizes) for lead, sizes in zip(LEADS, SIZES, strict=True)]
    calls = [arguments(*case) for case in cases] + [arguments(*cases[0], dtype=kind) for kind in low_dtypes()]
    mask = open_mask(rng, 4, 4)
    calls.append(arguments(*cases[1], mask))
    expected = [oracle_attention(*case) for case in cases] + [oracle_attention(*cases[0])] * len(low_dtypes())
    expected.append(oracle_attention(*cases[1], mask))
    for pair, wanted in zip(attend(student.half_precision_attention, *calls), expected, strict=True):
        assert_attends(pair, wanted, of="16 bits:", tolerance=LOW)
    x = [torch.ones(5, 4) for _ in range(3)]
    seen = [arguments(*x), arguments(*x, mask=torch.ones(5, 5).tril())]
    wide = torch.ones(5, 64)
    shown(student, HALF, *seen, arguments(wide, wide, x[2], dtype=torch.float16), tolerance=LOW)


@worth(1.5, "in 16 bits the weights of each query sum to 1, and the scale is the square root of d_k", target=HALF)
def test_half_shares(student, rng):
    q, k, _ = inputs_of(rng, (2,), 3, 5, 4, 4)
    constant = torch.tensor([1.0, -2, 0.5]).expand(2, 5, 3).clone()
    keys = torch.cat([torch.ones(1, 64), torch.zeros(1, 64)])
    for kind in low_dtypes():
        calls = [
            arguments(q, k, constant, dtype=kind),
            arguments(torch.ones(1, 64) / 8, keys, torch.eye(2), dtype=kind),
        ]
        (output, weights), (_, shares) = attend(student.half_precision_attention, *calls)
        assert float(weights.min()) >= 0, "a weight is negative"
        assert_close(weights.sum(dim=-1), torch.ones(2, 3), LOW, of=f"{kind}: the sums of weights")
        assert_close(output, constant[:, :3], LOW, of=f"{kind}: values that are all equal")
        share = 1 / (1 + np.exp(-1.0))  # 64 products of 1/8 add up to 8, and 8 divided by 8 is 1
        assert_close(shares, single([[share, 1 - share]]), LOW, of=f"{kind}: two keys whose scaled scores differ by 1")


@worth(2, "unscaled scores beyond 65504 do not overflow in float16", target=HALF)
def test_half_overflow(student):
    # 16 products of 112 and 112 add up to 200704, which divided by 4 is 50176.
    q = torch.full((2, 16), 112.0)
    k = torch.cat([torch.full((2, 16), 112.0), torch.full((1, 16), 100.0), torch.full((1, 16), -112.0)])
    v = torch.tensor([[1.0, 0], [3, 0], [9, 9], [9, 9]])
    mask = torch.tensor([[1, 1, 1, 1], [0, 0, 1, 1]])
    kinds = (torch.float16, torch.bfloat16) if torch.float16 in half_dtypes() else (torch.bfloat16,)
    for kind in kinds:
        calls = [arguments(q, k, v, dtype=kind), arguments(q, k, v, mask, dtype=kind), arguments(-q, k, v, dtype=kind)]
        (output, weights), (_, masked), (_, turned) = attend(student.half_precision_attention, *calls)
        assert_close(weights, torch.tensor([[0.5, 0.5, 0, 0]]).expand(2, 4), LOW, of=f"{kind}: two keys at 50176")
        assert_close(output, torch.tensor([[2.0, 0]]).expand(2, 2), LOW, of=f"{kind}: the output")
        assert_close(masked[1], torch.tensor([0, 0, 1.0, 0]), LOW, of=f"{kind}: with these two blocked")
        assert_close(turned[0], torch.tensor([0, 0, 0, 1.0]), LOW, of=f"{kind}: scores of -50176")
        low = [x.to(kind) for x in (q, k, v)]
        calls = [arguments(-q, k, v, torch.tensor([1, 1, 1, 0]), dtype=kind), arguments(*low, dtype=kind)]
        (_, blocked), (_, given) = attend(student.half_precision_attention, *calls)
        assert_close(blocked[0], torch.tensor([0, 0, 1.0, 0]), LOW, of=f"{kind}: scores of -44800, 50176 blocked")
        assert_close(given[0], torch.tensor([0.5, 0.5, 0, 0]), LOW, of=f"{kind}, given as such: two keys at 50176")
    # 64 products add up to 5e38, more than bfloat16 can hold; divided by 8 it fits.
    vast = torch.full((2, 64), 2.8e18)
    calls = [arguments(vast, vast, torch.tensor([[1.0], [3]]), dtype=torch.bfloat16)]
    ((output, _),) = attend(student.half_precision_attention, *calls)
    assert_close(output, torch.full((2, 1), 2.0), LOW, of="bfloat16: two keys at 6e37")


@worth(1.5, "both products are computed in 16 bits, which loses finer differences", target=HALF)
def test_half_products(student):
    for kind, bits in ((kind, 7 if kind == torch.bfloat16 else 10) for kind in low_dtypes()):
        # Only the last bits of q tell the two keys apart; their scores, both 16 * 2**bits / 4, are exact in 16 bits.
        fine = 1 + 2.0 ** -(bits + 2)
        q, k = torch.zeros(1, 16), torch.zeros(2, 16)
        q[0, 0], q[0, 1] = fine, 1.0
        k[0, 0] = k[1, 1] = 16 * 2.0 ** min(bits, 9)
        coarse = 2.0 ** (bits + 1)
        v = torch.tensor([[coarse + 1], [coarse + 1]])  # one more than the largest exact integer in 16 bits
        halves = torch.tensor([[coarse + 1], [-coarse]])  # they cancel once the 1 is lost
        calls = [arguments(q, k, v, dtype=kind), arguments(q, k[:1], v[:1], dtype=kind)]
        calls.append(arguments(torch.zeros(1, 16), k, halves, torch.ones(1, 2), dtype=kind))
        if kind == torch.bfloat16:
            calls[1] = arguments(q, k[:1], v[:1])  # the default
        (_, weights), (output, _), (nothing, _) = attend(student.half_precision_attention, *calls)
        assert_close(
            nothing, torch.zeros(1, 1), Tolerance(0.0, 0.1), of=f"{kind}: the mean of {coarse:g} and -{coarse:g}"
        )
        gap = float((weights[0, 0] - weights[0, 1]).abs())
        assert gap < 1e-2, f"{kind}: weights differ by {gap:.3g}, for queries that 16 bits cannot tell apart"
        off = abs(float(output[0, 0]) - (coarse + 1))
        assert off > 0.5, f"{kind}: {coarse + 1:g} is still there after the product with v, but 16 bits cannot hold it"
    if torch.float16 in low_dtypes():  # float16 holds numbers that bfloat16 cannot
        ones = torch.ones(1, 4)
        ((output, _),) = attend(
            student.half_precision_attention, arguments(ones, ones, torch.tensor([[257.0]]), dtype=torch.float16)
        )
        assert_close(output, torch.tensor([[257.0]]), Tolerance(0.0, 0.5), of="257, which float16 can hold")
        # 1 + 1/512, which float16 can hold, too, times 8192, divided by 4: 2052, next to 2048.
        q, k = torch.zeros(1, 16), torch.zeros(2, 16)
        q[0, 0], q[0, 1] = 1 + 2.0**-9, 1.0
        k[0, 0] = k[1, 1] = 8192.0
        ((_, weights),) = attend(student.half_precision_attention, arguments(q, k, torch.eye(2), dtype=torch.float16))
        assert float(weights[0, 0]) > 0.9, "a difference that float16 can show, and bfloat16 cannot, is lost"


@worth(1.5, "in 16 bits blocked keys have the weight 0, and blocked queries have an output of 0", target=HALF)
def test_half_masks(student, rng):
    q, k, v = inputs_of(rng, (2,), 3, 4, 4, 2)
    mask = torch.tensor([[1, 0, 1, 1], [0, 0, 0, 0], [1, 0, 0, 1]])
    masks = [mask.bool(), mask, mask.float(), mask.expand(2, 3, 4).clone()]
    for kind in low_dtypes():
        pairs = attend(student.half_precision_attention, *(arguments(q, k, v, one, dtype=kind) for one in masks))
        for one, (output, weights) in zip(masks, pairs, strict=True):
            of = f"{kind}, a mask {tuple(one.shape)} of {one.dtype}:"
            assert_close(weights * (1 - mask), torch.zeros(2, 3, 4), of=f"{of} weights of blocked keys")
            assert_close(output[:, 1], torch.zeros(2, 2), of=f"{of} output of a blocked query")
            sums = torch.tensor([1.0, 0, 1]).expand(2, 3)
            assert_close(weights.sum(dim=-1), sums, LOW, of=f"{of} the sums of weights")
            assert_attends((output, weights), pairs[0], of=f"{of} compared with a bool mask:", tolerance=LOW)
    heads = inputs_of(rng, (2, 3), 4, 5, 4, 2)
    masks = [open_mask(rng, *shape) for shape in [(5,), (4, 5), (3, 1, 5), (2, 1, 1, 5), (2, 3, 4, 5)]]
    calls = [arguments(*heads, one) for one in masks]
    for one, (_, weights) in zip(masks, attend(student.half_precision_attention, *calls), strict=True):
        of = f"q (2, 3, 4, 4), a mask {tuple(one.shape)}:"
        assert_close(weights * (1 - one), torch.zeros(2, 3, 4, 5), of=f"{of} weights of blocked keys")
        assert_close(weights.sum(dim=-1), torch.ones(2, 3, 4), LOW, of=f"{of} the sums of weights")


@worth(1.5, "in 16 bits gradients reach q, k and v, and are never NaN", target=HALF)
def test_half_gradients(student, rng):
    q, k, v = inputs_of(rng, (), 3, 4, 4, 2)
    mask = torch.tensor([[1, 0, 1, 1], [0, 0, 0, 0], [1, 0, 0, 1]])
    cotangent = (torch.ones(3, 2), normal(rng, 3, 4))
    found = student.half_precision_attention.vjp(q, k, v, mask=mask, cotangent=cotangent)
    grads = assert_finite_gradients(found, [x.shape for x in (q, k, v)])
    assert_close(grads[0][1], torch.zeros(4), SINGLE, of="the gradient of a blocked query")
    assert_close(grads[1][1], torch.zeros(4), SINGLE, of="the gradient of a blocked key")
    assert_close(grads[2].sum(dim=0), torch.full((2,), 2.0), LOW, of="the sum of the gradients of all values")
    assert float(grads[0][0].abs().max()) > 1e-4, "the gradient of a query that is not blocked is 0"
    for one in (mask, None):
        found = student.half_precision_attention.vjp(q, k, v, mask=one, cotangent=(normal(rng, 3, 2), None))
        grads = assert_finite_gradients(found, [x.shape for x in (q, k, v)])
        assert float(grads[0][0].abs().max()) > 1e-4, "no gradient reaches q from the output"


@worth(0.35, "half_precision_attention does not depend on earlier calls", target=HALF)
def test_half_does_not_remember(student, rng):
    q, k, v = inputs_of(rng, (2,), 3, 4, 4, 2)
    mask = open_mask(rng, 3, 4).float()
    cases = [(q, k, v), (q, k, v, mask), (q, k, v)]
    values = student.half_precision_attention.call_many([arguments(*case) for case in cases])
    first, last = (attended(value, q, k, v) for value in (values[0], values[2]))
    assert_attends(last, first, of="without a mask again:", tolerance=LOW)


@worth(0.75, "output and weights have the dtype of q", target=HALF)
def test_half_dtype(student, rng):
    kinds = (torch.float32, *half_dtypes())
    assert_dtypes(student.half_precision_attention, rng, kinds)
    assert_dtypes(student.half_precision_attention, rng, kinds[:1], dtype=low_dtypes()[-1])


@worth(1.5, "in 16 bits all new tensors are created on the GPU, too, and the CPU never waits", target=HALF)
def test_half_lives_with_its_input(student, rng):
    assert_lives_with_its_input(student.half_precision_attention, rng, both, LOW)


@worth(1.5, "in 16 bits a mask on the CPU is moved to the GPU once, too", target=HALF)
def test_half_moves_a_mask(student, rng):
    assert_moves_a_mask(student.half_precision_attention, rng, both, LOW)


@worth(1, "in 16 bits CPU tensors stay on the CPU, too, with or without a GPU in the machine", target=HALF)
def test_half_stays_on_the_cpu(student, rng):
    assert_stays_on_the_cpu(student.half_precision_attention, rng, both, LOW)


# move_batch ---------------------------------------------------------------------------------------------


def batch_of(rng):
    """Return a batch of tensors of several dtypes at several levels, and of many other values."""
    return {
        "tokens": torch.from_numpy(rng.integers(0, 9, size=(2, 3))),
        "more": [normal(rng, 2), (torch.tensor([True, False]), "a text", [normal(rng, 1, 2).double()])],
        "number": 3,
        7: {"deep": ({"deeper": [torch.tensor(2.5)]},), "empty": [], "none": None},
        "share": 0.25,
        "flag": True,
    }


def assert_same(actual, expected, of="the batch"):
    """Fail unless two batches are equal: the containers, the keys and their order, the tensors and the rest."""
    if type(expected) is torch.Tensor:
        assert type(actual) is torch.Tensor, f"{of} should be a tensor"
        assert actual.dtype == expected.dtype, f"{of} is {actual.dtype}, not {expected.dtype}"
        assert_close(actual, expected, EXACT, of=of)
        return
    if type(expected) in (dict, list, tuple):
        assert type(actual) is type(expected), f"{of} should be a {type(expected).__name__}"
        keys = list(expected) if type(expected) is dict else range(len(expected))
        assert len(actual) == len(expected), f"{of} has {len(actual)} entries, not {len(expected)}"
        assert list(keys) == (list(actual) if type(actual) is dict else list(keys)), f"{of} has other keys"
        for key in keys:
            assert_same(actual[key], expected[key], f"{of}[{key!r}]")
        return
    if type(expected) is np.ndarray:
        assert type(actual) is np.ndarray, f"{of} should still be a NumPy array"
        assert actual.dtype == expected.dtype, f"{of} is {actual.dtype}, not {expected.dtype}"
        assert_close(actual, expected, of=of)
        return
    same = type(actual) is type(expected) and actual == expected
    assert same, f"{of} should still be {expected!r}, but is {describe(actual)}"


@worth(1.5, "every tensor of a nested batch is moved to the GPU", target=MOVE)
def test_move_reaches_every_level(student, rng):
    batches = [
        batch_of(rng),
        [normal(rng, 2), {"a": normal(rng, 1)}],
        (normal(rng, 2), (normal(rng, 3),)),
        normal(rng, 2),
        ["a text", normal(rng, 2), None, (3, normal(rng, 1))],
    ]
    counts = [5, 2, 2, 1, 2]
    devices = ["cuda", torch.device("cuda", 0), "cuda:0", torch.device("cuda"), "cuda"]
    calls = [arguments(batch, device) for batch, device in zip(batches, devices, strict=True)]
    moved = student.move_batch.on_device_many(calls, elsewhere=(0,))
    for found, batch, count in zip(moved, batches, counts, strict=True):
        assert len(found.devices) == count, f"expected {count} tensors, got {len(found.devices)}"
        assert_disciplined(found, batch, EXACT, device="cuda")


@worth(1.5, "the CPU does not wait for copies to the GPU", target=MOVE)
def test_move_does_not_block(student, rng):
    batches = [batch_of(rng), [normal(rng, 2, 2)]]
    calls = [arguments(batch, "cuda") for batch in batches]
    for found, batch in zip(student.move_batch.on_device_many(calls, elsewhere=(0,)), batches, strict=True):
        assert found.copies, "nothing was copied to the GPU"
        assert_disciplined(found, batch, EXACT, device="cuda", non_blocking=True)


@worth(1.25, "a batch goes to the requested device, also to the CPU, with or without a GPU in the machine", target=MOVE)
def test_move_to_the_cpu(student, rng):
    for device, gpu in (("cpu", True), (torch.device("cpu"), False)):
        batch = batch_of(rng)
        found = student.move_batch.on_device(batch, device, elsewhere=(0,), gpu=gpu)
        assert_disciplined(found, batch, EXACT, device="cpu")


@worth(1.5, "dicts, lists and tuples keep their types, and everything that is not a tensor is unchanged", target=MOVE)
def test_move_keeps_the_rest(student, rng):
    others = [np.array([1.0, 2]), "text", None, 5, (), {}, [1, ("a", None)], {"b": 1, "a": (2, [3])}]
    others += [np.array([1, 2]), [[], {}, (), None, 0, ""]]
    tokens = torch.from_numpy(rng.integers(0, 9, (2, 2)))
    seen = [{"tokens": tokens, "more": [normal(rng, 2), "a text"], "length": 2}, [normal(rng, 1), [normal(rng, 1)]]]
    batches = [batch_of(rng), *others, *seen, normal(rng, 2)]
    for batch, moved in zip(
        batches, student.move_batch.call_many([arguments(one, "cpu") for one in batches]), strict=True
    ):
        assert_same(moved, batch)
    found = student.move_batch.on_device(batches[0], "cuda", elsewhere=(0,))
    assert_same(found.value, batches[0])
    grads = student.move_batch.vjp(normal(rng, 3), "cpu", cotangent=torch.ones(3)).grads
    assert grads[0] is not None, "no gradient flows back through a moved tensor: the graph is cut"


@worth(0.35, "tensors keep their dtype", target=MOVE)
def test_move_dtype(student):
    kinds = (torch.int64, torch.bool, torch.float64, torch.float32, torch.uint8, *half_dtypes())
    moved = student.move_batch([torch.ones(2, dtype=kind) for kind in kinds], "cpu")
    assert type(moved) is list, "a list stays a list"
    for kind, one in zip(kinds, moved, strict=True):
        assert_dtype(one, kind)


# reflect ------------------------------------------------------------------------------------------------


@worth(1, "the memory ratio of the manual version is right", target="reflect")
def test_reflect_manual(student):
    assert_close(student.REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES, 4)


@worth(1, "the memory ratio of the fused version is right", target="reflect")
def test_reflect_fused(student):
    assert_close(student.REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES, 2)
