"""The pytest mark `worth`."""

from __future__ import annotations

MARK = "worth(points, property, target, needs, slow, cpu_s): a check and its points"
