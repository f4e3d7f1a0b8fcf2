"""Gradients of a student's function, computed by autograd in the worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

Over = Callable[[Sequence[Any], Mapping[str, Any]], AbstractContextManager[None]]


def vjp(
    function: Callable[..., Any],
    owner: Any,
    args: list[Any],
    kwargs: dict[str, Any],
    cotangent: Any,
    over: Over = lambda *_: nullcontext(),
) -> dict[str, Any]:
    """Call with leaf tensors and return the vector-Jacobian product with a cotangent.

    Gradients are for the positional arguments and the owner's parameters. None means that no gradient reached an input.
    Student code runs in the context that `over` makes of its arguments.
    """
    import torch

    args = [_leaf(arg) for arg in args]
    with over(args, kwargs):
        value = function(*args, **kwargs)
    outputs = [
        (out, cot) for out, cot in _paired(value, cotangent) if isinstance(out, torch.Tensor) and out.requires_grad
    ]
    parameters = _parameters(owner) | _parameters(function)
    wanted = [*args, *parameters.values()]
    leaves = [leaf for leaf in wanted if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    grads: dict[int, Any] = {}
    if outputs and leaves:
        outs, cots = zip(*outputs, strict=True)
        with over((), {}):  # the way back may call student code, too
            gradients = torch.autograd.grad(outs, leaves, grad_outputs=cots, allow_unused=True)
        grads = {id(leaf): grad for leaf, grad in zip(leaves, gradients, strict=True)}
    return {
        "value": value,
        "args": [grads.get(id(arg)) for arg in args],
        "parameters": {name: grads.get(id(leaf)) for name, leaf in parameters.items()},
    }


def _leaf(arg: Any) -> Any:
    import torch

    if isinstance(arg, torch.Tensor) and (arg.is_floating_point() or arg.is_complex()):
        return arg.detach().clone().requires_grad_(True)
    return arg


def _paired(value: Any, cotangent: Any) -> Iterator[tuple[Any, Any]]:
    """Pair outputs with cotangents. An output whose cotangent is None is left out."""
    if cotangent is None:
        return
    if isinstance(value, tuple | list) and isinstance(cotangent, tuple | list):
        for out, cot in zip(value, cotangent, strict=False):
            yield from _paired(out, cot)
    else:
        yield value, cotangent


def _parameters(owner: Any) -> dict[str, Any]:
    import torch

    return dict(owner.named_parameters()) if isinstance(owner, torch.nn.Module) else {}
