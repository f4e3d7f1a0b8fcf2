"""What a student reads, word for word: a change of wording is a diff in screens/, never an accident."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.journey.screens import FOLDER, screens


def test_every_screen_is_as_it_was_agreed(tmp_path: Path) -> None:
    shown = dict(screens(tmp_path))
    assert sorted(shown) == sorted(path.stem for path in FOLDER.glob("*.txt"))
    for name, text in shown.items():
        assert text == (FOLDER / f"{name}.txt").read_text(encoding="utf-8"), (
            "python -m tests.acceptance.journey.screens"
        )


def test_no_screen_is_wider_than_a_narrow_terminal() -> None:
    for path in FOLDER.glob("*.txt"):
        assert [line for line in path.read_text(encoding="utf-8").splitlines() if len(line) > 80] == []
