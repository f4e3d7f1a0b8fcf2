"""Colours where a terminal has them: always beside the word they stand for, never in place of it."""

from __future__ import annotations

import codecs
import os
import re

import click

_WORDS = {
    "passed": "green",
    "complete": "green",
    "within its law": "green",
    "FAILED": "red",
    "TOO MUCH": "red",
    "NOT ALLOWED": "red",
    "GRADER FAULT": "red",
    "held back": "yellow",
    "not decided": "yellow",
    "Likely:": "yellow",
}
_WORD = re.compile(rf"^(\s*)({'|'.join(map(re.escape, _WORDS))})(?=\s|:|$)", re.MULTILINE)
# What a terminal without these characters shows instead.
_PLAIN = {"·": "*", "×": "x", "…": "...", "–": "-", "²": "^2", "³": "^3", "⁴": "^4", "−": "-", "█": "#", "→": "->"}


def paint(text: str) -> str:
    """Return a text with its verdicts in colour; `click.echo` takes that out again where it does not belong."""
    return _WORD.sub(lambda match: match[1] + click.style(match[2], fg=_WORDS[match[2]], bold=True), text)


def wants_colour(*, plain: bool) -> bool | None:
    """Return False if somebody said that they want none; None lets the terminal decide."""
    return False if plain or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None


def _instead(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c, c.encode("ascii", "backslashreplace").decode()) for c in text), error.end


def register_fallback() -> str:
    """Return the name of what to do with characters that a terminal does not have: say it in others."""
    codecs.register_error("attn", _instead)
    return "attn"
