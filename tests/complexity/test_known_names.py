"""Names in reports come from libraries, and a worker's word loads nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch  # noqa: F401 - names of torch are known only where it is loaded

from grader.complexity.known_names import known_name
from grader.sandbox.protocol.call_names import ATTENTION, SUM, UNKNOWN


@pytest.mark.parametrize(
    "name", ["numpy.dot", "numpy.add.reduce", "ndarray.dot", "torch.matmul", "torch.ops.aten.mm", "@", SUM, "sum"]
)
def test_names_of_libraries_are_shown(name: str) -> None:
    assert known_name(name) == name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("mylab.softmax.x1234", UNKNOWN),
        ("numpy.x1234", UNKNOWN),
        ("torch.x1234.matmul", UNKNOWN),
        ("torch.x1234", UNKNOWN),
        ("torch.scaled_dot_product_x1234", ATTENTION),
        ("numpy." + ".a" * 100_000, UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_names_that_a_student_chose_are_not(name: str, shown: str) -> None:
    assert known_name(name) == shown


def test_a_name_loads_no_module() -> None:
    code = "from grader.complexity.known_names import known_name\n"
    code += "import sys\nknown_name('torch._dynamo.x')\nknown_name('torch.matmul')\nprint('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
