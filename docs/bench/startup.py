"""The start-up time of the light commands, compared with an import of click alone, as processes."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

from docs.bench.command import ATTN, run
from docs.bench.row import Row, costs

ROOT = Path(__file__).parent.parent.parent
PART = "start-up, whole processes"
BASE = "import click"
ROUNDS = 11
COMMANDS = {
    BASE: [sys.executable, "-c", "import click"],
    "attn --help": [ATTN, "--help"],
    "attn status": [ATTN, "status"],
}


def startup() -> Iterator[Row]:
    """Yield the medians of one run in which all commands take turns."""
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, command in COMMANDS.items():
            seconds[name].append(run(command, ROOT).seconds)
    median = {name: statistics.median(values) for name, values in seconds.items()}
    for name in COMMANDS:
        if name != BASE:
            yield costs(PART, name, median[name], (BASE, median[BASE]))
