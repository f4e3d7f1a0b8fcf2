"""Products that are written in functions are found, whether they run or not."""

from __future__ import annotations

import pytest

from grader.complexity.written_calls import first_product

OWN = "class Rows:\n    def __matmul__(self, other):\n        return 0\n"


def found(*cells: str) -> int | None:
    source = {"file": "f.py", "cells": [cell.encode() for cell in cells], "notebook": len(cells) > 1}
    place = first_product(source)
    return place[1] if place else None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def f(a, b):\n    return a @ b\n", 2),
        ("def f(a, b):\n    if len(a) == 17:\n        a @= b\n    return a\n", 3),
        ("import numpy as np\nproduct = np.dot\ndef f(a, b):\n    return product(a, b)\n", 2),
        ("from numpy import einsum as e\ndef f(a, b):\n    return e('i,i', a, b)\n", 3),
        ("import functools, numpy\nf = functools.partial(numpy.inner)\n", 2),
        ("f = lambda a, b: a.dot(b)\n", 1),
        ("def f(a, b):\n    return a.__matmul__(b)\n", 2),
        ("def f(a, b):\n    return getattr(a, 'dot')(b)\n", 2),
        ("import operator\ndef f(a, b):\n    return operator.methodcaller('__matmul__', b)(a)\n", 3),
        (OWN + "def f(a, b):\n    return a @ Rows(b)\n", 5),
        (OWN + "def f(a, b):\n    left = Rows(a)\n    left = a\n    return left @ b\n", 7),
        (OWN + "def f(a, Rows):\n    return Rows(a) @ a\n", 5),
        ("class Rows:\n    def __matmul__(self, other):\n        return self.rows.__matmul__(other)\n", 3),
    ],
)
def test_a_product_in_a_function_is_found(text: str, line: int) -> None:
    assert found(text) == line


@pytest.mark.parametrize(
    "text",
    [
        "def f(a, b):\n    return sum(x * y for x, y in zip(a, b))  # not a @ b\n",
        "import numpy as np\nif __name__ == '__main__':\n    print(np.dot([1], [2]))\n",
        "class Vector:\n    def dot(self, other):\n        return 0\n\ndef f(a, b):\n    return Vector().dot(b)\n",
        "class Vector:\n    def dot(self, other):\n        return 0\n\ndef f(a):\n    getattr(Vector(), 'dot')(a)\n",
        OWN + "def f(a, b):\n    return Rows(a) @ Rows(b)\n",
        OWN + "def f(a, b):\n    left = Rows(a)\n    return left @ b\n",
        "def product(f):\n    return f\n\n@product\ndef f(a):\n    return a\n",
    ],
)
def test_everything_else_is_not(text: str) -> None:
    assert found(text) is None


def test_a_cell_may_compare_with_a_product() -> None:
    assert found("import numpy as np", "def f(a, b):\n    return 0", "print(f([1], [2]), np.dot([1], [2]))") is None
