"""Notebooks for the peers, cell by cell."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def cell(identifier: str, source: str, metadata: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a code cell."""
    return {
        "cell_type": "code",
        "id": identifier.replace("_", "-"),
        "metadata": dict(metadata or {}),
        "source": source,
        "execution_count": None,
        "outputs": [],
    }


def notebook(cells: Iterable[Mapping[str, Any]]) -> str:
    """Return the text of a notebook."""
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    return json.dumps({"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def filled(text: str, answers: Mapping[str, str]) -> str:
    """Return a notebook in which the cells of these names have these sources."""
    document = json.loads(text)
    by_id = {name.replace("_", "-"): source for name, source in answers.items()}
    for one in document["cells"]:
        one["source"] = by_id.get(one["id"], one["source"])
    return json.dumps(document, indent=1)
