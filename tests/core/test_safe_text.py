"""Names in lists."""

from __future__ import annotations

import pytest

from grader.core.safe_text import listed


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["ana", "ben"], "ana, ben"),
        (["Silva, Ana", "ben"], "Silva, Ana; ben"),
        (["a; b", "c"], '"a; b"; c'),
        ([], ""),
    ],
)
def test_names_in_a_list_cannot_be_read_wrongly(names: list[str], shown: str) -> None:
    assert listed(names) == shown
