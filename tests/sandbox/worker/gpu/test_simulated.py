"""The simulated GPU: its answers, its cleanup, and the checks on what a worker reports."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader.core.errors import StudentMissingError, StudentRaisedError
from grader.sandbox.protocol.device_findings import DeviceCall, DeviceCopy, DeviceFinding, read_device_call
from grader.sandbox.protocol.replies import MalformedError
from grader.testing import arguments, assert_disciplined
from tests.conftest import StudentOf

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"


def answer(student_of: StudentOf, body: str, *args: Any, **options: Any) -> DeviceCall:
    """Call `f(x)` with this body on the simulated GPU; its first line is line 5."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    found: DeviceCall = student_of(f"{HEAD}def f(*x):\n{lines}\n", "torch").f.on_device(*args, **options)
    return found


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("str(x[0].device)", "cuda:0"),
        ("[x[0].is_cuda, x[0].is_cpu, x[0].get_device(), x[0].type()]", [True, False, 0, "torch.cuda.FloatTensor"]),
        ("[str(y.device) for y in (x[0][0], x[0].T, x[0] + 1, x[0].detach(), x[0].data)]", ["cuda:0"] * 5),
        ("[str(torch.zeros(1, device=d).device) for d in (0, 'cuda', torch.device('cuda', 0))]", ["cuda:0"] * 3),
        (
            "[str(torch.zeros(1).device), str(torch.device(0)), str(torch.Tensor([1.0]).device)]",
            ["cpu", "cuda:0", "cpu"],
        ),
        ("[torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.current_device()]", [True, 1, 0]),
        ("[x[0].to(x[0].device) is x[0], x[0].cuda() is x[0], x[0].to('cuda', torch.float32) is x[0]]", [True] * 3),
        (
            "[str(nn.Linear(2, 2, device='cuda').weight.device), str(nn.Linear(2, 2).to('cuda').bias.device)]",
            ["cuda:0"] * 2,
        ),
        ("[str(torch.normal(x[0], 1.0).device), str(torch.rand_like(x[0], device='cpu').device)]", ["cuda:0", "cpu"]),
        ("[str(y.device) for y in (x[0].new_tensor([1]), x[0].new_zeros(2), x[0].new(2))]", ["cuda:0"] * 3),
        ("[str(y.device) for y in (torch.as_tensor(x[0]), torch.asarray(x[0]), x[0].clone())]", ["cuda:0"] * 3),
        ("str(torch.ops.aten.zeros([2], device='cuda').device)", "cuda:0"),
        ("[torch.zeros(1).pin_memory().is_pinned(), torch.zeros(1, pin_memory=True).is_pinned()]", [True, True]),
        ("str(F.one_hot(torch.zeros(2, dtype=torch.long, device='cuda'), 3).device)", "cuda:0"),
        ("str(__import__('copy').deepcopy(x[0]).device)", "cuda:0"),
    ],
)
def test_torch_answers_as_if_it_had_a_gpu(student_of: StudentOf, expression: str, expected: Any) -> None:
    found = answer(student_of, f"return {expression}", torch.ones(2, 2))
    assert found.value == expected
    assert found.findings == ()


def test_gradients_flow_on_and_between_devices(student_of: StudentOf) -> None:
    body = """
layer = nn.Linear(2, 2).to(x[0].device)
weight = torch.ones(2, 2, requires_grad=True)
loss = (layer(x[0]) @ weight.to(x[0].device)).square().sum()
loss.backward()
grad, = torch.autograd.grad((x[0].requires_grad_() ** 2).sum(), x[0])
return [str(one.device) for one in (layer.weight.grad, weight.grad, grad)]
"""
    found = answer(student_of, body, torch.ones(2, 2))
    assert found.value == ["cuda:0", "cpu", "cuda:0"]
    assert {finding.kind for finding in found.findings} == {"made_on_cpu"}
    assert [finding.line for finding in found.findings] == [7]


