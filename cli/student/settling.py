"""When a saved file is whole: some editors empty a file first, or write it in several pieces."""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path

from grader.core.syntax import parse

QUIET_SECONDS = 0.1  # without a change, for a file that can be read
BROKEN_SECONDS = 0.7  # for one that cannot: the rest of it may still come, or it is the student's mistake


@dataclass
class Settling:
    """Follows the changes of files, and says when they have been quiet for long enough."""

    _stamp: Hashable = None
    _since: float = 0.0

    def is_quiet(self, stamp: Hashable, now: float, *, whole: bool) -> bool:
        """Whether the files with this stamp have not changed for long enough."""
        if stamp != self._stamp:
            self._stamp, self._since = stamp, now
        return now - self._since >= (QUIET_SECONDS if whole else BROKEN_SECONDS)


def is_whole(path: Path) -> bool:
    """Whether a script or notebook can be read to its end."""
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            json.loads(text)
        else:
            parse(text)
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return False
    return bool(text.strip())
