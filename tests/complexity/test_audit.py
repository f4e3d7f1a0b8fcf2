"""The audit certifies plain code, and names the line of anything that could reach behind the meters."""

from __future__ import annotations

import pytest

from grader.complexity import audit as reasons
from grader.complexity.audit import Finding, audit
from grader.course.course import Course
from tests.conftest import DATA

IMPORTS = "import functools, math, operator\nimport numpy as np\nimport torch\nfrom torch import nn\n"


def found_in(*cells: str, notebook: bool = False) -> tuple[Finding, ...]:
    return audit({"f": {"file": "f.py", "cells": [cell.encode() for cell in cells], "notebook": notebook}})


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import gc", reasons.IMPORT),
        ("x = 1; import grader", reasons.IMPORT),
        ("from torch.utils import _python_dispatch", reasons.IMPORT),
        ("from . import other", reasons.IMPORT),
        ("exec('x = 1')", reasons.HATCH),
        ("run = eval", reasons.HATCH),
        ("ｅｘｅｃ('x = 1')", reasons.HATCH),  # Python reads full-width letters as plain ones
        ("globals()['x']", reasons.HATCH),
        ("look = getattr", reasons.HATCH),
        ("getattr(np, 'do' + 't')", reasons.DYNAMIC),
        ("operator.attrgetter('a' + 'b')", reasons.DYNAMIC),
        ("functools.reduce(getattr, ['a'], np)", reasons.HATCH),
        ("math.exp.__self__.__dict__['x'].__globals__", reasons.DUNDER),
        ("torch._C", reasons.PRIVATE),
        ("torch.jit.script(f)", reasons.UNWATCHED),
        ("torch.ops.aten.mm", reasons.UNWATCHED),
        ("np.ctypeslib", reasons.HATCH),
        ("x.data_ptr()", reasons.HATCH),
        ("np.multiply = f", reasons.CHANGED_LIBRARY),
        ("setattr(np, 'multiply', f)", reasons.CHANGED_LIBRARY),
        ("type(x).__matmul__ = f", reasons.CHANGED_LIBRARY),
        ("class A(torch.Tensor): pass", reasons.BASE_CLASS),
        ("class A(np.ndarray): pass", reasons.BASE_CLASS),
        ("class A(float): pass", reasons.BASE_CLASS),
        ("class A(metaclass=M): pass", reasons.BASE_CLASS),
        ("class A:\n    def __torch_function__(self): pass", reasons.SPECIAL_METHOD),
        ("class A:\n    __getitem__ = functools.partial(np.dot, 1)", reasons.SPECIAL_METHOD),
        ("class A:\n    x = property(np.sum)", reasons.SPECIAL_METHOD),
        ("type('A', (), {})", reasons.SPECIAL_METHOD),
        ("class A:\n    def f(self, name): return getattr(self, f'{name}_frame')", reasons.DYNAMIC),
        ("class A:\n    def f(self, name): return getattr(self, name + '__')", reasons.DYNAMIC),
        ("def f(m): return m.__dict__['modules']\nimport sys\nf(sys)", reasons.LIBRARY_AS_VALUE),
        ("def f(m): return m.__dict__['eval']\nimport builtins\nf(builtins)", reasons.LIBRARY_AS_VALUE),
        ("def f(self): return getattr(self, '_' + 'C')\nf(torch)", reasons.LIBRARY_AS_VALUE),
        ("def f(self): return getattr(self, 'com' + 'pile')\nf(torch)", reasons.LIBRARY_AS_VALUE),
        ("from builtins import eval", reasons.IMPORT),
        ("import builtins\nbuiltins.exec('x = 1')", reasons.UNWATCHED),
        ("from numpy import *\nclass A(ndarray): pass", reasons.BASE_CLASS),
        ("def __getattr__(name): pass", reasons.SPECIAL_METHOD),
        ("async def f(): pass", reasons.ASYNCHRONOUS),
        ("attn_meter", reasons.OUR_NAMES),
        ("def f(x):\n    n = [np]\n    n[0].multiply = x", reasons.LIBRARY_AS_VALUE),
        ("if __name__ == '__main__':\n    pass\nelse:\n    import gc", reasons.IMPORT),  # this is the part that runs
        ("if " + "not " * 900 + "x:\n    import gc", reasons.UNREADABLE),
        ("x = " + "-" * 5000 + "1", reasons.UNREADABLE),
        ("x = " + "1 + " * 60_000 + "1", reasons.UNREADABLE),
    ],
)
def test_what_could_reach_behind_the_meters_is_named(code: str, reason: str) -> None:
    found = found_in(f"{IMPORTS}{code}")
    assert reason in {one.reason for one in found}, found


@pytest.mark.parametrize(
    "code",
    [
        "F = torch.nn.functional\nF.softmax",
        "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self._a = self._a",
        "class A:\n    def forward(self): pass\n    __call__ = forward",
        "getattr(np, 'trapezoid', None)",
        "class A:\n    def f(self, name): return getattr(self, f'{name}_proj'), getattr(self, name + '_proj')",
        "class A:\n    def __ilshift__(self, x): return self\n    def __imod__(self, x): return self",
        "from torch import *\nfrom torch.nn import *\nfrom builtins import range, sum\nclass A(Module): pass",
        "f'{type(x).__name__}: {np.__version__}'",
        "if __name__ == '__main__':\n    import pdb",
        "def f(kind: type) -> type: return kind",
        "@functools.lru_cache\ndef f(x): return math.exp(x)",
        "np.add.reduce(np.lib.stride_tricks.sliding_window_view(x, 2))",
    ],
)
def test_plain_code_is_certified(code: str) -> None:
    assert found_in(f"{IMPORTS}{code}") == ()


def test_the_first_line_of_each_reason_is_named() -> None:
    assert found_in("import gc\nimport inspect\nimport gc\n") == (Finding("f.py", 1, reasons.IMPORT),)


def test_cells_of_a_notebook_are_read_as_jupyter_runs_them() -> None:
    found = found_in(
        "%matplotlib inline\nimport numpy as np", "this is not Python", "if True:\n    import gc", notebook=True
    )
    assert found == (Finding("f.py[3]", 2, reasons.IMPORT),)
    (main,) = found_in("if __name__ == '__main__':\n    import gc", notebook=True)
    assert main.line == 2  # a notebook is the main program


def test_a_cell_of_nothing_but_magic_is_not_read_to_its_end() -> None:
    (found,) = found_in("!ls\n" * 20_000, notebook=True)
    assert found.reason == reasons.UNREADABLE


def test_a_name_of_one_cell_is_known_in_the_others() -> None:
    found = found_in("import numpy as np", "np.multiply = 1", notebook=True)
    assert found == (Finding("f.py[2]", 1, reasons.CHANGED_LIBRARY),)


def test_solutions_and_right_solutions_are_certified(course: Course) -> None:
    paths = [*map(course.solution, course.modules), *(DATA / "right").rglob("*.py"), *(DATA / "honest").rglob("*.py")]
    assert {path.stem: found for path in paths if (found := found_in(path.read_text()))} == {}
    assert len(paths) > 140
