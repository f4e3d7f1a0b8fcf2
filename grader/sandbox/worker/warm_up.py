"""The warm-up: what every worker would import and set up, done once before workers are forked."""

from __future__ import annotations

import functools
import gc
import importlib
import sys
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def warm_up(backend: str, *, meters: bool = True, gpu: bool = False) -> None:
    """Import what every worker would import. NumPy loads its random module only when it is first used."""
    from grader.sandbox.worker.seeding import seed_everything

    if meters:
        import grader.sandbox.worker.meters.measure

    if backend == "torch":
        set_up_torch()
        if gpu:
            import grader.sandbox.worker.gpu.real
        else:
            import grader.sandbox.worker.gpu.call
        if meters:
            import grader.sandbox.worker.meters.torch_meter  # noqa: F401
    else:
        sys.meta_path.insert(0, NoTorch())
    seed_everything(0)
    gc.collect()
    gc.freeze()  # or a collection in a worker would touch, and so copy, every page of these modules


class NoTorch:
    """An import hook that says torch is not installed, with the error that `try: import torch` expects."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        del path, target
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch': this module is for NumPy alone", name=name)


def set_up_torch() -> None:
    """Do what every worker would do first, and turn off what a jail does not allow."""
    import torch

    torch.set_num_threads(1)
    torch.compile = uncompiled
    for optimizer in vars(torch.optim).values():
        if isinstance(optimizer, type) and issubclass(optimizer, torch.optim.Optimizer):
            leave_uncompiled(optimizer)
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


def leave_uncompiled(optimizer: type[torch.optim.Optimizer]) -> None:
    """Keep an optimizer from importing the compiler only to say that it is not compiled: a second in each worker."""
    for name, method in list(vars(optimizer).items()):
        plain = getattr(method, "__wrapped__", None)
        if not isinstance(method, FunctionType) or not isinstance(plain, FunctionType):
            continue
        vars(plain)["__dynamo_disable"] = plain  # where torch looks for a function that is not compiled
        if method.__code__.co_name == "_use_grad":  # the steps of nearly all optimizers
            setattr(optimizer, name, _without_gradient(plain))


def _without_gradient(step: Callable[..., Any]) -> Callable[..., Any]:
    """Return the step of an optimizer as torch wraps it, but without the compiler."""
    import torch

    @functools.wraps(step)
    def wrapped(self: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> Any:
        with torch.set_grad_enabled(self.defaults["differentiable"]):
            return step(self, *args, **kwargs)

    return wrapped
