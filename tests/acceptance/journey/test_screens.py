"""The student's screens, word for word: every change of wording is a visible diff in screens/."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.journey.screens import FOLDER, screens


@pytest.mark.exhaustive  # a quarter of a minute
def test_every_screen_matches_its_file(tmp_path: Path) -> None:
    shown = dict(screens(tmp_path))
    assert sorted(shown) == sorted(path.stem for path in FOLDER.glob("*.txt"))
    for name, text in shown.items():
        assert text == (FOLDER / f"{name}.txt").read_text(encoding="utf-8"), (
            "python -m tests.acceptance.journey.screens"
        )


def test_no_screen_is_wider_than_a_narrow_terminal() -> None:
    for path in FOLDER.glob("*.txt"):
        assert [line for line in path.read_text(encoding="utf-8").splitlines() if len(line) > 80] == []
