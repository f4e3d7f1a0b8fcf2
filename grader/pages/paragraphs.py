"""The text of a diagnosis as paragraphs. It was wrapped for a terminal, so lines are joined again."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LABEL = re.compile(r"\s*(Likely|Also|Look at|Think|Next|evidence|yours|expected): +(.*)", re.DOTALL)
_VALUES = ("yours", "expected")
_NOTES = ("(row", "element ", "gradient of")


@dataclass(frozen=True)
class Paragraph:
    """A paragraph, with the word that it begins with, if that is one of ours."""

    label: str
    text: str


def paragraphs_of(message: str, shown_call: str = "", *, with_next: bool = False) -> tuple[Paragraph, ...]:
    """Return a message as paragraphs, without what the page shows elsewhere: the next step, and with a `shown_call`
    the call and its values.
    """
    joined: list[str] = []
    for line in message.splitlines():
        if joined and line.startswith("    "):
            joined[-1] += f" {line.strip()}"
        else:
            joined.append(line)
    found = [_paragraph(line) for line in joined if line.strip()]
    return tuple(
        one for one in found if (with_next or one.label != "Next") and not (shown_call and _is_of_call(one, shown_call))
    )


def _is_of_call(one: Paragraph, call: str) -> bool:
    """Whether a paragraph is the call, one of its values, or the note behind them."""
    if one.label:
        return one.label.lower() in _VALUES
    return call.startswith(one.text.removesuffix("…").rstrip()) or one.text.startswith(_NOTES)


def next_step_of(message: str) -> str:
    """Return the next step that a diagnosis names; empty if it names none."""
    return next((one.text for one in paragraphs_of(message, with_next=True) if one.label == "Next"), "")


def _paragraph(line: str) -> Paragraph:
    match = _LABEL.fullmatch(line)
    if match is None:
        return Paragraph("", line.strip())
    return Paragraph(match[1][0].upper() + match[1][1:], match[2].strip())
