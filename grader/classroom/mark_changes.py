"""Marks that would change although the work did not: they are listed, and written only if that is wanted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grader.classroom.marks import Mark


@dataclass(frozen=True)
class MarkChange:
    """The mark of a student before and after, and why. Without `after`, it is known only after grading."""

    before: Mark
    after: Mark | None
    why: tuple[str, ...]


def mark_reasons(before: Mark, after: Mark) -> Iterator[str]:
    """Yield what is different between two marks of the same work."""
    if before.attempt != after.attempt:
        yield f"attempt {after.attempt or 'the last'} counts, before it was {before.attempt or 'the last'}"
    if before.score != after.score:
        yield "undecided points count differently, or another attempt counts"
    if before.due != after.due:
        yield f"due {after.due or 'at no time'}, before: {before.due or 'at no time'}"
    if before.handed_in != after.handed_in:
        yield f"submitted {after.handed_in or 'at an unknown time'}, before: {before.handed_in or 'at an unknown time'}"
    if before.late_s == after.late_s and before.penalty != after.penalty and before.score == after.score:
        yield "the late penalty is another one"
    if (before.due, before.handed_in) == (after.due, after.handed_in) and before.late_s != after.late_s:
        yield "the grace period is another one"
