"""Torch operations, counted one by one in a worker."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader.complexity.sampling import CostSample, read_samples
from grader.course.module import Backend
from grader.sandbox.jail.limits import Limits
from grader.sandbox.jail.spawner import Spawner
from grader.sandbox.protocol.script import GIVEN, Script, ScriptCall
from grader.sandbox.session import Program, Session

HEAD = """
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
"""
A, B, C = torch.ones(2, 3, 4), torch.ones(2, 4, 5), torch.ones(2, 5)
Q, K, V = torch.ones(2, 3, 5, 4), torch.ones(2, 3, 7, 4), torch.ones(2, 3, 7, 6)
X = torch.ones(2, 3, 8)
MATRICES = 2 * 3 * 4 * 5  # multiply-adds of A @ B
SCORES, OUTPUT = 2 * 3 * 5 * 7 * 4, 2 * 3 * 5 * 7 * 6


def measured(spawner: Spawner, source: str, *args: Any) -> CostSample:
    """Measure one call of `f` in a worker."""
    files = {"work": {"file": "work.py", "cells": [(HEAD + source).encode()], "notebook": False}}
    session = Session(spawner, Program(files, "work", ()), Limits())
    calls = [Script({}, (), ScriptCall(("f",), tuple((GIVEN, arg) for arg in args))).data]
    try:
        answer = session.request({"op": "measure", "main": "work", "path": ["f"], "calls": calls}, "f", "f")
        (sample,) = read_samples(answer)[1]
        return sample
    finally:
        session.close()


@pytest.fixture(scope="module")
def torch_spawner(spawners: dict[Backend, Spawner]) -> Spawner:
    return spawners["torch"]


@pytest.mark.parametrize(
    ("expression", "args", "products"),
    [
        ("a @ b", (A, B), MATRICES),
        ("torch.matmul(a, b)", (A, B), MATRICES),
        ("torch.bmm(a, b)", (A, B), MATRICES),
        ("torch.einsum('bij,bjk->bik', a, b)", (A, B), MATRICES),
        ("torch.baddbmm(torch.zeros(2, 3, 5), a, b)", (A, B), MATRICES),
        ("torch.stack([x @ y for x, y in zip(a, b)])", (A, B), MATRICES),
        ("torch.ops.aten.bmm.default(a, b)", (A, B), MATRICES),
        ("torch.vmap(torch.mm)(a, b)", (A, B), MATRICES),
        ("a.__matmul__(b)", (A, B), MATRICES),
        ("torch.tensordot(a, b[0], dims=1)", (A, B), MATRICES),
        ("torch.bmm(a, b, out=torch.empty(2, 3, 5))", (A, B), MATRICES),
        ("a[0] @ b[0, :, 0]", (A, B), 3 * 4),
        ("torch.dot(a[0, 0], b[0, :, 0])", (A, B), 4),
        ("F.linear(a, b[0].T)", (A, B), MATRICES),
        ("nn.Linear(4, 5)(a) if b is not None else a", (A, B), MATRICES),
        ("within(torch.inference_mode(), lambda: a @ b)", (A, B), MATRICES),
        ("within(torch.no_grad(), lambda: torch.einsum('bij,bjk->bik', a, b))", (A, B), MATRICES),
        ("F.scaled_dot_product_attention(a, b, V)", (Q, K), SCORES + OUTPUT),
        ("F.scaled_dot_product_attention(a, b, b)", (Q, K), 2 * SCORES),  # in four dimensions, one operation
        ("F.scaled_dot_product_attention(a[0], b[0], b[0])", (Q, K), SCORES),
        ("within(torch.inference_mode(), lambda: F.scaled_dot_product_attention(a, b, b))", (Q, K), 2 * SCORES),
        ("nn.MultiheadAttention(8, 2, batch_first=True)(a, b, b)[0]", (X, X), 4 * 6 * 64 + 2 * 2 * 3 * 3 * 8),
        ("fast(nn.MultiheadAttention(8, 2, batch_first=True), a)", (X, X), 4 * 6 * 64 + 2 * 2 * 3 * 3 * 8),
    ],
)
def test_products_are_counted_however_they_are_written(
    torch_spawner: Spawner, expression: str, args: tuple[Any, ...], products: int
) -> None:
    source = """
V = torch.ones(2, 3, 7, 6)
def within(context, function):
    with context:
        return function().clone()
def fast(layer, x):
    with torch.no_grad():
        return layer.eval()(x, x, x, need_weights=False)[0]
def f(a, b):
    return EXPRESSION
"""
    found = measured(torch_spawner, source.replace("EXPRESSION", expression), *args)
    assert found.unknown == {}
    elementwise = found.counts["mul"] - products
    assert 0 <= elementwise <= sum(one.numel() for one in args)  # scaling the queries and keys is also a product
    rest = found.counts["flops"] - 2 * products
    assert 0 <= rest < products


def test_flops_are_two_for_each_multiply_add_and_one_for_each_entry(torch_spawner: Spawner) -> None:
    source = """
def f(a, b):
    scores = a @ b
    scores = scores / 2
    weights = torch.softmax(scores, dim=-1)
    return weights.sum(dim=-1)
