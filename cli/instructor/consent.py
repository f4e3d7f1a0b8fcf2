"""Consent to marks that would change although the work did not: they are listed before they are written."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import click

from cli.ui.report_screens import wrapped
from grader.classroom.mark_changes import MarkChange

NOT_AGREED = "nothing of this was written. To write these marks, add --yes"


def require_consent(changes: Sequence[MarkChange], *, yes: bool) -> None:
    """Stop before anything is written, unless the person at the terminal or --yes agrees."""
    if not consent(changes, yes=yes):
        raise click.UsageError(NOT_AGREED)


def consent(changes: Sequence[MarkChange], *, yes: bool) -> bool:
    """List marks that would change, and return whether to write them."""
    if not changes:
        return True
    click.echo("\n".join(_lines(changes)), err=True)
    if yes:
        return True
    return sys.stdin.isatty() and click.confirm("Write these marks?", err=True)


def _lines(changes: Sequence[MarkChange]) -> Iterator[str]:
    yield f"{_marks(changes)} would change, although the work did not:"
    for one in changes:
        before, after = (_points(mark.final if mark else None) for mark in (one.before, one.after))
        yield wrapped(f"{one.before.submission} {one.before.module}: {before} → {after}", "  ")
        yield wrapped("; ".join(one.why) or "none of its inputs has changed", " " * 6)


def _points(points: float | None) -> str:
    return "?" if points is None else f"{points:g}"


def _marks(changes: Sequence[MarkChange]) -> str:
    return "1 mark" if len(changes) == 1 else f"{len(changes)} marks"
