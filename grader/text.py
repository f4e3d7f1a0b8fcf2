"""Text that came from a student, made safe to print, store and compare."""

from __future__ import annotations

import re
import unicodedata

MAX_CHARACTERS = 4_000
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,16}")
# Cc control, Cf invisible and direction-changing, Cs lone surrogates, Co private, Cn unassigned.
_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn"}


def printable(text: str, limit: int = MAX_CHARACTERS) -> str:
    """Return text that no terminal obeys and every encoding can hold, cut to a limit.

    Memory addresses are blanked: they differ from run to run, and two gradings of one file must not.
    """
    cut = text[:limit]
    shown = "".join(_escaped(character) for character in _ADDRESS.sub("0x…", cut))
    return shown if len(text) <= limit else f"{shown}… ({len(text) - limit} more characters)"


def one_line(text: str, limit: int = 200) -> str:
    """Return text made printable on a single line; different texts stay different."""
    return printable(text, limit).replace("\n", "\\n").replace("\t", "\\t")


def _escaped(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in _UNSAFE:
        return character
    return f"\\u{{{ord(character):x}}}"
