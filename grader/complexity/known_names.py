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
from inspect import getattr_static
from typing import Any

import numpy as np

from grader.sandbox.protocol.call_names import ATTENTION, OTHER_NAMES, PREFIX, UNKNOWN, is_attention, is_torch_name

# Where a name begins, and the module or type that it is in.
_OWNERS: dict[str, Any] = {
    "numpy": np,
    "ndarray": np.ndarray,
    "math": math,
    "itertools": itertools,
    "functools": functools,
    "operator": operator,
    "_operator": operator,
    "collections": collections,
    "contextlib": contextlib,
    **{kind.__name__: kind for kind in (list, dict, set, frozenset, tuple, str, bytes, int, float, complex)},
}
_PARTS_OF_TORCH = {"", "nn", "nn.functional", "Tensor", "linalg", "special", "fft", "autograd", "ops.aten", "_C._nn"}
_DEEPEST = 4


def known_name(name: str) -> str:
    """Return a name if it is one of a library function or of the grader's own texts; else what may be shown for it."""
    if _is_known(name):
        return name
    return ATTENTION if name.startswith(PREFIX) and is_attention(name) else UNKNOWN


@lru_cache(maxsize=4096)
def _is_known(name: str) -> bool:
    if name in OTHER_NAMES or name in vars(builtins):
        return True
    root, *parts = name.split(".")
    if not 0 < len(parts) <= _DEEPEST:
        return False
    if root == "torch":  # where a module needs torch, it is loaded; a worker's word must not load it
        return "torch" in sys.modules and ".".join(parts[:-1]) in _PARTS_OF_TORCH and is_torch_name(parts[-1])
    return root in _OWNERS and _leads_somewhere(_OWNERS[root], parts)


def _leads_somewhere(owner: Any, parts: list[str]) -> bool:
    """Whether these attributes are there. They are only looked up: some modules would load others for a name."""
    for part in parts:
        try:
            owner = getattr_static(owner, part)
        except AttributeError:
            return False
    return True
