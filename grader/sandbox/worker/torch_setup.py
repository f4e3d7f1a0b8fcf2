"""Torch made ready in a process that workers are forked from."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch


def set_up_torch() -> None:
    """Do once what every worker would do first, and keep torch to what a jail allows."""
    torch.set_num_threads(1)
    torch.compile = uncompiled
    # The first operation claims its memory, and the first gradient imports half a second's worth of modules. It also
    # counts the GPUs: a process that has done so has a thread more, and its children can have none of them.
    x = torch.ones(2, 2, requires_grad=True)
    if torch.version.cuda is None:
        torch.autograd.grad([x @ x], [x], grad_outputs=[x])
    else:
        importlib.import_module("torch.fx.experimental.symbolic_shapes")
        _ = x @ x


def uncompiled(model: Callable[..., Any] | None = None, **_: Any) -> Any:
    """Stand in for torch.compile: there is no compiler in a jail, and the code means the same without."""
    return model if model is not None else lambda function: function


uncompiled.__module__ = "torch"  # where the meters look it up