def test_a_result_cannot_be_written_to_a_number_on_the_cpu(student_of: StudentOf) -> None:
    source = f"{HEAD}def f(x):\n    return torch.sum(x, 0, out=torch.tensor(0.0))\n"
    found = student_of(source, "torch").f.on_device(torch.ones(2))
    assert {finding.kind for finding in found.findings} == {"mixed_devices"}


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("return x[0] + torch.from_numpy(np.ones((2, 2), np.float32)).to(x[0].device)", {"made_on_cpu"}),
        ("return x[0] + torch.frombuffer(bytearray(16), dtype=torch.float32).view(2, 2).cuda()", {"made_on_cpu"}),
        ("return x[0] + KEPT.to(x[0].device)", set()),
        ("return x[0] + torch.from_numpy(x[1].numpy()).to(x[0].device)", set()),
        ("y = x[1].to(x[0].device)\nreturn y + torch.from_numpy(x[1].numpy()).cuda()", {"moved_more_than_once"}),
    ],
)
def test_a_tensor_from_a_numpy_array_is_made_where_the_array_was(
    student_of: StudentOf, body: str, found: set[str]
) -> None:
    top = "import numpy as np\nKEPT = torch.from_numpy(np.ones((2, 2), np.float32))\n"
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    student = student_of(f"{HEAD}{top}def f(*x):\n{lines}\n", "torch")
    call = student.f.on_device(torch.ones(2, 2), torch.ones(2, 2), elsewhere=[1])
    assert {finding.kind for finding in call.findings} == found


def test_simulation_leaves_torch_unchanged(student_of: StudentOf) -> None:
    source = f"""{HEAD}
def spoil(x):
    torch.set_default_device("cuda")
    return torch.zeros(2)
def fail(x):
    torch.set_default_device("cuda")
    return x @ torch.ones(3, device="cpu")
def plain():
    return [str(torch.zeros(2).device), torch.cuda.is_available(), torch.cuda.device_count()]
"""
    student = student_of(source, "torch")
    assert student.spoil.on_device(torch.ones(2)).devices == ("cuda:0",)
    assert student.plain() == ["cpu", torch.cuda.is_available(), torch.cuda.device_count()]
    found = student.fail.on_device(torch.ones(3))
    assert "same device" in str(found.raised)
    assert student.plain() == ["cpu", torch.cuda.is_available(), torch.cuda.device_count()]


def test_kept_tensor_stays_on_its_device(student_of: StudentOf) -> None:
    source = f"{HEAD}kept = []\ndef f(x):\n    kept.append(x)\n    return kept[0] + x\n"
    function = student_of(source, "torch").f
    first, second = function.on_device_many([arguments(torch.ones(2)), arguments(torch.ones(2))])
    assert first.findings == second.findings == ()
    assert function.on_device(torch.ones(2)).devices == ("cuda:0",)
    assert function.on_device(torch.ones(2), elsewhere=(0,)).findings[0].kind == "mixed_devices"


def test_module_moves_to_the_gpu_before_its_call(student_of: StudentOf) -> None:
    source = f"""{HEAD}
class Layer(nn.Module):
    def __init__(self, registered):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        if registered:
            self.register_buffer("scale", torch.ones(2))
        else:
            self.scale = torch.ones(2)
    def forward(self, x):
        return self.linear(x) * self.scale
"""
    layer = student_of(source, "torch").Layer
    for found in (layer.made(True).on_device(torch.ones(3, 2)), layer.made(True).forward.on_device(torch.ones(3, 2))):
        assert_disciplined(found, found.value, device="cuda")
        assert found.copies == ()
    with pytest.raises(AssertionError, match=r"line 14 of work.py: mul\(\) of a tensor on cuda:0 and one on the CPU"):
        assert_disciplined(layer.made(False).on_device(torch.ones(3, 2)), None)


