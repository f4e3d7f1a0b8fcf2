"""Names of library functions: a report shows only these, never a name that the student chose."""

from __future__ import annotations

import builtins
import collections
import contextlib
import functools
import itertools
import math
import operator
import sys
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from grader.sandbox.protocol.call_names import ATTENTION, OTHER_NAMES, PREFIX, UNKNOWN, is_attention

# Where a name begins, and the modules and types that it may be in.
_OWNERS: dict[str, tuple[Any, ...]] = {
    "numpy": (np,),
    "ndarray": (np.ndarray,),
    "math": (math,),
    "itertools": (itertools,),
    "functools": (functools,),
    "operator": (operator,),
    "_operator": (operator,),
    "collections": (collections,),
    "contextlib": (contextlib,),
    **{kind.__name__: (kind,) for kind in (list, dict, set, frozenset, tuple, str, bytes, int, float, complex)},
}
_DEEPEST = 4


def known_name(name: str) -> str:
    """Return a name if it is one of a library function or of the grader's own texts; else what may be shown for it."""
    if _is_known(name):
        return name
    return ATTENTION if name.startswith(PREFIX) and is_attention(name) else UNKNOWN


@lru_cache(maxsize=4096)
def _is_known(name: str) -> bool:
    if name in OTHER_NAMES or hasattr(builtins, name):
        return True
    root, *parts = name.split(".")
    if not 0 < len(parts) <= _DEEPEST or not all(part.isidentifier() for part in parts):
        return False
    if root == "torch":
        return any(_leads_somewhere(owner, parts) for owner in _torch_owners())
    return any(_leads_somewhere(owner, parts) for owner in _OWNERS.get(root, ()))


def _torch_owners() -> tuple[Any, ...]:
    """Return the parts of torch, if it is loaded: where a module needs torch, it is."""
    torch = sys.modules.get(PREFIX.rstrip("."))
    return () if torch is None else (torch, torch.Tensor, torch.nn.functional, torch.nn, torch.ops.aten)


def _leads_somewhere(owner: Any, parts: list[str]) -> bool:
    for part in parts:
        try:
            owner = getattr(owner, part)
        except (AttributeError, ImportError, RuntimeError):
            return False
        if isinstance(owner, ModuleType) and owner.__name__ == "grader":
            return False
    return True
