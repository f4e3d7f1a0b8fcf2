"""Assertions about gradients, which also say where the graph was cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.core.compare import Tolerance, as_float64, describe, difference, shape_of
from grader.sandbox.student import Arguments, Handle, Vjp

if TYPE_CHECKING:
    import torch

__tracebackhide__ = True

CUT = "the graph is cut between {0} and the result (for example by .detach(), .data, .numpy() or torch.tensor)"
DIRECTIONS = 1  # one is enough: a wrong gradient is orthogonal to a random direction with probability 0
STEP = 1e-5
# In float64 the differences are right to about STEP². A scale kept in float32 is off by 1e-7, equally on both sides.
BY_DIFFERENCES = Tolerance(1e-5, 1e-7)


def assert_gradients(
    found: Vjp, expected: Sequence[Any], names: Sequence[str] = (), tolerance: Tolerance | None = None
) -> None:
    """Fail unless the gradients of the arguments are the expected ones. An expected None is not compared."""
    named = [*names, *(f"argument {number + 1}" for number in range(len(names), len(expected)))]
    for name, gradient, wanted in zip(named, found.grads, expected, strict=False):
        if wanted is not None:
            _assert_gradient(name, gradient, wanted, tolerance)


def assert_parameter_gradients(found: Vjp, expected: Mapping[str, Any], tolerance: Tolerance | None = None) -> None:
    """Fail unless the gradients of the parameters are the expected ones."""
    for name, wanted in expected.items():
        assert name in found.parameters, f"there is no parameter {name}"
        _assert_gradient(name, found.parameters[name], wanted, tolerance)


def _assert_gradient(name: str, gradient: Any, expected: Any, tolerance: Tolerance | None) -> None:
    assert gradient is not None, f"no gradient reaches {name}: {CUT.format(name)}"
    wrong = difference(gradient, expected, tolerance)
    assert wrong is None, f"the gradient of {name}: {wrong}"


def assert_gradients_match_differences(
    function: Handle,
    args: Sequence[Any],
    cotangent: Any,
    rng: np.random.Generator,
    *,
    kwargs: Mapping[str, Any] | None = None,
    of: Sequence[str] = (),
) -> None:
    """Fail unless the gradients of float64 arguments match finite differences of the function, in random directions."""
    import torch

    kwargs = kwargs or {}
    found = function.vjp(*args, cotangent=cotangent, **kwargs)
    named = [*of, *(f"argument {number + 1}" for number in range(len(of), len(args)))]
    tried: list[tuple[str, float]] = []
    calls: list[Arguments] = []
    for place, (name, arg) in enumerate(zip(named, args, strict=True)):
        if not isinstance(arg, torch.Tensor) or not arg.is_floating_point():
            continue
        gradient = found.grads[place]
        assert gradient is not None, f"no gradient reaches {name}: {CUT.format(name)}"
        numbers = as_float64(gradient) if shape_of(gradient) == tuple(arg.shape) else None
        assert numbers is not None, f"the gradient of {name} is {describe(gradient)}"
        for _ in range(DIRECTIONS):
            direction = rng.normal(size=tuple(arg.shape))
            tried.append((name, float((numbers * direction).sum())))
            for sign in (1, -1):
                moved = arg + sign * STEP * torch.from_numpy(direction)
                calls.append(Arguments((*args[:place], moved, *args[place + 1 :]), kwargs))
    values = [_paired(value, cotangent) for value in function.call_many(calls)]
    for number, (name, slope) in enumerate(tried):
        measured = (values[2 * number] - values[2 * number + 1]) / (2 * STEP)
        wrong = difference(slope, measured, BY_DIFFERENCES)
        assert wrong is None, f"the gradient of {name} does not match finite differences of the function: {wrong}"


def _paired(value: Any, cotangent: Any) -> float:
    """Return the sum of a result times its cotangent. A cotangent of None skips its part."""
    if cotangent is None:
        return 0.0
    if isinstance(cotangent, tuple | list):
        alike = type(value) in (tuple, list) and len(value) == len(cotangent)
        assert alike, f"the result is {describe(value)}"
        return sum(_paired(part, factor) for part, factor in zip(value, cotangent, strict=True))
    array, factors = as_float64(value), as_float64(cotangent)
    assert array is not None, f"a result is {describe(value)}"
    assert factors is None or array.shape == factors.shape, f"a result is {describe(value)}"
    return 0.0 if factors is None else float((array * factors).sum())


@cache
def half_dtypes() -> tuple[torch.dtype, ...]:
    """Return the half precision dtypes in which torch can compute attention on this machine."""
    import torch

    return tuple(dtype for dtype in (torch.bfloat16, torch.float16) if _works_in(dtype))


def _works_in(dtype: torch.dtype) -> bool:
    import torch

    one = torch.ones(2, 2, dtype=dtype)
    try:
        torch.softmax(one @ one, dim=-1)
    except (RuntimeError, NotImplementedError):  # "not implemented for 'Half'", on older machines and builds
        return False
    return True
