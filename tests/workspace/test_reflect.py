"""Open questions under Reflect, read from the code without running it."""

from __future__ import annotations

import pytest

from grader.workspace.reflect import unanswered


@pytest.mark.parametrize(
    ("cells", "names"),
    [
        (["A = None\nB = 2"], ("A",)),
        (["A = 3", "B = None", "B = 4"], ()),
        (["A = 3\nB = None\n", "A = None"], ("A", "B")),  # the last assignment counts
        (["A, B = 1, 2"], ()),
        (["A: float = 1.5\nB = A / 2"], ()),
        (["if True:\n    A = 1\nfor B in range(3):\n    pass"], ()),
        (["%matplotlib inline", "A = B = 0"], ()),
        ([], ("A", "B")),
    ],
)
def test_a_question_is_open_until_a_value_is_assigned(cells: list[str], names: tuple[str, ...]) -> None:
    assert unanswered(cells, ("A", "B")) == names
