"""Checks of 07_gpu_path that need a real GPU: the numbers are the same there, and the CPU does not wait.

Their points are added to those of the module. Oracles are computed on the CPU, in float64.
"""

import numpy as np
import torch

from grader.testing import Tolerance, arguments, assert_close, assert_disciplined, worth

PICK, MANUAL, FUSED, HALF, MOVE = (
    "pick_device",
    "attention_on_device",
    "fused_attention",
    "half_precision_attention",
    "move_batch",
)
NEAR = {
    torch.float64: Tolerance(1e-6, 1e-7),
    torch.float32: Tolerance(1e-3, 1e-4),
    torch.bfloat16: Tolerance(4e-2, 4e-2),
    torch.float16: Tolerance(1e-2, 1e-2),
}
KINDS = (torch.bool, torch.int64, torch.float32)


def inputs_of(rng, *lead, n_q=33, n_k=40, d_k=16, d_v=24, dtype=torch.float32):
    """Return random q, k and v with sizes that do not fill the tiles of a kernel."""
    shapes = ((n_q, d_k), (n_k, d_k), (n_k, d_v))
    return [torch.from_numpy(rng.normal(size=(*lead, *shape))).to(dtype) for shape in shapes]


def mask_of(rng, *shape):
    """Return a mask of zeros and ones with one fully blocked row."""
    mask = torch.from_numpy(rng.integers(0, 2, size=shape))
    mask[..., 0, :] = 0
    mask[..., 1:, 0] = 1
    return mask


def triangle(n_q, n_k):
    return torch.from_numpy((np.arange(n_k)[None, :] <= np.arange(n_q)[:, None]).astype(np.int64))


def oracle_attention(q, k, v, mask=None):
    """Return output and weights in float64; a fully blocked row is 0."""
    scores = torch.einsum("...id,...jd->...ij", q.double(), k.double()) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -torch.inf)
    weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)
    return weights @ v.double(), weights


def pair_of(found, of):
    assert type(found.value) is tuple, f"{of}: expected the pair (output, weights)"
    assert len(found.value) == 2, f"{of}: expected the pair (output, weights), got {len(found.value)} values"
    return found.value


def finished(found):
    """Return the result of a call on the GPU, or fail if the call raised an error."""
    assert found.raised is None, f"the call raises an error on the GPU: {found.raised}"
    return found


def assert_pairs(student, function, cases, tolerance):
    """Fail unless the function agrees with the oracle on the GPU, for arguments made by `arguments`."""
    for i, (case, found) in enumerate(zip(cases, getattr(student, function).on_gpu_many(cases), strict=True)):
        q, k, v = case.args[:3]
        expected = oracle_attention(q, k, v, case.kwargs.get("mask"))
        pair = pair_of(finished(found), f"call {i + 1}")
        for name, ours, theirs in zip(("output", "weights"), pair, expected, strict=True):
            assert_close(ours, theirs.to(q.dtype), tolerance, of=f"call {i + 1}, {name}")


def assert_all_disciplined(student, function, calls, tolerance, elsewhere=()):
    """Fail unless calls on the GPU never make the CPU wait, and are right."""
    for one, found in zip(calls, getattr(student, function).on_gpu_many(calls, elsewhere=elsewhere), strict=True):
        q, k, v = one.args
        mask = one.kwargs["mask"]
        if one.kwargs.get("is_causal"):
            mask = triangle(33, 40) * (1 if mask is None else mask)
        output, weights = (part.float() for part in oracle_attention(q, k, v, mask))
        assert_disciplined(found, output if function == FUSED else (output, weights), tolerance, device="cuda")


@worth(1, "pick_device returns cuda on this machine, which has a GPU", target=PICK)
def test_gpu_is_picked(student):
    for asked, wanted in (("cuda", "cuda"), ("cpu", "cpu")):
        device = finished(student.pick_device.on_gpu(asked)).value
        assert type(device) is torch.device, "pick_device should return a torch.device"
        assert device.type == wanted, f"asked for {asked}, got {device}"


@worth(2, "attention_on_device gives the same numbers on the GPU as on the CPU, in float32 and float64", target=MANUAL)
def test_gpu_manual_agrees(student, rng):
    for dtype in (torch.float32, torch.float64):
        q, k, v = inputs_of(rng, 2, 3, dtype=dtype)
        masks = [mask_of(rng, 33, 40).to(kind) for kind in KINDS]
        cases = [arguments(q, k, v), *(arguments(q, k, v, mask=mask) for mask in masks)]
        assert_pairs(student, MANUAL, cases, NEAR[dtype])


@worth(2, "attention_on_device never waits for the GPU, by PyTorch's own sync debugging", target=MANUAL)
def test_gpu_manual_does_not_wait(student, rng):
    q, k, v = inputs_of(rng, 2)
    calls = [arguments(q, k, v, mask=None), arguments(q, k, v, mask=mask_of(rng, 33, 40))]
    assert_all_disciplined(student, MANUAL, calls, NEAR[torch.float32])
    assert_all_disciplined(student, MANUAL, calls[1:], NEAR[torch.float32], elsewhere=("mask",))


