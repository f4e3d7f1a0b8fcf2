"""Notebooks, written from a percent-format script and read as code cells.

The percent format is a script of cells, each starting with a line `# %%`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

MAX_CELLS = 1_000
_CELL = re.compile(r"^# %%(?P<kind> \[markdown\])?[^\n]*\n?", re.MULTILINE)


class NotebookError(Exception):
    """A file that cannot be read as a notebook."""


def make_notebook(script: str, slug: str) -> str:
    """Return a percent-format script as a notebook. The same script always gives the same text."""
    return notebook_text([(kind, source, {}) for kind, source in script_cells(script)], slug)


def notebook_text(cells: Iterable[tuple[str, str, Mapping[str, Any]]], slug: str) -> str:
    """Return cells as a notebook. Each cell is a kind, a source and metadata."""
    document = {
        "cells": [_cell(*cell, f"{slug}-{number:02d}") for number, cell in enumerate(cells, 1)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def script_cells(script: str) -> list[tuple[str, str]]:
    """Return (kind, source) of every cell. Text before the first marker is a code cell."""
    head, cells = split_cells(_CELL, script)
    kinds = [("code", head), *(("markdown" if mark["kind"] else "code", body) for mark, body in cells)]
    return [(kind, _cell_text(kind, source.strip("\n"))) for kind, source in kinds if source.strip()]


def read_cells(data: bytes, given: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the source of every code cell of a notebook, in order.

    `given` has the original text of the locked cells, by nbgrader's id. It replaces whatever the student made of them.
    Of several cells with the same id, the last one is the locked cell, as in nbgrader. The others are copies.
    """
    cells = [cell for cell in raw_cells(data) if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    if len(cells) > MAX_CELLS:
        raise NotebookError(f"the notebook has {len(cells)} cells; the limit is {MAX_CELLS}")
    sources = [source_of(cell) for cell in cells]
    last_positions = {name: number for number, cell in enumerate(cells) if (name := grade_id(cell)) in (given or {})}
    for name, number in last_positions.items():
        sources[number] = (given or {})[name]  # may be empty, but stays in the list: errors name cells by number
    return tuple(sources)


def raw_cells(data: bytes) -> list[Any]:
    """Return the cells of a notebook as they are in the file. They can be anything."""
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise NotebookError("the notebook is not UTF-8 text") from None
    except (ValueError, RecursionError):
        raise NotebookError("the notebook is not JSON") from None
    match document:
        case {"nbformat": 4, "cells": list(cells)}:
            return cells
        case {"nbformat": int(version)} if version != 4:
            raise NotebookError(f"the notebook has format {version}. Save it as format 4")
    raise NotebookError("the file is JSON but not a notebook")


def source_of(cell: Mapping[str, Any]) -> str:
    """Return the text of a cell."""
    match cell.get("source"):
        case str(text):
            return text
        case list(lines) if all(isinstance(line, str) for line in lines):
            return "".join(lines)
    raise NotebookError("a cell of the notebook has no source")


def grade_id(cell: Any) -> str:
    """Return nbgrader's id of a cell; empty if it has none."""
    match cell:
        case {"metadata": {"nbgrader": {"grade_id": str(name)}}}:
            return name
    return ""


def _cell_text(kind: str, source: str) -> str:
    """Return the text of a cell. Markdown loses its comment signs."""
    if kind == "code":
        return source
    return "\n".join(re.sub(r"^# ?", "", line) for line in source.split("\n"))


def _cell(kind: str, source: str, metadata: Mapping[str, Any], identifier: str) -> dict[str, Any]:
    cell: dict[str, Any] = {
        "cell_type": kind,
        "id": identifier.replace("_", "-"),
        "metadata": metadata,
        "source": source.splitlines(keepends=True),
    }
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def split_cells(pattern: re.Pattern[str], text: str) -> tuple[str, list[tuple[re.Match[str], str]]]:
    """Return the text before the first cell, and the first line and body of each cell."""
    marks = list(pattern.finditer(text))
    starts = [*(mark.start() for mark in marks), len(text)]
    cells = [(mark, text[mark.end() : end]) for mark, end in zip(marks, starts[1:], strict=True)]
    return text[: starts[0]], cells
