"""Hidden checks of 13_triton_flash. All of them run on a real GPU; oracles are computed on the CPU, in float64."""

import torch

from grader.testing import Tolerance, arguments, assert_close, assert_dtype, worth

FLASH = "flash_forward"
NEAR = {torch.float32: Tolerance(1e-4, 1e-4), torch.bfloat16: Tolerance(2e-2, 2e-2)}
# A result is rounded to 2^-9 of itself, and so is what we expect. A sum kept in bfloat16 is rounded so for each tile.
# The values are near 1, so errors of the weights hardly matter: they are in both sums.
TWO_ROUNDINGS = Tolerance(1.2e-2, 0.0)
NOT_TF32 = Tolerance(0.0, 2e-5)


def inputs_of(rng, *lead, n_q, n_k, width=64, dtype=torch.float32):
    return [torch.from_numpy(rng.normal(size=(*lead, n, width))).to(dtype) for n in (n_q, n_k, n_k)]


def oracle_attention(q, k, v, *, is_causal=False):
    """Return attention by the formula, in float64."""
    scores = q.double() @ k.double().transpose(-1, -2) / q.shape[-1] ** 0.5
    if is_causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -torch.inf)
    return torch.softmax(scores, dim=-1) @ v.double()


def finished(found):
    """Return the result of a call on the GPU, or fail if the call raised an error."""
    assert found.raised is None, f"the call raises an error on the GPU: {found.raised}"
    return found.value


def assert_agrees(student, cases, tolerance):
    """Fail unless the function agrees with the formula, for arguments made by `arguments`."""
    for i, (case, found) in enumerate(zip(cases, student.flash_forward.on_gpu_many(cases), strict=True)):
        q, k, v = case.args
        expected = oracle_attention(q, k, v, is_causal=case.kwargs.get("is_causal", False))
        assert_dtype(finished(found), q.dtype)
        assert_close(finished(found), expected.to(q.dtype), tolerance, of=f"call {i + 1}")


@worth(3, "float32 agrees with the formula for every width and for lengths around those of tiles", target=FLASH)
def test_float32(student, rng):
    sizes = [(1, 1, 16), (31, 33, 32), (129, 64, 64), (65, 300, 64), (130, 257, 128)]
    cases = [arguments(*inputs_of(rng, 2, n_q=n_q, n_k=n_k, width=width)) for n_q, n_k, width in sizes]
    assert_agrees(student, cases, NEAR[torch.float32])


@worth(3, "with is_causal, query i sees the keys 0 to i, also if there are more queries or more keys", target=FLASH)
def test_causal(student, rng):
    sizes = [(1, 1), (64, 64), (65, 65), (333, 333), (100, 300), (300, 100)]
    cases = [arguments(*inputs_of(rng, 2, n_q=n_q, n_k=n_k), is_causal=True) for n_q, n_k in sizes]
    assert_agrees(student, cases, NEAR[torch.float32])


@worth(2, "bfloat16 agrees with the formula, with and without is_causal", target=FLASH)
def test_bfloat16_agrees(student, rng):
    sizes = [(128, 128, 64), (201, 333, 64), (70, 90, 128)]
    inputs = [inputs_of(rng, 2, n_q=a, n_k=b, width=width, dtype=torch.bfloat16) for a, b, width in sizes]
    cases = [arguments(*one, is_causal=causal) for one in inputs for causal in (False, True)]
    assert_agrees(student, cases, NEAR[torch.bfloat16])


@worth(2, "in bfloat16 the sums over 8192 keys are kept in float32", target=FLASH)
def test_bfloat16_sums(student, rng):
    q, k, v = inputs_of(rng, n_q=64, n_k=8192, dtype=torch.bfloat16)
    v = (1 + v.float() / 8).to(torch.bfloat16)
    value = finished(student.flash_forward.on_gpu(q, k, v))
    assert_close(value, oracle_attention(q, k, v).to(torch.bfloat16), TWO_ROUNDINGS, of="the output")


@worth(1, "float32 is computed in float32, not in TF32", target=FLASH)
def test_not_tf32(student, rng):
    q, k, v = inputs_of(rng, n_q=64, n_k=256)
    value = finished(student.flash_forward.on_gpu(q, k, v))
    assert_close(value, oracle_attention(q, k, v).float(), NOT_TF32, of="the output")


@worth(2, "the largest score may come in any tile: first, last, and larger in each tile", target=FLASH)
def test_growing_scores(student, rng):
    n, width = 320, 16
    q = torch.zeros(8, width)
    q[:, 0] = 4.0
    _, _, v = inputs_of(rng, n_q=8, n_k=n, width=width)
    heights = {"rising": torch.linspace(0, 600, n), "falling": torch.linspace(600, 0, n), "high": torch.full((n,), 3e4)}
    keys = []
    for height in heights.values():
        k = torch.zeros(n, width)
        k[:, 0] = height
        keys.append(k)
    found = student.flash_forward.on_gpu_many([arguments(q, k, v) for k in keys])
    for name, k, one in zip(heights, keys, found, strict=True):
        assert_close(finished(one), oracle_attention(q, k, v).float(), NEAR[torch.float32], of=f"{name} scores")


@worth(2, "the order of the keys does not matter", target=FLASH)
def test_order_of_keys(student, rng):
    q, k, v = inputs_of(rng, n_q=40, n_k=200)
    order = torch.from_numpy(rng.permutation(200))
    one, other = student.flash_forward.on_gpu_many([arguments(q, k, v), arguments(q, k[order], v[order])])
    expected = oracle_attention(q, k, v).float()
    assert_close(finished(one), expected, NEAR[torch.float32], of="the output")
    assert_close(finished(other), expected, NEAR[torch.float32], of="the output with other keys first")


@worth(1, "no leading axis, or three of them", target=FLASH)
def test_leading_axes(student, rng):
    cases = [arguments(*inputs_of(rng, *lead, n_q=50, n_k=60, width=32)) for lead in ((), (2, 3, 4))]
    assert_agrees(student, cases, NEAR[torch.float32])


@worth(1, "Reflect: the number of programs", target="reflect")
def test_reflect_programs(student):
    assert_close(student.REFLECT_PROGRAMS_2_TEXTS_4_HEADS_1000_TOKENS_TILES_OF_64, 128)


@worth(1, "Reflect: the bytes of the output", target="reflect")
def test_reflect_bytes(student):
    assert_close(student.REFLECT_OUTPUT_BYTES_2_TEXTS_4_HEADS_1000_TOKENS_WIDTH_64_FLOAT32, 2_048_000)
