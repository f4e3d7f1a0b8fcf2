"""Set-up of torch in the process that workers are forked from."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable
from typing import Any

import torch

COMPILER = "torch._dynamo"


def set_up_torch() -> None:
    """Do what every worker would do first, and turn off what a jail does not allow."""
    torch.set_num_threads(1)
    torch.compile = uncompiled
    if COMPILER not in sys.modules:
        sys.modules[COMPILER] = torch._dynamo = Uncompiled(COMPILER)
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


class Uncompiled(types.ModuleType):
    """Takes the place of torch's compiler until something else of it is needed.

    An optimizer imports the compiler, for a second in each worker, only to say that its own steps are not compiled.
    """

    def graph_break(self, *_: Any, **__: Any) -> None:
        """Do nothing: there is no graph to break."""

    def disable(self, function: Callable[..., Any] | None = None, *_: Any, **__: Any) -> Any:
        """Return a function as it is: nothing is compiled."""
        return function if function is not None else lambda decorated: decorated

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(COMPILER) is self:
            del sys.modules[COMPILER]
        return getattr(importlib.import_module(COMPILER), name)
