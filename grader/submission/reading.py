"""Scripts as text: by Python's own rules, or by a clear guess where those refuse the file."""

from __future__ import annotations

import codecs
import io
import tokenize

# The encodings that a script may declare: plain ones only, none that transform text or are slow.
ENCODINGS = (
    *("utf-8", "utf-8-sig", "ascii", "iso8859-1", "iso8859-2", "iso8859-15"),
    *("cp1250", "cp1251", "cp1252", "koi8-r", "mac-roman"),
)
_GUESS = "cp1252"  # what Windows writes in Western Europe and America; Latin-1 is a part of it
_UTF_32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def script_text(data: bytes) -> str:
    """Return the text of a script; SyntaxError, UnicodeError or LookupError if it cannot be told."""
    return _read(data)[0]


def reading_note(data: bytes) -> str:
    """Return how a script is read if Python would refuse it; empty if Python accepts it, or if it is unreadable."""
    if data.isascii():
        return ""
    try:
        return _read(data)[1]
    except (SyntaxError, UnicodeError, LookupError):
        return ""


def _read(data: bytes) -> tuple[str, str]:
    """Return the text, and what was guessed."""
    if data.startswith(_UTF_32):
        return data.decode("utf-32"), "is UTF-32, which Python does not run: read as that"
    if data.startswith(_UTF_16):
        return data.decode("utf-16"), "is UTF-16, which Python does not run: read as that"
    try:
        return _by_pythons_rules(data), ""
    except (SyntaxError, UnicodeError) as error:
        if "unknown encoding" in str(error) or data.startswith(codecs.BOM_UTF8):
            raise
        text = data.decode(_GUESS)
        if not all(letter.isprintable() or letter in "\t\r\n\f\xa0" for letter in text):
            raise
        return text, "is not UTF-8: read as Latin-1 (Windows-1252)"


def _by_pythons_rules(data: bytes) -> str:
    declared, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    encoding = codecs.lookup(declared).name
    if encoding not in ENCODINGS:
        raise LookupError(declared)
    return data.decode(encoding)
