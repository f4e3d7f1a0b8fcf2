"""Text that came from a student, made safe to print, store and compare."""

from __future__ import annotations

import hashlib
import re
import unicodedata

MAX_CHARACTERS = 4_000
MAX_NAME = 150
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,16}")
# Control, invisible or direction-changing, lone surrogate, private, unassigned; line and paragraph separators.
_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def printable(text: str, limit: int = MAX_CHARACTERS) -> str:
    """Return text that no terminal obeys and every encoding can hold, cut to a limit.

    Memory addresses are blanked: they differ from run to run, and two gradings of one file must not.
    """
    blanked = without_addresses(text)
    shown = _escaped(blanked[:limit])
    return shown if len(blanked) <= limit else f"{shown}… ({len(blanked) - limit} more characters)"


def without_addresses(text: str) -> str:
    """Return text with memory addresses blanked; to be called before a text is cut, lest half of one is left."""
    return _ADDRESS.sub("0x…", text)


def plain_name(name: str) -> str:
    """Return a file's or student's name for print and storage; different names stay different."""
    shown = _escaped(name.replace("\\", "\\\\")).replace("\n", "\\n").replace("\t", "\\t")
    if len(shown) <= MAX_NAME:
        return shown
    return f"{shown[:MAX_NAME]}…{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def one_line(text: str, limit: int = 200) -> str:
    """Return text made printable on a single line."""
    return printable(text, limit).replace("\n", "\\n").replace("\t", "\\t")


def _escaped(text: str) -> str:
    return "".join(character if _is_safe(character) else f"\\u{{{ord(character):x}}}" for character in text)


def _is_safe(character: str) -> bool:
    return character in "\n\t" or unicodedata.category(character) not in _UNSAFE