@pytest.mark.parametrize(("entries", "kinds"), [(8, []), (9, ["made_on_cpu"])])
def test_a_module_may_move_a_few_numbers_in_each_call(student_of: StudentOf, entries: int, kinds: list[str]) -> None:
    body = f"""
module = nn.Module()
module.register_buffer("table", torch.ones({entries}))
return module.to("cuda").table * x[0][0]
"""
    assert [one.kind for one in answer(student_of, body, torch.ones(2)).findings] == kinds


def test_machine_without_a_gpu(student_of: StudentOf) -> None:
    body = "return [str(x[0].device), torch.cuda.is_available(), torch.cuda.device_count()]"
    assert answer(student_of, body, torch.ones(2), gpu=False).value == ["cpu", False, 0]
    for asked in ("torch.zeros(1, device='cuda')", "x[0].cuda()", "x[0].to('cuda:0')", "torch.cuda.current_device()"):
        with pytest.raises(StudentRaisedError, match="No CUDA GPUs are available"):
            answer(student_of, f"return {asked}", torch.ones(2), gpu=False)


def test_there_is_only_one_gpu(student_of: StudentOf) -> None:
    with pytest.raises(StudentRaisedError, match="invalid device ordinal"):
        answer(student_of, "return x[0].to('cuda:1')", torch.ones(2))


def test_error_without_a_finding_is_raised(student_of: StudentOf) -> None:
    with pytest.raises(StudentRaisedError, match="too small"):
        answer(student_of, "raise ValueError('too small')", torch.ones(2))
    with pytest.raises(StudentMissingError):
        student_of("def f():\n    pass\ndel f", "torch").f.on_device()
    with pytest.raises(TypeError, match="elsewhere names"):
        answer(student_of, "return x", torch.ones(2), elsewhere=("mask",))


def test_streams_and_events_exist(student_of: StudentOf) -> None:
    body = """
side = torch.cuda.Stream()
with torch.cuda.stream(side), torch.cuda.device(0):
    y = x[0] * 2
torch.cuda.current_stream().wait_stream(side)
y.record_stream(side)
side.synchronize()
return y
"""
    found = answer(student_of, body, torch.ones(2))
    assert [(finding.kind, finding.line) for finding in found.findings] == [("host_sync", 10)]
    assert found.devices == ("cuda:0",)


def test_findings_become_messages(student_of: StudentOf) -> None:
    found = answer(student_of, "a = torch.ones(2)\nif x[0].any():\n    a = a * 2\nreturn x[0] + a", torch.ones(2))
    assert [(one.kind, one.line) for one in found.findings] == [("host_sync", 6), ("mixed_devices", 8)]
    assert found.findings[1].what == "add() of a tensor on cuda:0 and one on the CPU, made in line 7"
    assert found.value is None
    with pytest.raises(AssertionError) as failure:
        assert_disciplined(found, None)
    assert str(failure.value).startswith("line 6 of work.py: a tensor used as a condition (by `if`")
    assert str(failure.value).endswith("Look at line 8, too.")


def test_devices_and_copies_of_results_are_checked(student_of: StudentOf) -> None:
    found = answer(student_of, "return {'a': [x[0], 'text'], 'b': (x[0].to('cuda'),)}", torch.ones(2), elsewhere=(0,))
    assert found.devices == ("cpu", "cuda:0")
    assert found.copies == (DeviceCopy(False, "work.py", 5),)
    with pytest.raises(AssertionError, match="1 of 2 tensors of the result are not on the device cuda"):
        assert_disciplined(found, found.value, device="cuda")
    with pytest.raises(AssertionError, match=r"line 5 of work.py: the CPU waits for this copy"):
        assert_disciplined(found, found.value, non_blocking=True)


def test_zeros_on_the_gpu_are_not_disciplined(student_of: StudentOf) -> None:
    found = answer(student_of, "return x[0] * (0 if x[0].is_cuda else 2)", torch.ones(2))
    assert not found.is_compared
    with pytest.raises(AssertionError, match=r"the result on cuda: .*got 0, expected 2"):
        assert_disciplined(found, torch.full((2,), 2.0), device="cuda")
    assert found.is_compared


