"""Visible checks of 07_gpu_path. Run them with `attn test` or `python -m pytest checks.py`.

`on_device` calls a function on a machine with a simulated GPU. `assert_disciplined` then says in which line a real GPU
would raise an error or make the CPU wait, and compares the result.
"""

import torch

from grader.core.errors import StudentRaisedError
from grader.testing import Tolerance, arguments, array_like, assert_close, assert_disciplined, worth

# The shared example, "The cat sat on mat": a row for each token.
Q = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
K = torch.tensor([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
V = torch.tensor([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
CAUSAL = torch.ones(5, 5).tril()
# In ten-thousandths, as the lesson gives four decimals.
CAUSAL_WEIGHTS = (
    torch.tensor(
        [
            [10_000, 0, 0, 0, 0],
            [8176, 1824, 0, 0, 0],
            [2327, 3837, 3837, 0, 0],
            [2350, 2350, 1425, 3875, 0],
            [1892, 1892, 1892, 1892, 2430],
        ]
    )
    / 10_000
)
CAUSAL_OUTPUT = (
    torch.tensor(
        [
            [10_000, 0, 0, 0],
            [8176, 1824, 0, 0],
            [2327, 3837, 3837, 0],
            [2350, 2350, 1425, 3875],
            [3108, 3108, 3108, 3108],
        ]
    )
    / 10_000
)
LESSON = Tolerance(0.0, 6e-5)
HALF = Tolerance(0.0, 1e-2)  # 16 bits give two decimals
PICK, MANUAL, FUSED = "pick_device", "attention_on_device", "fused_attention"
LOW, MOVE = "half_precision_attention", "move_batch"


def attended(value):
    """Return output and weights, or fail."""
    assert type(value) is tuple, "expected the pair (output, weights)"
    assert len(value) == 2, f"expected the pair (output, weights), got {len(value)} values"
    return array_like(value[0], (5, 4), of="the output"), array_like(value[1], (5, 5), of="the weights")


def raised_by(call):
    """Return the exception that the student's code raises, or None."""
    try:
        call()
    except StudentRaisedError as error:
        return error
    return None


@worth(1, "pick_device returns cuda on a machine with a GPU, and cpu on one without", target=PICK)
def test_with_a_gpu_and_without(student):
    for gpu, wanted in ((True, "cuda"), (False, "cpu")):
        device = student.pick_device.on_device("cuda", gpu=gpu).value
        assert type(device) is torch.device, "pick_device should return a torch.device"
        assert device.type == wanted, f"{'with' if gpu else 'without'} a GPU, expected {wanted}, got {device.type}"


@worth(1, "the text gpu, which is not a device name, raises a ValueError that contains it", target=PICK)
def test_no_device(student):
    error = raised_by(lambda: student.pick_device("gpu"))
    assert error is not None, "expected a ValueError for the name gpu"
    assert "ValueError" in error.types, f"expected a ValueError: {error}"
    assert "gpu" in error.message, f"the message should contain the name gpu: {error.message!r}"


@worth(1.5, "the output of The and the causal weights of cat are those of the lesson", target=MANUAL)
def test_the_shared_example(student):
    plain, causal = student.attention_on_device.call_many([arguments(Q, K, V), arguments(Q, K, V, mask=CAUSAL)])
    output, _ = attended(plain)
    assert_close(output[0], torch.tensor([0.2254, 0.4135, 0.2964, 0.2964]).numpy(), LESSON, of="the output of The")
    _, weights = attended(causal)
    assert_close(weights[1], torch.tensor([0.8176, 0.1824, 0, 0, 0]).numpy(), LESSON, of="cat, causal")


@worth(1.5, "with only the mask on the CPU, both results are on the GPU and the CPU never waits", target=MANUAL)
def test_on_a_gpu(student):
    found = student.attention_on_device.on_device(Q, K, V, mask=CAUSAL, elsewhere=("mask",))
    assert_disciplined(found, (CAUSAL_OUTPUT, CAUSAL_WEIGHTS), LESSON, device="cuda")


@worth(1, "with all arguments on the CPU, both results are on the CPU", target=MANUAL)
def test_on_the_cpu(student):
    found = student.attention_on_device.on_device(Q, K, V, mask=CAUSAL, elsewhere=(0, 1, 2, "mask"))
    assert_disciplined(found, (CAUSAL_OUTPUT, CAUSAL_WEIGHTS), LESSON, device="cpu")


@worth(2, "bool, int and float masks all give cat the causal output of the lesson", target=FUSED)
def test_masks_of_the_course(student):
    masks = [CAUSAL.bool(), CAUSAL.long(), CAUSAL]
    for mask, value in zip(
        masks, student.fused_attention.call_many([arguments(Q, K, V, m) for m in masks]), strict=True
    ):
        output = array_like(value, (5, 4), of="the output")
        wanted = torch.tensor([0.8176, 0.1824, 0, 0]).numpy()
        assert_close(output[1], wanted, LESSON, of=f"the output of cat for a mask of {mask.dtype}")


@worth(1.5, "with is_causal and a mask that blocks The, cat sees only itself", target=FUSED)
def test_both(student):
    value = student.fused_attention(Q, K, V, mask=torch.tensor([0, 1, 1, 1, 1]), is_causal=True)
    output = array_like(value, (5, 4), of="the output")
    assert_close(output[1], V[1].double().numpy(), LESSON, of="the output of cat, which may see only itself")
    assert_close(output[0], torch.zeros(4).double().numpy(), of="the output of The, which may see nothing")


@worth(1, "fused_attention returns its output on the GPU, and the CPU never waits", target=FUSED)
def test_fused_on_a_gpu(student):
    found = student.fused_attention.on_device(Q, K, V, mask=CAUSAL, is_causal=True, elsewhere=("mask",))
    assert_disciplined(found, CAUSAL_OUTPUT, LESSON, device="cuda")


@worth(1.5, "in 16 bits the weights agree with the lesson to two digits, and float32 stays float32", target=LOW)
def test_sixteen_bits(student):
    value = student.half_precision_attention(Q, K, V, mask=CAUSAL)
    _, weights = attended(value)
    assert_close(weights[1], torch.tensor([0.8176, 0.1824, 0, 0, 0]).numpy(), HALF, of="cat, causal")
    assert {part.dtype for part in value} == {torch.float32}, "float32 in, float32 out"


@worth(1.5, "large scores do not overflow in float16", target=LOW)
def test_no_overflow(student):
    x = torch.full((5, 64), 40.0)  # the scores: 64 * 40 * 40 = 102400, scaled 12800
    output, weights = attended(student.half_precision_attention(x, x, torch.ones(5, 4), dtype=torch.float16))
    assert_close(weights, torch.full((5, 5), 0.2).double().numpy(), HALF, of="the weights of five equal scores")
    assert_close(output, torch.ones(5, 4).double().numpy(), HALF, of="the output")


@worth(1.5, "every tensor of a small batch is moved, and everything else is unchanged", target=MOVE)
def test_a_batch(student):
    batch = {"tokens": torch.tensor([[4, 7], [1, 0]]), "more": [torch.ones(2), "a text"], "length": 2}
    found = student.move_batch.on_device(batch, "cuda", elsewhere=(0,))
    assert len(found.devices) == 2, f"expected the 2 tensors of the batch, got {len(found.devices)}"
    assert_disciplined(found, batch, device="cuda", non_blocking=True)
    assert list(found.value) == ["tokens", "more", "length"], "the order of the keys should not change"
