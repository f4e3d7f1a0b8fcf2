"""Plain text views of marks by hand."""

from __future__ import annotations

from collections.abc import Sequence

from cli.ui.report_screens import wrapped
from grader.classroom.marks import Mark
from grader.core.safe_text import one_line


def changed_line(before: Mark, after: Mark) -> str:
    """Return what changed for a student."""
    automatic = "" if after.override is None else f" (automatic: {_points(after.automatic)})"
    change = f"{_points(before.final)} → {_points(after.final)} of {after.max_score:g}"
    comment = f". Comment: {after.comment}" if after.comment else ""
    return one_line(f"{_who(after)} · {after.module}: {change}{automatic}{comment}", 2000)


def listed_lines(marks: Sequence[Mark]) -> list[str]:
    """Return the points and comments by hand, one student after the other."""
    lines = []
    for mark in marks:
        lines.append(one_line(f"{_who(mark)} · {mark.module}: {by_hand(mark)}", 400))
        lines += [wrapped(mark.comment, "  ")] if mark.comment else []
    return lines or ["Nothing was given by hand."]


def by_hand(mark: Mark) -> str:
    """Return the points that a person gave, with the automatic mark beside them; or that there is only a comment."""
    if mark.override is None:
        return f"{_points(mark.final)} / {mark.max_score:g}, with a comment"
    return f"{mark.override:g} / {mark.max_score:g} by hand (automatic: {_points(mark.automatic)})"


def _who(mark: Mark) -> str:
    name = mark.submission or mark.id
    return f"{name} ({mark.name})" if mark.name and mark.name != name else name


def _points(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"
