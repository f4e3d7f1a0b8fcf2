"""The tiers of isolation for student code."""

from __future__ import annotations

from typing import Literal

Tier = Literal["strict", "contained", "none"]
