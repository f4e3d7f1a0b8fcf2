"""The environment: the versions that a verdict rests on."""

from __future__ import annotations

import importlib.metadata
import platform
from functools import cache

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
