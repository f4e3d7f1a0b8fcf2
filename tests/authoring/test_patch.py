"""`REPLACE` makes a wrong way from the lines of the solution that it changes."""

from __future__ import annotations

import pytest

from grader.authoring.patch import PatchError, patched_code

SOLUTION = '''
import numpy as np


def double(x):
    """Return 2 * x.

    return x is not enough.
    """
    ### BEGIN SOLUTION
    x = np.asarray(x)  # (n,)
    if x.size == 0:
        raise ValueError("empty")
    return 2 * x
    ### END SOLUTION


class Scale(list):
    """Multiplies."""

    factor = 3

    def __init__(self, by):
        super().__init__()
        self.by = by

    def apply(self, x):
        """Return by * x."""
        x = np.asarray(x)
        return self.by * x

    def twice(self, x):
        x = self.apply(x)
        x = self.apply(x)
        return x
'''


def test_a_line_of_a_function() -> None:
    code = patched_code(SOLUTION, {"return 2 * x": "return 3 * x"}, None)
    assert code == {
        "double": "def double(x):\n    x = np.asarray(x)\n    if x.size == 0:\n"
        '        raise ValueError("empty")\n    return 3 * x'
    }


def test_several_lines_and_none_and_the_indent_of_the_old_line() -> None:
    replace = {'if x.size == 0:\nraise ValueError("empty")': "", "return 2 * x": "if x.any():\n    return x\nreturn 0"}
    (code,) = patched_code(SOLUTION, replace, None).values()
    assert code == "def double(x):\n    x = np.asarray(x)\n    if x.any():\n        return x\n    return 0"


def test_an_old_line_may_have_its_comment() -> None:
    (code,) = patched_code(SOLUTION, {"x = np.asarray(x)  # (n,)": "x = np.array(x)"}, "double").values()
    assert "x = np.array(x)" in code


def test_a_method_extends_the_class_and_one_with_super_copies_it() -> None:
    code = patched_code(SOLUTION, {"return self.by * x": "return x"}, None)
    own = "class Scale(Scale):\n    def apply(self, x):\n        x = np.asarray(x)\n        return x"
    assert code == {"Scale": own}
    code = patched_code(SOLUTION, {"self.by = by": "self.by = -by"}, None)
    assert code["Scale"].startswith("class Scale(list):\n    factor = 3\n    def __init__(self, by):\n        super()")
    code = patched_code(SOLUTION, {"factor = 3": "factor = 4"}, None)
    assert "class Scale(list):\n    factor = 4\n" in code["Scale"]
    names: dict[str, type] = {}
    exec("import numpy as np\n" + code["Scale"], names)
    assert names["Scale"](2).apply(3) == 6


@pytest.mark.parametrize(
    ("replace", "only", "problem"),
    [
        ({"return 4 * x": "return x"}, None, "no function of the solution has the line 'return 4 * x'"),
        ({"return self.by * x": "return x"}, "double", "double does not have the line 'return self.by * x'"),
        ({"x = np.asarray(x)": "pass"}, None, "double and Scale.apply have the line 'x = np.asarray(x)'"),
        ({"x = self.apply(x)": "pass"}, None, "Scale.twice has the line 'x = self.apply(x)' 2 times"),
        ({"return 2 * x": "return 2 *"}, None, "with REPLACE, the code is not Python: invalid syntax at 'return 2 *'"),
        ({"return 2 * x": "return 2 * x "}, None, "the new line is the same as the old one: 'return 2 * x'"),
        ({"return 2 * x": "return x"}, "triple", "IN names triple, which the solution does not define"),
        ({" ": "return x"}, None, "an old line of REPLACE is empty"),
        ({"return is not enough.": "return x"}, None, "no function of the solution has the line"),
        ({"return 2 * x": "", 'raise ValueError("empty")\nreturn 2 * x': ""}, None, "two old lines of REPLACE overlap"),
    ],
)
def test_a_patch_that_does_not_fit(replace: dict[str, str], only: str | None, problem: str) -> None:
    with pytest.raises(PatchError) as raised:
        patched_code(SOLUTION, replace, only)
    assert str(raised.value).startswith(problem)
    assert raised.value.fix
