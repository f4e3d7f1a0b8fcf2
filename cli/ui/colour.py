"""Colours for verdicts; every colour goes with a word, so that nothing is lost without it."""

from __future__ import annotations

import codecs
import os
import re

import click

_WORDS = {
    "passed": "green",
    "complete": "green",
    "OK": "green",
    "You built it": "green",
    "Well done!": "green",
    "FAILED": "red",
    "Fix first:": "red",
    "Write next:": "yellow",
    "Look again:": "yellow",
    "TOO MUCH": "red",
    "TOO LITTLE": "red",
    "NOT MEASURED": "red",
    "NOT ALLOWED": "red",
    "GRADER FAULT": "red",
    "held back": "yellow",
    "not written": "yellow",
    "not decided": "yellow",
    "Likely:": "yellow",
}
_WORD = re.compile(rf"^(\s*)({'|'.join(map(re.escape, _WORDS))})(?=\s|:|$)", re.MULTILINE)
# What is shown instead on a terminal without these characters.
_PLAIN = {"·": "*", "×": "x", "…": "...", "–": "-", "²": "^2", "³": "^3", "⁴": "^4", "−": "-", "█": "#", "→": "->"}


def paint(text: str) -> str:
    """Return a text with its verdicts in colour; `click.echo` removes colours where they do not belong."""
    return _WORD.sub(lambda match: match[1] + click.style(match[2], fg=_WORDS[match[2]], bold=True), text)


def wants_colour(*, plain: bool) -> bool | None:
    """Return False if colours were turned off; None lets the terminal decide."""
    return False if plain or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None


def _replacement(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c, c.encode("ascii", "backslashreplace").decode()) for c in text), error.end


def register_fallback() -> str:
    """Return the name of the error handler that replaces characters which a terminal does not have."""
    codecs.register_error("attn", _replacement)
    return "attn"
