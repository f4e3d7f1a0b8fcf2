"""Random generators as arguments: the worker makes them, so that student code gets a real one with a known seed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.sandbox.protocol.wire import Remote

KIND = "a random generator"  # in place of the type of an object in the worker
MOST = 1 << 31


@dataclass(frozen=True)
class Generator:
    """Stands for a new generator in the arguments of a call. Every call gets one in the same state."""

    seed: int

    def __repr__(self) -> str:
        return f"generator({self.seed})"

    @property
    def sent(self) -> Remote:
        """The form that is sent to a worker."""
        return Remote(self.seed, KIND)


def generator(seed: int) -> Generator:
    """Return an argument that is a new `torch.Generator` with this seed; in a NumPy module, `default_rng(seed)`."""
    if type(seed) is not int or not 0 <= seed < MOST:
        raise TypeError(f"a seed is a whole number from 0 to {MOST - 1}, not {seed!r}")
    return Generator(seed)


def make_generator(seed: int) -> Any:
    """Make the generator, where the call is made."""
    if (torch := sys.modules.get("torch")) is not None:
        return torch.Generator().manual_seed(seed)
    return np.random.default_rng(seed)


def as_argument(value: Any) -> Any:
    """Return an argument as the function gets it: a stand-in becomes a real generator."""
    return make_generator(value.seed) if type(value) is Generator else value
