"""Visible checks of 13_triton_flash. Run them with `attn test`, on a machine with a GPU.

`on_gpu` calls a function with its tensors on the GPU. `assert_disciplined` compares the result, and says in which line
the CPU waited.
"""

import torch

from grader.testing import Tolerance, arguments, assert_close, assert_disciplined, assert_dtype, worth

# The shared example, "The cat sat on mat": a row for each token.
Q = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
K = torch.tensor([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
V = torch.tensor([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
ON = torch.tensor([0.2854, 0.2854, 0.2106, 0.4089])  # row "on", as module 10 computes it by hand
CAT_CAUSAL = torch.tensor([0.8176, 0.1824, 0, 0])
LESSON = Tolerance(0.0, 6e-5)
NEAR = {torch.float32: Tolerance(1e-4, 1e-4), torch.bfloat16: Tolerance(2e-2, 2e-2)}
FLASH = "flash_forward"


def filled_up(x):
    """Return a table of width 4 with zeros up to width 16."""
    return torch.nn.functional.pad(x, (0, 12))


def inputs_of(rng, *lead, n_q, n_k, width, dtype=torch.float32):
    shapes = (n_q, n_k, n_k)
    return [torch.from_numpy(rng.normal(size=(*lead, n, width))).to(dtype) for n in shapes]


def oracle_attention(q, k, v, *, is_causal=False):
    """Return attention by the formula, in float64 on the CPU."""
    scores = q.double() @ k.double().transpose(-1, -2) / q.shape[-1] ** 0.5
    later = torch.ones(scores.shape[-2:]).triu(1).bool() & is_causal
    return torch.softmax(scores.masked_fill(later, -torch.inf), dim=-1) @ v.double()


def finished(found):
    """Return the result of a call on the GPU, or fail if the call raised an error."""
    assert found.raised is None, f"the call raises an error on the GPU: {found.raised}"
    return found.value


@worth(3, "the sentence of the lesson: row on, and with is_causal row cat", target=FLASH)
def test_sentence(student):
    q, k, v = (filled_up(x) for x in (2 * Q, K, V))  # sqrt(16) is twice sqrt(4)
    plain, causal = student.flash_forward.on_gpu_many([arguments(q, k, v), arguments(q, k, v, is_causal=True)])
    value = finished(plain)
    assert_close(value, oracle_attention(q, k, v).float(), LESSON, of="the output")
    assert_close(value[3, :4], ON, LESSON, of="row on")
    value = finished(causal)
    assert_close(value, oracle_attention(q, k, v, is_causal=True).float(), LESSON, of="the causal output")
    assert_close(value[1, :4], CAT_CAUSAL, LESSON, of="row cat, causal")


@worth(2, "256 queries and keys of width 64, which fill their tiles", target=FLASH)
def test_full_tiles(student, rng):
    q, k, v = inputs_of(rng, 2, 3, n_q=256, n_k=256, width=64)
    value = finished(student.flash_forward.on_gpu(q, k, v))
    assert_close(value, oracle_attention(q, k, v).float(), NEAR[torch.float32], of="the output")


@worth(3, "lengths that do not fill their tiles: 200 queries, 77 keys", target=FLASH)
def test_ragged(student, rng):
    q, k, v = inputs_of(rng, 2, n_q=200, n_k=77, width=32)
    value = finished(student.flash_forward.on_gpu(q, k, v))
    assert_close(value, oracle_attention(q, k, v).float(), NEAR[torch.float32], of="the output")


@worth(2, "bfloat16 gives bfloat16, close to the formula", target=FLASH)
def test_bfloat16(student, rng):
    q, k, v = inputs_of(rng, 2, n_q=200, n_k=200, width=64, dtype=torch.bfloat16)
    value = finished(student.flash_forward.on_gpu(q, k, v))
    assert_dtype(value, torch.bfloat16)
    assert_close(value, oracle_attention(q, k, v).to(torch.bfloat16), NEAR[torch.bfloat16], of="the output")


@worth(1, "the CPU does not wait for the GPU", target=FLASH)
def test_does_not_wait(student, rng):
    q, k, v = inputs_of(rng, 1, n_q=64, n_k=64, width=64)
    found = student.flash_forward.on_gpu(q, k, v, is_causal=True)
    expected = oracle_attention(q, k, v, is_causal=True).float()
    assert_disciplined(found, expected, NEAR[torch.float32], device="cuda")
