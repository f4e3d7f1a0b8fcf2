"""What nbgrader reads of a submission: plain cells, and each released one once."""

from __future__ import annotations

import json

import nbformat

from grader.platforms.nbgrader.exporter import notebook_of


def test_of_two_cells_with_one_id_the_last_is_the_released_one() -> None:
    """As in nbgrader, and as in grading. The earlier one is the student's copy, and stays as a plain cell."""
    metadata = {"nbgrader": {"grade_id": "answer-f", "locked": False}}
    cells = [{"cell_type": "code", "source": text, "metadata": metadata} for text in ("a copy", "the answer")]
    data = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode()
    released = nbformat.v4.new_code_cell("the stub", metadata=nbformat.from_dict(metadata))
    shown = notebook_of(data, {"answer-f": released}).cells
    assert [(cell.source, "nbgrader" in cell.metadata) for cell in shown] == [("a copy", False), ("the answer", True)]