"""
    found = measured(torch_spawner, source, A, B)
    assert found.counts["flops"] == 2 * MATRICES + 30 + 30 + 30
    by_line = sorted(found.lines["flops"].items())
    assert [count for _, count in by_line] == [2 * MATRICES, 30, 30, 30]
    first = by_line[0][0]
    assert [place - first for place, _ in by_line] == [0, 1, 2, 3]


def test_memory_is_the_peak_of_live_tensors(torch_spawner: Spawner) -> None:
    kept = "def f(x):\n    parts = [x + i for i in range(5)]\n    return sum(p.sum() for p in parts)\n"
    dropped = (
        "def f(x):\n    total = 0.0\n    for i in range(5):\n        total = total + (x + i).sum()\n    return total\n"
    )
    x = torch.ones(1000)
    assert 5 * 4000 <= measured(torch_spawner, kept, x).counts["mem"] <= 5 * 4000 + 100
    assert 4000 <= measured(torch_spawner, dropped, x).counts["mem"] <= 4000 + 100


@pytest.mark.parametrize("view", ["x.T", "x.reshape(8, 4)", "x[1:]", "x.expand(3, 4, 8)", "x.detach()", "CONSTANT.T"])
def test_view_costs_nothing(torch_spawner: Spawner, view: str) -> None:
    found = measured(torch_spawner, f"CONSTANT = torch.ones(5, 6)\ndef f(x):\n    return {view}\n", torch.ones(4, 8))
    assert (found.counts["work"], found.counts["mem"]) == (0, 0)


@pytest.mark.parametrize("copy", ["x.clone()", "x.T.contiguous()", "torch.cat([x[:2], x[2:]])", "x.T.reshape(-1)"])
def test_copy_costs_its_entries(torch_spawner: Spawner, copy: str) -> None:
    found = measured(torch_spawner, f"def f(x):\n    return {copy}\n", torch.ones(4, 8))
    assert (found.counts["work"], found.counts["mem"], found.counts["flops"]) == (32, 128, 0)


@pytest.mark.parametrize("odd", ["torch.linalg.matrix_exp(x)", "torch.linalg.inv(x)", "torch.fft.fft(x).real"])
def test_operation_without_a_price_is_named(torch_spawner: Spawner, odd: str) -> None:
    found = measured(torch_spawner, f"def f(x):\n    return {odd}\n", torch.eye(4))
    assert any(name.startswith("torch.ops.aten.") for name in found.unknown)


@pytest.mark.parametrize(
    "known",
    [
        "(a * 1).masked_fill_(a > 0, 0.0)",
        "F.nll_loss(a, a.argmax(-1))",
        "torch.distributions.Categorical(logits=a).log_prob(a.argmax(-1))",  # looks at its arguments
        "F.nll_loss(a[None].transpose(1, 2), a[None].argmax(-1))",
        "a * len(LAYERS) * len(list(enumerate(LAYERS)))",
        "a * len(BLOCKS) * len([*zip(BLOCKS, reversed(list(BLOCKS)))])",
    ],
)
def test_what_students_write_has_a_price(torch_spawner: Spawner, known: str) -> None:
    layers = "LAYERS = nn.ModuleList([nn.Identity()])\nBLOCKS = nn.Sequential(nn.Identity())\n"
    found = measured(torch_spawner, f"{layers}def f(a):\n    return {known}\n", torch.ones(4, 4))
    assert found.unknown == {}


def test_loops_over_tensors_are_steps(torch_spawner: Spawner) -> None:
    source = """
def f(a, b):
    return torch.stack([torch.stack([(x * y).sum() for y in b.T]) for x in a])
"""
    found = measured(torch_spawner, source, A[0], B[0])
    assert found.counts["steps"] >= 3 * 5
    assert found.counts["mul"] == 3 * 5 * 4
    assert found.counts["flops"] == 2 * 3 * 5 * 4


def test_student_layer_called_by_torch_is_counted(torch_spawner: Spawner) -> None:
    source = """
class Layer(nn.Module):
    def forward(self, x):
        for row in x:
            x = x + row
        return x
def f(x):
    return nn.Sequential(Layer(), Layer())(x)
"""
    assert measured(torch_spawner, source, torch.ones(6, 2)).counts["steps"] == 1 + 2 * (1 + 6)


@pytest.mark.parametrize(
    ("body", "meter", "count"),
    [
        ("return torch.utils._pytree.tree_map(torch.exp, list(x))", "steps", 8 + 8 + 1),
        ("return torch.utils._pytree.tree_map(func=torch.exp, tree=list(x))", "steps", 8 + 8 + 1),
        ("return x.apply_(abs)", "steps", 8 * 3 + 1),
        ("y = torch.empty(16, 3)\n    torch.cat((x, x), out=y)\n    return y", "work", 16 * 3 + 16 * 3),
        ("return F.conv_transpose1d(x, torch.ones(8, 1, 2))", "mul", 8 * 3 * 2),
        ("return torch.zeros(3).index_add(0, torch.zeros(8, dtype=torch.long), x[:, 0])", "flops", 8),
        ("return x.index_fill_(1, torch.tensor([0]), 0.0)", "work", 8),
    ],
)
def test_work_that_a_call_hides_is_counted(torch_spawner: Spawner, body: str, meter: str, count: int) -> None:
    sample = measured(torch_spawner, f"import torch.utils._pytree\ndef f(x):\n    {body}", torch.ones(8, 3))
    assert sample.counts[meter] == count


def test_what_a_backward_of_ones_own_calls_is_named(torch_spawner: Spawner) -> None:
    source = """
class Hidden(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return F.rms_norm(grad, (4,))

def f(x):
    x = x.detach().requires_grad_()
    return torch.autograd.grad(Hidden.apply(x).sum(), x)[0]
"""
    assert "torch.rms_norm" in measured(torch_spawner, source, torch.ones(2, 4)).events
