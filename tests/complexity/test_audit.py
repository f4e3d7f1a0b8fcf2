"""The audit certifies plain code, and names the line of anything that could reach behind the meters."""

from __future__ import annotations

import pytest

from grader.complexity.audit import Reason, UncertifiedLine, _is_absent, audit
from grader.course.course import Course
from tests.cases import cases

IMPORTS = "import functools, math, operator\nimport numpy as np\nimport torch\nfrom torch import nn\n"


def found_in(*cells: str, notebook: bool = False) -> tuple[UncertifiedLine, ...]:
    return audit({"f": {"file": "f.py", "cells": [cell.encode() for cell in cells], "notebook": notebook}})


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import gc", Reason.IMPORT),
        ("x = 1; import grader", Reason.IMPORT),
        ("from torch.utils import _python_dispatch", Reason.IMPORT),
        ("from . import other", Reason.IMPORT),
        ("exec('x = 1')", Reason.HATCH),
        ("run = eval", Reason.HATCH),
        ("ｅｘｅｃ('x = 1')", Reason.HATCH),  # Python reads full-width letters as plain ones
        ("globals()['x']", Reason.HATCH),
        ("look = getattr", Reason.HATCH),
        ("getattr(np, 'do' + 't')", Reason.DYNAMIC),
        ("operator.attrgetter('a' + 'b')", Reason.DYNAMIC),
        ("functools.reduce(getattr, ['a'], np)", Reason.HATCH),
        ("math.exp.__self__.__dict__['x'].__globals__", Reason.DUNDER),
        ("torch._C", Reason.PRIVATE),
        ("torch.jit.script(f)", Reason.UNWATCHED),
        ("torch.ops.aten.mm", Reason.UNWATCHED),
        ("np.ctypeslib", Reason.HATCH),
        ("x.data_ptr()", Reason.HATCH),
        ("np.multiply = f", Reason.CHANGED_LIBRARY),
        ("setattr(np, 'multiply', f)", Reason.CHANGED_LIBRARY),
        ("type(x).__matmul__ = f", Reason.CHANGED_LIBRARY),
        ("class A(torch.Tensor): pass", Reason.BASE_CLASS),
        ("class A(np.ndarray): pass", Reason.BASE_CLASS),
        ("class A(float): pass", Reason.BASE_CLASS),
        ("class A(metaclass=M): pass", Reason.BASE_CLASS),
        ("class A:\n    def __torch_function__(self): pass", Reason.SPECIAL_METHOD),
        ("class A:\n    __getitem__ = functools.partial(np.dot, 1)", Reason.SPECIAL_METHOD),
        ("class A:\n    x = property(np.sum)", Reason.SPECIAL_METHOD),
        ("type('A', (), {})", Reason.SPECIAL_METHOD),
        ("class A:\n    def f(self, name): return getattr(self, f'{name}_frame')", Reason.DYNAMIC),
        ("class A:\n    def f(self, name): return getattr(self, name + '__')", Reason.DYNAMIC),
        ("def f(m): return m.__dict__['modules']\nimport sys\nf(sys)", Reason.LIBRARY_AS_VALUE),
        ("def f(m): return m.__dict__['eval']\nimport builtins\nf(builtins)", Reason.LIBRARY_AS_VALUE),
        ("def f(self): return getattr(self, '_' + 'C')\nf(torch)", Reason.LIBRARY_AS_VALUE),
        ("def f(self): return getattr(self, 'com' + 'pile')\nf(torch)", Reason.LIBRARY_AS_VALUE),
        ("from builtins import eval", Reason.IMPORT),
        ("import builtins\nbuiltins.exec('x = 1')", Reason.UNWATCHED),
        ("from numpy import *\nclass A(ndarray): pass", Reason.BASE_CLASS),
        ("def __getattr__(name): pass", Reason.SPECIAL_METHOD),
        ("async def f(): pass", Reason.ASYNCHRONOUS),
        ("attn_meter", Reason.OUR_NAMES),
        ("def f(x):\n    n = [np]\n    n[0].multiply = x", Reason.LIBRARY_AS_VALUE),
        ("if __name__ == '__main__':\n    pass\nelse:\n    import gc", Reason.IMPORT),  # this is the part that runs
        ("if " + "not " * 900 + "x:\n    import gc", Reason.UNREADABLE),
        ("x = " + "-" * 5000 + "1", Reason.UNREADABLE),
        ("x = " + "1 + " * 60_000 + "1", Reason.UNREADABLE),
    ],
)
def test_what_could_reach_behind_the_meters_is_named(code: str, reason: Reason) -> None:
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
    assert found_in("import gc\nimport inspect\nimport gc\n") == (UncertifiedLine("f.py", 1, Reason.IMPORT),)


def test_a_library_that_is_not_installed_can_only_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "def f(x):\n    from scipy.special import softmax\n    return softmax(x)\n"
    monkeypatch.setattr("grader.complexity.audit.find_spec", lambda _: None)
    _is_absent.cache_clear()
    assert found_in(code) == ()
    assert [one.reason for one in found_in("import scipyy")] == [Reason.IMPORT]
    monkeypatch.setattr("grader.complexity.audit.find_spec", lambda _: object())
    _is_absent.cache_clear()
    assert [one.reason for one in found_in(f"{code}\n")] == [Reason.IMPORT]  # audits are remembered by their text
    _is_absent.cache_clear()


def test_cells_of_a_notebook_are_read_as_jupyter_runs_them() -> None:
    found = found_in(
        "%matplotlib inline\nimport numpy as np", "this is not Python", "if True:\n    import gc", notebook=True
    )
    assert found == (UncertifiedLine("f.py[3]", 2, Reason.IMPORT),)
    (main,) = found_in("if __name__ == '__main__':\n    import gc", notebook=True)
    assert main.line == 2  # a notebook is the main program


def test_a_cell_of_nothing_but_magic_is_not_read_to_its_end() -> None:
    (found,) = found_in("!ls\n" * 20_000, notebook=True)
    assert found.reason == Reason.UNREADABLE


def test_a_name_of_one_cell_is_known_in_the_others() -> None:
    found = found_in("import numpy as np", "np.multiply = 1", notebook=True)
    assert found == (UncertifiedLine("f.py[2]", 1, Reason.CHANGED_LIBRARY),)


def test_solutions_and_right_solutions_are_certified(course: Course) -> None:
    texts = {module.name: course.solution(module).read_text() for module in course.modules}
    scripts = [case for family in ("right", "honest") for case in cases(family) if not case.notebook]
    texts |= {f"{case.module} {case.name}": case.code for case in scripts}
    assert {name: found for name, text in texts.items() if (found := found_in(text))} == {}
    assert len(texts) > 140
