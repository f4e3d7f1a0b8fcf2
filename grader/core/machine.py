"""The machine that grades: its versions, its GPU, and how it can isolate student code."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Literal

from grader import __version__

IN_BROWSER = sys.platform == "emscripten"  # one process, and a page with buttons instead of a terminal
Tier = Literal["strict", "contained", "none"]  # of isolation for student code


@cache
def environment() -> dict[str, str | None]:
    """Return the versions that a grade depends on."""
    import importlib.metadata  # slow to import, and most who import this file never ask
    import platform

    versions: dict[str, str | None] = {"python": platform.python_version()}
    for package in ("numpy", "torch"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = None
    return versions | {"attnlab": __version__}


def gpu_name() -> str | None:
    """Return the driver's name for the GPU that grading would use; None if there is no GPU."""
    names = []
    for file in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        names += [line.partition(":")[2].strip() for line in file.read_text().splitlines() if line.startswith("Model:")]
    return names[0] if names else None