def test_message_names_five_lines_at_most(student_of: StudentOf) -> None:
    found = answer(student_of, "\n".join(["x[0].sum().item()"] * 9), torch.ones(2))
    assert len(found.findings) == 9
    with pytest.raises(AssertionError, match=r"line 5 .* Look at line 6 and 7 and 8 and 9, too\.$"):
        assert_disciplined(found, None)


def test_tensor_that_cannot_be_sent_is_not_counted_in_the_result(student_of: StudentOf) -> None:
    found = answer(student_of, "return x[0], torch.eye(2).to_sparse(), torch.empty(2, device='meta')", torch.ones(2))
    assert found.devices == ("cuda:0",)


ANSWER: dict[str, Any] = {"value": None, "devices": [], "findings": [], "copies": []}


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {},
        ANSWER | {"devices": ["cuda:0"]},
        ANSWER | {"devices": [5]},
        ANSWER | {"findings": [["host_sync", "item", 0, "work.py"]]},
        ANSWER | {"findings": [["odd", "item", 0, "work.py", 1]]},
        ANSWER | {"findings": [["host_sync", "item", 1.0, "work.py", 1]]},
        ANSWER | {"findings": [["unwatched", "item", 0, "work.py", 1]]},
        ANSWER | {"findings": [["host_sync", "item", 0, "work.py", True]]},
        ANSWER | {"findings": [["host_sync", 3, 0, "work.py", 1]]},
        ANSWER | {"findings": [["host_sync", "item", 0, "work.py", 1]] * 201},
        ANSWER | {"copies": [[1, "work.py", 1]]},
        ANSWER | {"copies": {}},
        ANSWER | {"more": 1},
    ],
)
def test_malformed_answer_is_refused(answer: object) -> None:
    with pytest.raises(MalformedError):
        read_device_call(answer, None, None, {"work.py": 9})


def test_made_up_words_of_a_worker_are_not_repeated() -> None:
    findings = [
        ["host_sync", "x=[1.5]\x1b[31m", 0, "spied.py", 3],
        ["host_sync", "the_first_number_is_three", 0, "work.py", 10],
        ["mixed_devices", "item", 31415, "work.py", -1],
        ["host_sync", "item", 0, "work.ipynb[2]", 3],
        ["host_sync", "_local_scalar_dense", 0, "work.ipynb[3]", 3],
    ]
    lines = {"work.py": 9, "work.ipynb[2]": 3}
    found = read_device_call(ANSWER | {"findings": findings}, None, None, lines)
    assert found.findings == (
        DeviceFinding("host_sync", "an operation: the CPU waits for the GPU", "", 0),
        DeviceFinding("host_sync", "an operation: the CPU waits for the GPU", "", 0),
        DeviceFinding("mixed_devices", ".item() of a tensor on cuda:0 and one on the CPU", "", 0),
        DeviceFinding("host_sync", ".item(): the CPU waits for the GPU", "work.ipynb[2]", 3),
        DeviceFinding("host_sync", "local_scalar_dense(): the CPU waits for the GPU", "", 0),
    )


def test_student_cannot_choose_the_name_in_a_message(student_of: StudentOf) -> None:
    body = """
from functools import partial
item = partial(torch.Tensor.item)
item.__name__ = "the_first_number_is_one"
return torch.overrides.handle_torch_function(item, (x[0],), x[0])
"""
    found = answer(student_of, body, torch.ones(1))
    assert [one.what for one in found.findings] == ["an operation: the CPU waits for the GPU"]


def test_lying_worker_is_ended(student_of: StudentOf) -> None:
    body = """
import grader.sandbox.worker.gpu.call as calling
calling.sendable = lambda value: iter([x[0], x[0]])
return x[0]
"""
    with pytest.raises(Exception, match="interfered with the grader's channel"):
        answer(student_of, body, torch.ones(2))
