"""Text from a student, made safe to print, store and compare.

What could hide, move or forge text on a screen is shown as an escape such as `\\u{202e}`, so that a reader sees it and
different texts stay different: control characters, characters that change the direction or are invisible, tags,
separators of lines, lone surrogates. Names in any script stay as they are.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

MAX_CHARACTERS = 4_000
MAX_NAME = 150
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,16}")
# Control characters, invisible or direction-changing ones, lone surrogates, private and unassigned ones, separators.
_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
# Letters and marks that are not seen at all.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
_JOINERS = frozenset("\u200c\u200d")
# Scripts that are spelled with joiners, as Unicode names their letters: Persian is written with Arabic ones.
_JOINED_SCRIPTS = (
    *("ARABIC", "SYRIAC", "NKO", "MANDAIC", "MONGOLIAN", "PHAGS-PA"),
    *("DEVANAGARI", "BENGALI", "GURMUKHI", "GUJARATI", "ORIYA", "TAMIL", "TELUGU", "KANNADA", "MALAYALAM", "SINHALA"),
    *("MYANMAR", "KHMER", "TIBETAN", "BALINESE", "JAVANESE", "SUNDANESE"),
)
# They choose the shape of the character before them. Behind anything but a symbol or one of these, they only hide.
_SELECTORS = re.compile("[\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_SHAPED = ("CJK", "MONGOLIAN", "PHAGS-PA", "MYANMAR")


def printable(text: str, limit: int = MAX_CHARACTERS) -> str:
    """Return text that is safe for any terminal and encoding, cut to a limit.

    Memory addresses are blanked: they differ between runs, and two gradings of one file must be the same.
    """
    blanked = without_addresses(text)
    shown = visible(blanked[:limit])
    return shown if len(blanked) <= limit else f"{shown}… ({len(blanked) - limit} more characters)"


def without_addresses(text: str) -> str:
    """Return text with memory addresses blanked. Call it before cutting a text, so that no half address stays."""
    return _ADDRESS.sub("0x…", text)


def plain_name(name: str) -> str:
    """Return the name of a file or student, safe to print and store. Different names stay different."""
    shown = visible_line(name.replace("\\", "\\\\"))
    if len(shown) <= MAX_NAME:
        return shown
    # Visible again: the cut may have left a joiner at the end.
    return f"{visible(shown[:MAX_NAME])}…{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def one_line(text: str, limit: int = 200) -> str:
    """Return printable text on one line."""
    return visible_line(printable(text, limit))


def listed(names: Iterable[str]) -> str:
    """Return names as a list that cannot be read wrongly: `Silva, Ana` is one name."""
    found = [f'"{name}"' if ";" in name else name for name in names]
    return ("; " if any("," in name or ";" in name for name in found) else ", ").join(found)


def visible(text: str) -> str:
    """Return a text with an escape for everything in it that could hide or forge text. Lines and tabs are kept."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character if _is_safe(text, at, character) else f"\\u{{{ord(character):x}}}"
        for at, character in enumerate(text)
    )


def visible_line(text: str) -> str:
    """Return a text like `visible`, on one line."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def _is_safe(text: str, at: int, character: str) -> bool:
    if character in _JOINERS:
        return 0 < at < len(text) - 1 and _is_joined(text[at - 1]) and _is_joined(text[at + 1])
    if character in _INVISIBLE:
        return False
    if _SELECTORS.match(character):
        return at > 0 and _has_shapes(text[at - 1]) and not _SELECTORS.match(text[at - 1])
    return character in "\n\t" or unicodedata.category(character) not in _UNSAFE


def _is_joined(character: str) -> bool:
    """Whether a character is a letter or a mark of a script that is spelled with joiners."""
    in_word = unicodedata.category(character)[0] in "LM"
    return in_word and unicodedata.name(character, "").startswith(_JOINED_SCRIPTS)


def _has_shapes(character: str) -> bool:
    return unicodedata.category(character) in ("So", "Sm") or unicodedata.name(character, "").startswith(_SHAPED)
