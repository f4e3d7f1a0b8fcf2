"""A course of another subject: what its authors and students may not read in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_FOREIGN = re.compile(r".*(?:attention|softmax|transformer|attnlab's (?:own )?course).*", re.IGNORECASE)
# What is the engine's own source, and no one's text: it knows PyTorch's operations by name.
_SOURCE = {".whl", ".zip", ".gz", ".wasm", ".js"}


def foreign_words(text: str) -> list[str]:
    """Return the lines of a text that are about the course on attention."""
    return [found.strip() for found in _FOREIGN.findall(text)]


def foreign_files(folder: Path) -> Iterator[str]:
    """Yield what in the files of a folder is about the course on attention."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix not in _SOURCE and not path.name.endswith(".db"):
            yield from (f"{path}: {line[:200]}" for line in foreign_words(path.read_text(errors="replace")))
