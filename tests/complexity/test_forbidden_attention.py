"""PyTorch's own attention is found however it is called, and its line is named."""

from __future__ import annotations

import textwrap
from functools import cache

import pytest

from grader.complexity.measurer import CostMeasurer, FunctionCosts, cost_measurer
from grader.course.course import Course, read_course
from grader.course.loading import load_reference
from grader.course.module import Backend
from grader.sandbox.jail.limits import Limits
from grader.sandbox.jail.spawner import Spawner
from grader.sandbox.session import Program, Session
from tests.conftest import ROOT
from tests.quick import some_of

MODULE = "05_torch_attention"
HEAD = """
import functools, operator
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.functional import scaled_dot_product_attention as renamed

def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)

def attend_by_fork(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.jit.wait(torch.jit.fork(attend, q, k, v))

def heads(*tensors):
    return [tensor.reshape(-1, 1, *tensor.shape[-2:]) for tensor in tensors]

class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)

    @staticmethod
    def backward(ctx, grad):
        return grad, grad, grad

def weigh(weights: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return weights @ v

def hooked(q, k, v):
    layer = nn.Identity()
    layer.register_forward_hook(lambda *_: F.scaled_dot_product_attention(q, k, v))
    return layer

def in_inference(q, k, v):
    with torch.inference_mode():
        return F.scaled_dot_product_attention(q, k, v).clone()

def in_eval(layer, *args):
    with torch.no_grad():
        return layer.eval()(*args)

def flex(q, k, v):
    from torch.nn.attention.flex_attention import flex_attention
    return flex_attention(*heads(q, k, v))

def aside(q, k, v):
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(F.scaled_dot_product_attention, q, k, v).result()

class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k

    def forward(self, q, k, v, mask=None):
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        weights = torch.softmax(scores, dim=-1)
        eye = torch.eye(4)
        three = [eye[None]] * 3
        weights_of_three = eye.repeat(3, 1), eye.repeat(3, 1)[:, 0], None, None
        output = CALL
        return output, weights
"""
CALLS = {
    "functional": "F.scaled_dot_product_attention(q, k, v)",
    "four dimensions": "F.scaled_dot_product_attention(*heads(q, k, v))",
    "another name": "renamed(q, k, v)",
    "C": "torch._C._nn.scaled_dot_product_attention(*heads(q, k, v))",
    "ops": "torch.ops.aten.scaled_dot_product_attention(q, k, v)",
    "an overload": "torch.ops.aten.scaled_dot_product_attention.default(q, k, v)",
    "the inner operation": "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(*heads(q, k, v))[0]",
    "the formula inside": "torch.ops.aten._scaled_dot_product_attention_math(q, k, v)[0]",
    "getattr": "getattr(F, 'scaled_dot_' + 'product_attention')(q, k, v)",
    "a dict": "F.__dict__['noitnetta_tcudorp_tod_delacs'[::-1]](q, k, v)",
    "attrgetter": "operator.attrgetter('nn.functional.scaled_dot_product_attention')(torch)(q, k, v)",
    "partial": "functools.partial(F.scaled_dot_product_attention, q)(k, v)",
    "map": "next(map(F.scaled_dot_product_attention, [q], [k], [v]))",
    "a list of functions": "[F.scaled_dot_product_attention][0](q, k, v)",
    "vmap": "torch.vmap(F.scaled_dot_product_attention)(q, k, v)",
    "script": "torch.jit.script(attend)(q, k, v)",
    "trace": "torch.jit.trace(attend, (q, k, v))(q, k, v)",
    "compile": "torch.compile(attend)(q, k, v)",
    "compile, as a decorator": "torch.compile(backend='eager')(attend)(q, k, v)",
    "fx": "torch.fx.symbolic_trace(attend)(q, k, v)",
    "a function of autograd": "Own.apply(q, k, v)",
    "exec": "eval('F.scaled_dot_product_attention(q, k, v)')",
    "a hook": "hooked(q, k, v)(q)",
    "inference mode": "in_inference(q, k, v)",
    "MultiheadAttention": "nn.MultiheadAttention(4, 1)(*three)[0]",
    "its fast path": "in_eval(nn.MultiheadAttention(4, 2, batch_first=True), *three)[0]",
    "its function": "F.multi_head_attention_forward(*three, 4, 1, *weights_of_three, False, 0.0, eye, eye[0])[0]",
    "an encoder": "nn.TransformerEncoderLayer(4, 1, 8)(three[0])",
    "an encoder's fast path": "in_eval(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), three[0])",
    "flex": "flex(q, k, v)",
}

SLOW = ["script", "trace", "compile", "fx", "flex"]  # each takes as long as three others


@cache  # so that the reference's results are computed once
def measurer() -> CostMeasurer:
    course = read_course(ROOT)
    return cost_measurer(course.module(MODULE), "a salt", load_reference(course, course.module(MODULE)))


def measure(course: Course, spawner: Spawner, expression: str) -> FunctionCosts:
    """Measure the module's class with this expression in its forward."""
    module = course.module(MODULE)
    source = textwrap.dedent(HEAD).replace("CALL", expression)
    files = {module.slug: {"file": f"{module.slug}.py", "cells": [source.encode()], "notebook": False}}
    (contract,) = (one for one in measurer().contracts if one.function == "ScaledDotProductAttention.forward")
    session = Session(spawner, Program(files, module.slug, ()), Limits())
    try:
        return measurer().of(session, contract)
    finally:
        session.close()


@pytest.mark.parametrize("call", some_of(CALLS, every=10, slow=SLOW))
def test_built_in_attention_is_found(course: Course, spawners: dict[Backend, Spawner], call: str) -> None:
    found = measure(course, spawners["torch"], CALLS[call])
    assert found.forbidden, [cost.message for cost in found.costs]
    assert all(cost.verdict == "fail" for cost in found.costs)
    assert any("attention" in one.event.call for one in found.forbidden)


@pytest.mark.exhaustive
def test_built_in_attention_in_a_fork_of_torch_never_passes(course: Course, spawners: dict[Backend, Spawner]) -> None:
    """About one time in ten, torch waits forever for the thread of its fork, and the call fails for that."""
    found = measure(course, spawners["torch"], "torch.jit.script(attend_by_fork)(q, k, v)")
    assert all(cost.verdict == "fail" for cost in found.costs)
    assert found.forbidden or all("did not return in the time allowed" in cost.message for cost in found.costs)


def test_the_formula_itself_is_not_forbidden(course: Course, spawners: dict[Backend, Spawner]) -> None:
    found = measure(course, spawners["torch"], "weights @ v")
    assert not found.forbidden
    assert {cost.verdict for cost in found.profile.costs} == {
        "pass"
    }  # the audit comes on top: it sees the helpers above


@pytest.mark.parametrize(
    "expression",
    [
        "aside(q, k, v)",
        "[context := torch._C.DisableTorchFunction(), context.__enter__(), nn.MultiheadAttention(4, 1)(*three)][2][0]",
        "torch.linalg.matrix_exp(weights) @ v",
        "torch.jit.script(weigh)(weights, v)",
    ],
)
def test_calls_that_cannot_be_seen_never_pass(
    course: Course, spawners: dict[Backend, Spawner], expression: str
) -> None:
    found = measure(course, spawners["torch"], expression)
    assert "pass" not in {cost.verdict for cost in found.costs}
