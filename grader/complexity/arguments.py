"""The arguments of a measured call, made as a contract describes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def argument(spec: str, names: Mapping[str, int], rng: np.random.Generator) -> Any:
    """Make one argument as a contract describes it, such as `array n d`."""
    kind, *parts = spec.split()
    if kind == "value":
        return float(parts[0])
    sizes = [names.get(part) or int(part) for part in parts]
    match kind:
        case "array":
            return rng.normal(size=sizes)
        case "tensor" | "tensormask":
            import torch

            return torch.from_numpy(rng.normal(size=sizes)).float() if kind == "tensor" else torch.ones(*sizes) > 0
        case "none":
            return None
        case "true":
            return True
        case "mask":
            return np.ones(sizes, dtype=bool)  # a mask that blocks entries would make the cost depend on chance
        case "size":
            return sizes[0]
        case _:  # lengths
            return [sizes[1] - 1] * sizes[0]
