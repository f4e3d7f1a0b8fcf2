"""Products of torch are named, and a module can forbid them; kernels in Triton are certified by the audit."""

from __future__ import annotations

import pytest
import torch

from grader.authoring.misconceptions import read_misconceptions
from grader.complexity.audit import audit
from grader.complexity.measurer import CostMeasurer, kind_of
from grader.course.course import Course
from grader.course.module import ForbiddenRule
from grader.sandbox.worker.meters.torch_names import TorchNames

X = torch.ones(2, 2)
PRODUCTS = {
    "@": lambda: X @ X,
    "matmul": lambda: torch.matmul(X, X),
    "einsum": lambda: torch.einsum("ij,jk->ik", X, X),
    "linear": lambda: torch.nn.functional.linear(X, X),
    "bmm": lambda: torch.bmm(X[None], X[None]),
    "baddbmm": lambda: torch.baddbmm(X[None], X[None], X[None]),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_product_is_noted_after_other_functions(name: str) -> None:
    with (names := TorchNames()):
        torch.zeros_like(X)
        PRODUCTS[name]()
    assert "products" in {kind_of(one) for one in names.names}


def test_other_functions_are_no_products() -> None:
    assert {kind_of(f"torch.{name}") for name in ("empty_like", "softmax", "mul", "contiguous")} == {"torch"}


def test_where_torch_is_forbidden_its_products_are_too() -> None:
    rules = {"torch": ForbiddenRule("by hand")}
    measurer = CostMeasurer((), rules, "05_torch_attention", "", None)
    assert measurer._rule("torch.matmul") is rules["torch"]
    assert measurer._rule("numpy.matmul") is None


def test_kernels_are_certified(course: Course) -> None:
    module = course.module("13_triton_flash")
    solution = course.solution(module).read_text()
    for text in (solution, *(f"{solution}\n\n{wrong.code}" for wrong in read_misconceptions(course, module))):
        source = {"file": "triton_flash.py", "cells": (text.encode(),), "notebook": False}
        assert audit({module.slug: source}) == ()
    hidden = solution.replace("import torch\n", "import torch\nimport triton.runtime\n", 1)
    assert audit({module.slug: {"file": "triton_flash.py", "cells": (hidden.encode(),), "notebook": False}})
