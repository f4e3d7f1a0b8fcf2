"""Seeding of every random generator."""

from __future__ import annotations

import os
import random
import sys
from typing import Any

import numpy as np

_system = random.Random(0)  # stands in for the operating system's randomness


def seed_everything(seed: int) -> None:
    """Make random numbers repeatable: two gradings of one file must agree."""
    random.seed(seed)
    np.random.seed(seed)
    _system.seed(seed)
    np.random.bit_generator.randbits = _system.getrandbits  # type: ignore[attr-defined] # default_rng()
    if (torch := sys.modules.get("torch")) is not None:
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would also save a traceback for later GPU use


def replace_system_randomness() -> None:
    """Make what the operating system would randomise repeatable, too: `os.urandom` and everything made from it.

    That is `secrets`, `random.SystemRandom`, `uuid.uuid4`, and generators without a seed. Only for a worker: in any
    other process it would make secrets guessable.
    """

    def urandom(size: int, /) -> bytes:
        return _system.randbytes(size)

    def getrandom(size: int, flags: int = 0) -> bytes:
        del flags
        return _system.randbytes(size)

    seed_as_given = random.Random.seed

    def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
        seed_as_given(self, _system.getrandbits(128) if a is None else a, version)

    os.urandom = random._urandom = urandom  # type: ignore[attr-defined]
    os.getrandom = getrandom
    random.Random.seed = seed  # type: ignore[method-assign]
    random.seed = random._inst.seed
    if "torch" in sys.modules:
        _replace_seed_of_torch()


def _replace_seed_of_torch() -> None:
    import torch

    def seed() -> int:
        return int(torch.default_generator.manual_seed(_system.getrandbits(63)).initial_seed())

    torch.seed = torch.random.seed = seed
