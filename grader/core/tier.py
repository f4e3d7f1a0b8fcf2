"""How well student code is jailed."""

from __future__ import annotations

from typing import Literal

Tier = Literal["strict", "contained", "none"]