@worth(2, "fused_attention is right on the GPU for every kind of mask, with is_causal and with both", target=FUSED)
def test_gpu_fused_agrees(student, rng):
    q, k, v = inputs_of(rng, 2, 3)
    mask, causal = mask_of(rng, 33, 40), triangle(33, 40)
    pairs = [(arguments(q, k, v), None), (arguments(q, k, v, is_causal=True), causal)]
    for kind in KINDS:
        pairs.append((arguments(q, k, v, mask=mask.to(kind)), mask))
        pairs.append((arguments(q, k, v, mask=mask.to(kind), is_causal=True), mask * causal))
    found = student.fused_attention.on_gpu_many([call for call, _ in pairs])
    for i, (one, (_, allowed)) in enumerate(zip(found, pairs, strict=True)):
        expected = oracle_attention(q, k, v, allowed)[0].float()
        assert_close(finished(one).value, expected, NEAR[torch.float32], of=f"call {i + 1}")


@worth(2, "fused_attention is right on the GPU in bfloat16 and float16", target=FUSED)
def test_gpu_fused_agrees_in_half(student, rng):
    mask, causal = mask_of(rng, 33, 40), triangle(33, 40)
    for dtype in (torch.bfloat16, torch.float16):
        q, k, v = inputs_of(rng, 2, 3, dtype=dtype)
        ways = {"plain": ({}, None), "causal": ({"is_causal": True}, causal), "masked": ({"mask": mask}, mask)}
        ways["both"] = ({"mask": mask, "is_causal": True}, mask * causal)
        found = student.fused_attention.on_gpu_many([arguments(q, k, v, **more) for more, _ in ways.values()])
        for name, one, (_, allowed) in zip(ways, found, ways.values(), strict=True):
            assert_close(finished(one).value, oracle_attention(q, k, v, allowed)[0].to(dtype), NEAR[dtype], of=name)


@worth(1, "fused_attention never waits for the GPU, by PyTorch's own sync debugging", target=FUSED)
def test_gpu_fused_does_not_wait(student, rng):
    q, k, v = inputs_of(rng, 2, 3)
    mask = mask_of(rng, 33, 40).float()
    calls = [arguments(q, k, v, mask=mask), arguments(q, k, v, mask=mask, is_causal=True)]
    near = NEAR[torch.float32]
    assert_all_disciplined(student, FUSED, [*calls, arguments(q, k, v, mask=None, is_causal=True)], near)
    assert_all_disciplined(student, FUSED, calls, near, elsewhere=("mask",))


@worth(2, "half_precision_attention agrees with the formula on the GPU, and does not overflow", target=HALF)
def test_gpu_half_agrees(student, rng):
    q, k, v = inputs_of(rng, 2)
    mask = mask_of(rng, 33, 40)
    cases = [arguments(q, k, v, dtype=dtype) for dtype in (torch.bfloat16, torch.float16)]
    cases += [arguments(q, k, v, mask=mask, dtype=torch.float16), arguments(q, k, v, mask=mask.float())]
    assert_pairs(student, HALF, cases, NEAR[torch.bfloat16])
    large = torch.full((2, 64), 40.0)
    found = finished(student.half_precision_attention.on_gpu(large, large, torch.ones(2, 8), dtype=torch.float16))
    output, _ = pair_of(found, "scores of 102400")
    assert_close(output, torch.ones(2, 8), of="scores of 102400, output")


@worth(1, "half_precision_attention never waits for the GPU, by PyTorch's own sync debugging", target=HALF)
def test_gpu_half_does_not_wait(student, rng):
    q, k, v = inputs_of(rng, 2)
    calls = [arguments(q, k, v, mask=mask_of(rng, 33, 40))]
    assert_all_disciplined(student, HALF, calls, NEAR[torch.bfloat16])
    assert_all_disciplined(student, HALF, calls, NEAR[torch.bfloat16], elsewhere=("mask",))


@worth(1, "every tensor of a batch is moved to the GPU, the rest is unchanged, and the CPU does not wait", target=MOVE)
def test_gpu_batch_moves(student, rng):
    tensors = [torch.from_numpy(rng.integers(0, 9, size=(2, 3))), torch.from_numpy(rng.normal(size=4))]
    batch = {"tokens": tensors[0], "more": [(tensors[1], "text"), None], "lengths": [3, 1]}
    found = finished(student.move_batch.on_gpu(batch, "cuda", elsewhere=(0,)))
    assert len(found.devices) == 2, f"expected 2 tensors, got {len(found.devices)}"
    assert_disciplined(found, batch, device="cuda", non_blocking=True)
