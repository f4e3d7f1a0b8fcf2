"""The environment: the versions that a verdict rests on."""

from __future__ import annotations

import importlib.metadata
import platform
from functools import cache
from pathlib import Path

from grader import __version__


@cache
def environment() -> dict[str, str | None]:
    """Return the versions a verdict rests on."""
    versions: dict[str, str | None] = {"python": platform.python_version()}
    for package in ("numpy", "torch"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = None
    return versions | {"attnlab": __version__}


def gpu_name() -> str | None:
    """Return what the driver calls the GPU that grading would use; None where there is none."""
    names = []
    for file in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        names += [line.partition(":")[2].strip() for line in file.read_text().splitlines() if line.startswith("Model:")]
    return names[0] if names else None
