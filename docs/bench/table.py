"""The table of a run, as text and as JSON."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from collections.abc import Iterator, Sequence
from itertools import groupby

import psutil

from docs.bench.row import Row, figure
from grader.grading.pool import usable_cores
from grader.sandbox.jail.tiers import best, survey

SCHEMA = 1
HEAD = ("", "ours", "the other", "ratio", "limit", "")


def machine() -> dict[str, str]:
    """Return a description of the machine, without its name and without paths."""
    return {
        "cores": f"{usable_cores()} ({platform.machine()})",
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "load": f"{psutil.getloadavg()[0]:.1f} at the start",
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": importlib.metadata.version("numpy"),
        "sandbox": best(survey("numpy")),
    }


def is_busy() -> bool:
    """Whether this machine is busy with other work. Call it before a run."""
    return bool(psutil.getloadavg()[0] > usable_cores() / 2)


def as_text(rows: Sequence[Row], words: dict[str, str]) -> str:
    """Return the table, part by part."""
    lines = [HEAD, *(line for _, part in groupby(rows, lambda row: row.part) for line in _part(list(part)))]
    widths = [max(len(line[column]) for line in lines if len(line) > 1) for column in range(len(HEAD))]
    text = [_line(line, widths) for line in lines]
    return "\n".join([*text, "", "measured on: " + ", ".join(f"{name} {value}" for name, value in words.items())])


def as_json(rows: Sequence[Row], words: dict[str, str], missing: dict[str, str]) -> str:
    """Return the run as JSON; `missing` has the parts that were not measured, with the reasons."""
    rows_data = [row.as_json() for row in rows]
    document = {"schema": SCHEMA, "machine": words, "rows": rows_data, "not_measured": missing}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _part(rows: list[Row]) -> Iterator[tuple[str, ...]]:
    yield (rows[0].part,)
    for row in rows:
        theirs = f"{figure(row.theirs, row.unit)} {row.other}"
        ratio = f"{row.ratio:.2f} x" if row.ratio < 10 else f"{row.ratio:.0f} x"
        yield f"  {row.name}", figure(row.ours, row.unit), theirs, ratio, str(row.limit), row.verdict


def _line(line: tuple[str, ...], widths: list[int]) -> str:
    if len(line) == 1:
        return f"\n{line[0]}"
    name, ours, other, ratio, limit, verdict = line
    cells = [name.ljust(widths[0]), ours.rjust(widths[1]), other.ljust(widths[2]), ratio.rjust(widths[3])]
    return "  ".join([*cells, limit.ljust(widths[4]), verdict]).rstrip()
