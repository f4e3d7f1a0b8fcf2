"""The watch over calls on the simulated GPU: nothing that leaves it stays unnoticed, and honest code does not trip."""

from __future__ import annotations

import pytest
import torch

from grader.sandbox.jail.limits import Limits
from grader.sandbox.protocol.device_findings import UNWATCHED, DeviceCall
from tests.conftest import StudentOf

HEAD = "import torch\nimport numpy as np\n"
LIMITS = Limits(cpu_s=10.0)  # torch imports its compiler for some of these
FUNCTION = """class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, gradient):
        return {}
"""
BACKWARD = "y = x.detach().requires_grad_()\nDoubled.apply(y).sum().backward()\nreturn y.grad"


def call(student_of: StudentOf, top: str, body: str) -> DeviceCall:
    """Call `f(x)` with this body on the simulated GPU, after these lines at the top of its file."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    found: DeviceCall = student_of(f"{HEAD}{top}\ndef f(x):\n{lines}\n", "torch", LIMITS).f.on_device(torch.ones(2))
    return found


@pytest.mark.parametrize(
    ("reason", "top", "body"),
    [
        ("watching_off", "", "with torch._C.DisableTorchFunction():\n    n = x.tolist()\nreturn x * sum(n)"),
        (
            "watching_off",
            "",
            "with torch._C.DisableTorchFunction(): n = list(map(torch.Tensor.tolist, [x]))\nreturn x * sum(n[0])",
        ),
        ("watching_off", "", "with torch._C._DisableTorchDispatch():\n    n = x.sum().item()\nreturn x * n"),
        (
            "watching_off",
            "from torch.utils._python_dispatch import _disable_current_modes",
            "with _disable_current_modes():\n    n = x.sum().item()\nreturn x * n",
        ),
        (
            "watching_off",
            "",
            "mode = torch._C._pop_torch_function_stack()\nn = x.tolist()\n"
            "torch._C._push_on_torch_function_stack(mode)\nreturn x * sum(n)",
        ),
        (
            "watching_off",
            "import sys",
            "sys.settrace(None)\nwith torch._C.DisableTorchFunction():\n    n = x.tolist()\nreturn x * sum(n)",
        ),
        (
            "thread",
            "from concurrent.futures import ThreadPoolExecutor",
            "with ThreadPoolExecutor(1) as pool:\n    n = pool.submit(x.tolist).result()\nreturn x * sum(n)",
        ),
        ("memory", "", "return x * x.data_ptr()"),
        ("memory", "", "return x * float(np.from_dlpack(x).sum())"),
        ("memory", "", "return x * torch.from_dlpack(torch.utils.dlpack.to_dlpack(x)).sum()"),
        ("memory", "import io", "file = io.BytesIO()\ntorch.save(x, file)\nreturn x * file.getvalue()[0]"),
        ("memory", "import gc", "gc.get_objects()\nreturn x"),
        ("compiled", "@torch.jit.script\ndef g(x):\n    return x + torch.zeros(2, device=x.device)", "return g(x)"),
    ],
)
def test_what_leaves_the_watch_is_noted(student_of: StudentOf, reason: str, top: str, body: str) -> None:
    found = call(student_of, top, body)
    assert found.findings == ()
    assert found.devices == ("cuda:0",)
    assert {one.what for one in found.unwatched} == {UNWATCHED[reason]}
    assert all(one.line > 2 for one in found.unwatched)


@pytest.mark.parametrize(
    ("top", "body", "line"),
    [
        (FUNCTION.format("gradient * sum(gradient.tolist())"), BACKWARD, 9),
        (FUNCTION.format("gradient * gradient.sum().item()"), BACKWARD, 9),
        ("", "y = x.detach().requires_grad_()\ny.register_hook(lambda g: g * g.tolist()[0])\ny.sum().backward()", 6),
        ("", "return x * float(x.numpy(force=True).sum())", 5),
        ("", "return x * torch.ops.aten.item(x.sum())", 5),
        ("def g(x): return x.tolist()", "return torch.overrides.handle_torch_function(g, (x,), x)", 3),
    ],
)
def test_wait_is_found_wherever_torch_calls_the_code(student_of: StudentOf, top: str, body: str, line: int) -> None:
    found = call(student_of, top, body)
    assert [(one.kind, one.line) for one in found.findings] == [("host_sync", line)]
    assert found.unwatched == ()


@pytest.mark.parametrize(
    ("top", "body"),
    [
        (FUNCTION.format("gradient * torch.ones(2, device=gradient.device)"), BACKWARD),
        (
            "",
            "y = x.detach().requires_grad_()\nz = y * 2\n"
            "z.register_hook(lambda g: g * torch.ones(2, device=g.device))\nz.sum().backward()\nreturn y.grad",
        ),
        ("", "return torch.vmap(lambda row: row + torch.zeros(1, device=row.device))(x)"),
        ("", "return torch.func.grad(lambda row: (row * torch.ones(2, device=row.device)).sum())(x)"),
        (
            "from torch.utils.checkpoint import checkpoint",
            "y = x.detach().requires_grad_()\n"
            "checkpoint(lambda r: r * torch.ones(2, device=r.device), y, use_reentrant=False).sum().backward()\n"
            "return y.grad",
        ),
        (
            "",
            "y = x.detach().requires_grad_()\n"
            "pack = lambda t: t * torch.ones(2, device=t.device)\n"
            "with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):\n"
            "    z = (y * y).sum()\nz.backward()\nreturn y.grad",
        ),
        ("def rows(x):\n    for row in x:\n        yield row * 2", "return torch.stack(list(rows(x)))"),
        ("import copy", "return copy.deepcopy(x)"),
        ("", "with torch.inference_mode():\n    return torch.softmax(x, -1) * torch.ones(2, device=x.device)"),
        ("", "return torch.nn.Parameter(x, requires_grad=False) * 2 if torch.backends.cuda.is_built() else None"),
    ],
)
def test_honest_code_does_not_trip(student_of: StudentOf, top: str, body: str) -> None:
    found = call(student_of, top, body)
    assert (found.findings, found.unwatched, found.devices) == ((), (), ("cuda:0",))


def test_function_for_cpu_tensors_refuses_one_on_the_gpu(student_of: StudentOf) -> None:
    with pytest.raises(Exception, match="apply_ is only implemented on CPU tensors"):
        call(student_of, "", "return x.clone().apply_(lambda n: n + 1)")


def test_watch_ends_with_the_call(student_of: StudentOf) -> None:
    source = f"{HEAD}import sys, builtins\nbefore = builtins.__import__\ndef f(x):\n    return x\n"
    source += "def left():\n    return [sys.gettrace() is None, builtins.__import__ is before]\n"
    student = student_of(source, "torch")
    assert student.f.on_device(torch.ones(2)).devices == ("cuda:0",)
    assert student.left() == [True, True]
