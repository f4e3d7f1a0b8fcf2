"""How many entries an operation on a container goes through, by its sizes alone."""

from __future__ import annotations

import pytest

from grader.sandbox.worker.meters.containers import stored


@pytest.mark.parametrize(
    ("code", "index", "entries"),
    [
        ("row[2:5] = [0, 0]", slice(2, 5), 3 + 5),  # three go, and the five behind them move
        ("row[2:5] = [0] * 4", slice(2, 5), 4 + 5),
        ("row[2:5] = [0] * 3", slice(2, 5), 3),
        ("del row[2:5]", slice(2, 5), 3 + 5),
        ("row[7:4] = [0]", slice(7, 4), 1 + 3),  # it is put before the seventh
        ("del row[4]", 4, 5),
        ("row[4] = 0", 4, 0),
    ],
)
def test_what_a_list_moves(code: str, index: int | slice, entries: int) -> None:
    row = list(range(10))
    exec(code, {"row": row})
    assert stored(row, index, 10, len(row)) == entries
