"""The form in which a golden file keeps the outcomes of probes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from grader.core.compare import as_float64
from grader.diagnosis.outcome import LARGEST, ProbeOutcome, Unreadable

DIGITS, SHORT = 12, 9  # for float64; and for float32 and smaller, where nine digits are enough
_PLAIN = "python"


def encode(value: Any) -> Any:
    """Return a value in a form for JSON. A value without such a form becomes an object, which equals no other value."""
    if value is None or type(value) in (bool, str):
        return value if type(value) is not str else {"text": value[:LARGEST]}
    if type(value) in (tuple, list):
        return {type(value).__name__: [encode(item) for item in value[:LARGEST]]}
    if type(value) is dict:
        return {"dict": {str(key): encode(item) for key, item in value.items()}}
    if type(value) in (int, float):
        return {"number": _digits(float(value)), "dtype": "int" if type(value) is int else _PLAIN}
    array = as_float64(value)
    if array is None or array.size > LARGEST:
        return {"object": True}
    dtype = str(value.dtype)
    if not array.ndim and isinstance(value, np.generic):  # an array or tensor without axes stays an array
        return {"number": _digits(float(array)), "dtype": dtype}
    digits = SHORT if dtype.endswith(("float32", "float16")) else DIGITS
    return {"array": [_digits(x, digits) for x in array.ravel().tolist()], "shape": list(array.shape), "dtype": dtype}


def decode(data: Any) -> Any:
    """Return what `encode` wrote."""
    if data is None or type(data) is bool:
        return data
    (kind, content), *_ = data.items()
    match kind:
        case "text":
            return content
        case "tuple":
            return tuple(map(decode, content))
        case "list":
            return list(map(decode, content))
        case "dict":
            return {key: decode(item) for key, item in content.items()}
        case "number":
            return _number(float(content), data["dtype"])
        case "array":
            flat = np.array([float(x) for x in content])
            return _typed(flat.reshape(data["shape"]), data["dtype"])
    return Unreadable()


def _number(value: float, dtype: str) -> Any:
    if dtype == "int":
        return int(value)
    return value if dtype == _PLAIN else np.dtype(dtype).type(value)


def _typed(array: np.ndarray, dtype: str) -> Any:
    if dtype.startswith("torch."):
        import torch

        return torch.from_numpy(array).to(getattr(torch, dtype.removeprefix("torch.")))
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def _digits(value: float, digits: int = DIGITS) -> float | str:
    return float(f"{value:.{digits}g}") if math.isfinite(value) else str(value)


def outcome_data(outcome: ProbeOutcome) -> dict[str, Any]:
    """Return an outcome as plain data for a golden file."""
    data: dict[str, Any] = {"ended": outcome.ended}
    if outcome.ended == "returned":
        data["value"] = encode(outcome.value)
    if outcome.numbers:
        data["numbers"] = list(outcome.numbers)
    if outcome.changed:
        data["changed"] = {name: encode(value) for name, value in outcome.changed.items()}
    return data


def outcome_of(data: Mapping[str, Any]) -> ProbeOutcome:
    """Return what `outcome_data` wrote."""
    changed = {name: decode(value) for name, value in data.get("changed", {}).items()}
    return ProbeOutcome(data["ended"], decode(data.get("value")), tuple(data.get("numbers", ())), changed)
