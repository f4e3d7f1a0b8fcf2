"""Memoization of what is the same for every submission: the inputs of a check, and their expected results.

A check starts with the same random numbers for every student, so these values are computed once in a session.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Hashable
from typing import Any, ParamSpec, TypeVar

import numpy as np

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
MOST = 20_000  # results of one function; no suite needs so many, and a mistake must not fill the memory


def remembered(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Compute a function of arrays, tensors, numbers and generators only once for the same arguments.

    A random generator ends in the same state as after a real call, and every caller gets its own copy of the result.
    """
    known: dict[Hashable, tuple[Result, list[Any]]] = {}

    @functools.wraps(function)
    def remembering(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        key = _key((*args, *kwargs.items()))
        generators = [one for one in (*args, *kwargs.values()) if isinstance(one, np.random.Generator)]
        if key in known:
            result, states = known[key]
            for generator, state in zip(generators, states, strict=True):
                generator.bit_generator.state = state
        else:
            result = function(*args, **kwargs)
            if len(known) < MOST:
                known[key] = result, [generator.bit_generator.state for generator in generators]
        copied: Result = _copy(result)
        return copied

    return remembering


def _key(value: Any) -> Hashable:
    kind = type(value)
    if kind is np.ndarray:
        return value.dtype.str, value.shape, value.tobytes()
    if _is_tensor(value):
        plain = value.detach().contiguous().reshape(-1)
        return str(value.dtype), tuple(value.shape), plain.view(sys.modules["torch"].uint8).numpy().tobytes()
    if kind in (tuple, list):
        return kind, *map(_key, value)
    if kind in (set, frozenset):
        return kind, frozenset(value)
    if kind is dict:
        return kind, *((name, _key(item)) for name, item in value.items())
    if isinstance(value, np.random.Generator):
        state = value.bit_generator.state
        return "generator", tuple(state["state"].values()), state["has_uint32"], state["uinteger"]
    return kind, value


def _copy(value: Any) -> Any:
    kind = type(value)
    if kind is np.ndarray:
        return value.copy()
    if _is_tensor(value):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if kind in (tuple, list):
        return kind(map(_copy, value))
    if kind is dict:
        return {name: _copy(item) for name, item in value.items()}
    if kind is set:
        return set(value)
    return value


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and type(value) is torch.Tensor
