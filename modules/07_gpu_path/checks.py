"""Visible checks of 07_gpu_path: run them with `attn test` or `python -m pytest checks.py`.

`on_device` calls a function on a machine that pretends to have a GPU. `assert_disciplined` then says in which line the
real one would raise an error, or be waited for.
"""

import torch

from grader.core.errors import StudentRaisedError
from grader.testing import Tolerance, arguments, array_like, assert_close, assert_disciplined, worth

# The shared example, "The cat sat on mat": a row for each token.
Q = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
K = torch.tensor([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
V = torch.tensor([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
CAUSAL = torch.ones(5, 5).tril()
LESSON = Tolerance(0.0, 6e-5)  # the lesson has four decimals
HALF = Tolerance(0.0, 1e-2)  # and 16 bits have two
PICK, MANUAL, FUSED = "pick_device", "attention_on_device", "fused_attention"
LOW, MOVE = "half_precision_attention", "move_batch"


def attended(value):
    """Return output and weights, or fail."""
    assert type(value) is tuple, "expected the pair (output, weights)"
    assert len(value) == 2, f"expected the pair (output, weights), got {len(value)} things"
    return array_like(value[0], (5, 4), of="the output"), array_like(value[1], (5, 5), of="the weights")


def raised_by(call):
    """Return what the student's code raises, if it does."""
    try:
        call()
    except StudentRaisedError as error:
        return error
    return None


@worth(1, "cuda is picked where there is a GPU, the CPU where there is none", target=PICK)
def test_with_a_gpu_and_without(student):
    for gpu, wanted in ((True, "cuda"), (False, "cpu")):
        device = student.pick_device.on_device("cuda", gpu=gpu).value
        assert type(device) is torch.device, "pick_device should return a torch.device"
        assert device.type == wanted, f"{'with' if gpu else 'without'} a GPU, {device.type} was picked, not {wanted}"


@worth(1, "gpu is no name of a device", target=PICK)
def test_no_device(student):
    error = raised_by(lambda: student.pick_device("gpu"))
    assert error is not None, "expected a ValueError for the device gpu"
    assert "ValueError" in error.types, f"expected a ValueError: {error}"
    assert "gpu" in error.message, f"the message should hold the name, gpu: {error.message!r}"


@worth(1.5, "cat has the causal weights and output of the lesson", target=MANUAL)
def test_the_shared_example(student):
    plain, causal = student.attention_on_device.call_many([arguments(Q, K, V), arguments(Q, K, V, mask=CAUSAL)])
    output, _ = attended(plain)
    assert_close(output[0], torch.tensor([0.2254, 0.4135, 0.2964, 0.2964]).numpy(), LESSON, of="the output of The")
    _, weights = attended(causal)
    assert_close(weights[1], torch.tensor([0.8176, 0.1824, 0, 0, 0]).numpy(), LESSON, of="cat, causal")


@worth(1.5, "on a GPU, with the mask left on the CPU, everything ends up on the GPU", target=MANUAL)
def test_on_a_gpu(student):
    found = student.attention_on_device.on_device(Q, K, V, mask=CAUSAL, elsewhere=("mask",))
    assert_disciplined(found, device="cuda")
    assert len(found.devices) == 2, "expected the pair (output, weights)"


@worth(1, "on the CPU, everything stays on the CPU", target=MANUAL)
def test_on_the_cpu(student):
    found = student.attention_on_device.on_device(Q, K, V, mask=CAUSAL, elsewhere=(0, 1, 2, "mask"))
    assert_disciplined(found, device="cpu")
    assert len(found.devices) == 2, "expected the pair (output, weights)"


@worth(2, "the built-in understands this course's masks", target=FUSED)
def test_masks_of_the_course(student):
    masks = [CAUSAL.bool(), CAUSAL.long(), CAUSAL]
    for mask, value in zip(
        masks, student.fused_attention.call_many([arguments(Q, K, V, m) for m in masks]), strict=True
    ):
        output = array_like(value, (5, 4), of="the output")
        wanted = torch.tensor([0.8176, 0.1824, 0, 0]).numpy()
        assert_close(output[1], wanted, LESSON, of=f"the output of cat for a mask of {mask.dtype}")


@worth(1.5, "is_causal and a mask both hold", target=FUSED)
def test_both(student):
    value = student.fused_attention(Q, K, V, mask=torch.tensor([0, 1, 1, 1, 1]), is_causal=True)
    output = array_like(value, (5, 4), of="the output")
    assert_close(output[1], V[1].double().numpy(), LESSON, of="cat may not see The, nor what comes after: its output")
    assert_close(output[0], torch.zeros(4).double().numpy(), of="nothing is left for The: its output")


@worth(1, "fused_attention stays on the GPU", target=FUSED)
def test_fused_on_a_gpu(student):
    found = student.fused_attention.on_device(Q, K, V, mask=CAUSAL, is_causal=True, elsewhere=("mask",))
    assert_disciplined(found, device="cuda")
    assert len(found.devices) == 1, "expected the output alone"


@worth(1.5, "in 16 bits the numbers of the lesson come out to two digits, in float32", target=LOW)
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


@worth(1.5, "a small batch is moved, and what is no tensor stays", target=MOVE)
def test_a_batch(student):
    batch = {"tokens": torch.tensor([[4, 7], [1, 0]]), "more": [torch.ones(2), "a text"], "length": 2}
    found = student.move_batch.on_device(batch, "cuda", elsewhere=(0,))
    assert len(found.devices) == 2, f"there are two tensors in the batch, and {len(found.devices)} came back"
    assert_disciplined(found, device="cuda", non_blocking=True)
    moved = found.value
    assert type(moved) is dict, "a dict stays a dict"
    assert list(moved) == ["tokens", "more", "length"], "the keys stay what they are"
    assert moved["length"] == 2, "a number stays what it is"
    assert type(moved["more"]) is list, "a list stays a list"
    assert moved["more"][1:] == ["a text"], "a text stays what it is"
