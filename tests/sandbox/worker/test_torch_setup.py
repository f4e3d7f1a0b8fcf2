"""Torch in a worker: what it does not import, and what works nevertheless."""

from __future__ import annotations

import pytest

from grader.sandbox.jail.limits import Limits
from tests.conftest import StudentOf

HEAD = """
import sys
import torch
from torch import nn


def compiler_is_loaded():
    return "torch._dynamo.eval_frame" in sys.modules
"""


@pytest.mark.parametrize("kind", ["AdamW", "Adam", "SGD", "RMSprop", "Adagrad"])
def test_an_optimizer_works_without_the_compiler(student_of: StudentOf, kind: str) -> None:
    source = f"""{HEAD}
def trained():
    weight = nn.Parameter(torch.ones(2))
    optimizer = torch.optim.{kind}([weight], lr=0.1)
    optimizer.load_state_dict(optimizer.state_dict())
    for _ in range(3):
        optimizer.zero_grad()
        weight.square().sum().backward()
        optimizer.step()
    return float(weight.detach().max()), compiler_is_loaded()
"""
    largest, loaded = student_of(source, "torch").trained()
    assert largest < 1
    assert not loaded


def test_an_optimizer_without_that_import_works_as_before(student_of: StudentOf) -> None:
    source = f"""{HEAD}
def trained():
    weight = nn.Parameter(torch.ones(2))
    optimizer = torch.optim.LBFGS([weight])

    def loss():
        optimizer.zero_grad()
        with torch.enable_grad():
            found = weight.square().sum()
        found.backward()
        return found

    optimizer.step(loss)
    return float(weight.detach().abs().max()), torch.is_grad_enabled()
"""
    largest, has_gradient = student_of(source, "torch", Limits()).trained()
    assert largest < 0.1
    assert has_gradient


def test_what_needs_the_compiler_gets_it(student_of: StudentOf) -> None:
    source = f"""{HEAD}
from torch.utils.checkpoint import checkpoint

def gradient():
    x = torch.ones(2, requires_grad=True)
    checkpoint(torch.square, x, use_reentrant=False).sum().backward()
    from torch._dynamo import config
    return x.grad.tolist(), compiler_is_loaded(), config is torch._dynamo.config
"""
    assert student_of(source, "torch", Limits()).gradient() == ([2.0, 2.0], True, True)


def test_a_function_that_must_not_be_compiled_is_left_as_it_is(student_of: StudentOf) -> None:
    source = f"""{HEAD}
@torch.compiler.disable
def doubled(x):
    return 2 * x

@torch.compile
def tripled(x):
    return 3 * x
"""
    student = student_of(source, "torch")
    assert (student.doubled(2), student.tripled(2)) == (4, 6)
