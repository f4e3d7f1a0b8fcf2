"""Seeding of every random generator."""

from __future__ import annotations

import random
import sys

import numpy as np


def seed_everything(seed: int) -> None:
    """Make random numbers repeatable: two gradings of one file must agree."""
    random.seed(seed)
    np.random.seed(seed)
    np.random.bit_generator.randbits = random.Random(seed).getrandbits  # type: ignore[attr-defined] # default_rng()
    if (torch := sys.modules.get("torch")) is not None:
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would also save a traceback for later GPU use
