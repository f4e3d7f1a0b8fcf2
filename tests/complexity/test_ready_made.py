"""Losses and norms that torch has already are found by name, however they are called."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.nn import functional

from grader.complexity.measurer import CostMeasurer, kind_of
from grader.course.module import ForbiddenRule
from grader.sandbox.worker.meters.torch_names import TorchNames

X, TARGETS = torch.ones(3, 4), torch.tensor([0, 1, 2])
CALLS: dict[str, Callable[[], torch.Tensor]] = {
    "functional cross_entropy": lambda: functional.cross_entropy(X, TARGETS),
    "a loss object": lambda: torch.as_tensor(torch.nn.CrossEntropyLoss()(X, TARGETS)),
    "functional rms_norm": lambda: functional.rms_norm(X, (4,)),
    "a layer": lambda: torch.as_tensor(torch.nn.RMSNorm(4)(X)),
    "torch.rms_norm": lambda: torch.rms_norm(X, (4,)),
}


def named(call: Callable[[], torch.Tensor]) -> set[str]:
    names = TorchNames()
    with names:
        X.sum()  # the one other function that is noted
        call()
    return {kind_of(name) for name in names.names}


@pytest.mark.parametrize("call", CALLS)
def test_it_is_named(call: str) -> None:
    assert "ready_made" in named(CALLS[call])


def test_what_it_is_made_of_is_not_named() -> None:
    assert named(lambda: functional.nll_loss(torch.log_softmax(X, dim=-1), TARGETS)) == {"torch"}
    assert named(lambda: X * torch.rsqrt(X.square().mean(dim=-1, keepdim=True))) == {"torch"}


def test_where_torch_is_forbidden_so_is_what_is_ready_made() -> None:
    rule = ForbiddenRule("by hand", ("backward",))
    assert CostMeasurer((), {"torch": rule}, "05", "salt", None)._rule("torch.cross_entropy") is rule
    assert CostMeasurer((), {"attention": rule}, "06", "salt", None)._rule("torch.cross_entropy") is None
