"""Notebooks: made from a percent-format script, and read back as cells of code."""

from __future__ import annotations

import json
import re
from typing import Any

from grader.percent import split_cells

MAX_CELLS = 1_000
_CELL = re.compile(r"^# %%(?P<kind> \[markdown\])?[^\n]*\n?", re.MULTILINE)


class NotebookError(Exception):
    """A file that is no notebook we can read."""


def make_notebook(script: str, slug: str) -> str:
    """Return the notebook of a percent-format script, the same text every time."""
    cells = [_cell(kind, source, f"{slug}-{number:02d}") for number, (kind, source) in enumerate(_split(script), 1)]
    document = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def read_cells(data: bytes) -> tuple[str, ...]:
    """Return the source of every code cell of a notebook, in order."""
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise NotebookError("the notebook is not UTF-8") from None
    except (ValueError, RecursionError):
        raise NotebookError("the notebook is not JSON") from None
    match document:
        case {"nbformat": 4, "cells": list(cells)}:
            sources = tuple(_source(cell) for cell in cells if _is_code(cell))
            if len(sources) > MAX_CELLS:
                raise NotebookError(f"the notebook has {len(sources)} cells; the most is {MAX_CELLS}")
            return sources
        case {"nbformat": int(version)} if version != 4:
            raise NotebookError(f"the notebook has format {version}; save it as format 4")
    raise NotebookError("the file is JSON but not a notebook")


def _split(script: str) -> list[tuple[str, str]]:
    """Return (kind, source) of every cell; what stands before the first marker is a cell of code."""
    head, cells = split_cells(_CELL, script)
    kinds = [("code", head), *(("markdown" if mark["kind"] else "code", body) for mark, body in cells)]
    return [(kind, source.strip("\n")) for kind, source in kinds if source.strip()]


def _cell(kind: str, source: str, identifier: str) -> dict[str, Any]:
    if kind == "markdown":
        source = "\n".join(re.sub(r"^# ?", "", line) for line in source.split("\n"))
    cell: dict[str, Any] = {
        "cell_type": kind,
        "id": identifier.replace("_", "-"),
        "metadata": {},
        "source": source.splitlines(keepends=True),
    }
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def _is_code(cell: Any) -> bool:
    return isinstance(cell, dict) and cell.get("cell_type") == "code"


def _source(cell: dict[str, Any]) -> str:
    match cell.get("source"):
        case str(text):
            return text
        case list(lines) if all(isinstance(line, str) for line in lines):
            return "".join(lines)
    raise NotebookError("a cell of the notebook has no source")
