"""Scripts as text: Python's own rules, and a guess that is said."""

from __future__ import annotations

import pytest

from grader.submission.reading import reading_note, script_text

TEXT = "x = 1  # schön\n"


@pytest.mark.parametrize(
    ("data", "note"),
    [
        (TEXT.encode(), ""),
        (TEXT.encode("utf-8-sig"), ""),
        (f"# coding: latin-1\n{TEXT}".encode("latin-1"), ""),
        (f"# -*- coding: windows-1252 -*-\n{TEXT}".encode("cp1252"), ""),
        (TEXT.encode("latin-1"), "is not UTF-8: read as Latin-1 (Windows-1252)"),
        (f"# coding: utf-8\n{TEXT}".encode("latin-1"), "is not UTF-8: read as Latin-1 (Windows-1252)"),
        (b"# \xab\xa0oui\xa0\xbb\n" + TEXT.encode("latin-1"), "is not UTF-8: read as Latin-1 (Windows-1252)"),
        (TEXT.encode("utf-16"), "is UTF-16, which Python does not run: read as that"),
        (TEXT.encode("utf-32"), "is UTF-32, which Python does not run: read as that"),
    ],
)
def test_text_is_read_and_a_guess_is_said(data: bytes, note: str) -> None:
    assert script_text(data).endswith(TEXT)
    assert reading_note(data) == note


@pytest.mark.parametrize(
    "data",
    [
        "# 表、\n".encode("shift-jis"),  # has bytes that Windows-1252 does not have
        TEXT.encode("utf-16-le"),  # without its mark
        TEXT.encode("latin-1") + b"\0",
        TEXT.encode("utf-8-sig") + b"\xe9",
        b"# coding: nonsense\n\xe9",
        b"# coding: utf-7\n",
    ],
)
def test_nothing_else_is_guessed(data: bytes) -> None:
    with pytest.raises((SyntaxError, UnicodeError, LookupError)):
        script_text(data)
    assert reading_note(data) == ""
