"""Set-up of torch in the process that workers are forked from."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch


def set_up_torch() -> None:
    """Do what every worker would do first, and turn off what a jail does not allow."""
    torch.set_num_threads(1)
    torch.compile = uncompiled
    # The first operation reserves memory, and the first gradient imports modules for half a second. With CUDA, the
    # first gradient also counts the GPUs: that starts a thread, and forked children could then use no GPU.
    x = torch.ones(2, 2, requires_grad=True)
    if torch.version.cuda is None:
        torch.autograd.grad([x @ x], [x], grad_outputs=[x])
    else:
        importlib.import_module("torch.fx.experimental.symbolic_shapes")
        _ = x @ x


def uncompiled(model: Callable[..., Any] | None = None, **_: Any) -> Any:
    """Replace torch.compile: there is no compiler in a jail, and code gives the same results without it."""
    return model if model is not None else lambda function: function


uncompiled.__module__ = "torch"  # so that the meters take it for a function of torch
