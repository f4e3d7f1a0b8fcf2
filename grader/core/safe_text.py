"""Text from a student, made safe to print, store and compare."""

from __future__ import annotations

import hashlib
import re
import unicodedata

MAX_CHARACTERS = 4_000
MAX_NAME = 150
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,16}")
# Control characters, invisible or direction-changing ones, lone surrogates, private and unassigned ones, separators.
_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def printable(text: str, limit: int = MAX_CHARACTERS) -> str:
    """Return text that is safe for any terminal and encoding, cut to a limit.

    Memory addresses are blanked: they differ between runs, and two gradings of one file must be the same.
    """
    blanked = without_addresses(text)
    shown = _escaped(blanked[:limit])
    return shown if len(blanked) <= limit else f"{shown}… ({len(blanked) - limit} more characters)"


def without_addresses(text: str) -> str:
    """Return text with memory addresses blanked. Call it before cutting a text, so that no half address stays."""
    return _ADDRESS.sub("0x…", text)


def plain_name(name: str) -> str:
    """Return the name of a file or student, safe to print and store. Different names stay different."""
    shown = _escaped(name.replace("\\", "\\\\")).replace("\n", "\\n").replace("\t", "\\t")
    if len(shown) <= MAX_NAME:
        return shown
    return f"{shown[:MAX_NAME]}…{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def one_line(text: str, limit: int = 200) -> str:
    """Return printable text on one line."""
    return printable(text, limit).replace("\n", "\\n").replace("\t", "\\t")


def _escaped(text: str) -> str:
    return "".join(character if _is_safe(character) else f"\\u{{{ord(character):x}}}" for character in text)


def _is_safe(character: str) -> bool:
    return character in "\n\t" or unicodedata.category(character) not in _UNSAFE
