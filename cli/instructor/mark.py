"""`attn mark`: points and comments by hand, beside the automatic mark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import click

from cli.ui.anonymous import AnonymousOutput, anonymous_option, echo_json, hide_in
from cli.ui.arguments import module_named, modules_here
from cli.ui.here import course_here
from cli.ui.mark_screens import changed_line, listed_lines
from cli.ui.store_options import RESULTS, store_option
from grader.classroom import ClassError
from grader.classroom.hand_marks import clear, find_mark, give, overrides_of
from grader.classroom.marks import Mark
from grader.classroom.store.store import ResultsStore, read_marks
from grader.core.json_record import json_text
from grader.core.safe_text import one_line

LONGEST = 1000  # characters of a comment


@click.command()
@click.argument("student", required=False)
@click.argument("module", required=False, shell_complete=modules_here)
@click.option(
    *("--reports", "-r"),
    default="reports",
    show_default=True,
    type=RESULTS,
    help="The folder of `attn grade --to`.",
)
@store_option
@click.option("--points", type=float, help="The final points, instead of the automatic mark.")
@click.option("--because", "--comment", "comment", help="The reason, or only a comment. The student may read it.")
@click.option("--extra", is_flag=True, help="Allow more points than the module has.")
@click.option("--clear", "clearing", is_flag=True, help="Take points and comment back.")
@anonymous_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array of marks instead of text.")
def mark(
    student: str | None,
    module: str | None,
    reports: ResultsStore,
    points: float | None,
    comment: str | None,
    extra: bool,
    clearing: bool,
    anonymous: bool,
    as_json: bool,
) -> None:
    """Give points or a comment by hand.

    STUDENT is named as in the reports, by id, or by a name that only one student has.

    \b
    attn mark ana warm_up --points 40 --because "right idea, wrong axis"
    attn mark ana warm_up --comment "see me about your loop"
    attn mark ana warm_up --clear       the automatic mark counts again
    attn mark                           list what was given by hand
    attn mark ana                       the same for one student

    The points are final: no late penalty is taken from them. They are kept when the class is graded again, and every
    table and export shows them with the automatic mark beside them. If the automatic mark changes later, `attn grade`
    says so. The student need not have handed anything in, but must be on the roster.

    With --anonymous, students are shown by pseudonyms, and STUDENT may be one.

    All of it is in REPORTS/overrides.csv: student, module, points, comment. You may edit that file.

    Exit status: 0 listed or saved, 2 a wrong argument or option, or files that cannot be used.
    """
    hidden = hide_in(course_here(), reports, anonymous=anonymous)
    if hidden and student:
        student = hidden.names.student(student)
    try:
        marks = read_marks(reports)
        if points is None and comment is None and not clearing:
            _list(reports, marks, student, module, hidden, extra=extra, as_json=as_json)
            return
        line = _line(marks, student, module)
        if clearing:
            if points is not None or comment is not None or extra:
                raise click.UsageError("--clear takes points and comment back: use it alone")
            new = clear(reports, line)
        else:
            when = datetime.now(UTC).isoformat(timespec="seconds")
            new = give(reports, line, _points(points), _comment(comment, points, line), when, extra=extra)
        notes = overrides_of(reports, read_marks(reports))[1]
    except ClassError as error:
        raise click.UsageError(one_line(str(error), 1000)) from None
    if hidden:
        line, new = hidden.names.mark(line), hidden.names.mark(new)
    if as_json:
        echo_json(json_text([_json(new)]), hidden)
    else:
        click.echo(changed_line(line, new))
    _tell(notes)


def _list(
    reports: ResultsStore,
    marks: Sequence[Mark],
    student: str | None,
    module: str | None,
    hidden: AnonymousOutput | None,
    *,
    extra: bool,
    as_json: bool,
) -> None:
    """Print what was given by hand, to all students or to one."""
    if extra:
        raise click.UsageError("--extra belongs to --points")
    name = module_named(course_here(), module).name if module else None
    found, notes = overrides_of(reports, marks)
    shown = [one for one in found if student in (None, one.id, one.submission, one.name) and name in (None, one.module)]
    if hidden:
        shown = sorted(map(hidden.names.mark, shown), key=lambda one: (one.module, one.id))
    if as_json:
        echo_json(json_text([_json(one) for one in shown]), hidden)
    else:
        click.echo("\n".join(listed_lines(shown)))
    _tell(notes)


def _line(marks: Sequence[Mark], student: str | None, module: str | None) -> Mark:
    if student is None or module is None:
        raise click.UsageError('name the student and the module: attn mark ana warm_up --points 40 --because "..."')
    return find_mark(marks, student, module_named(course_here(), module).name)


def _points(points: float | None) -> float | None:
    if points is not None and (not math.isfinite(points) or points < 0):
        raise click.UsageError(f"--points must be 0 or more, not {points:g}")
    return points


def _comment(comment: str | None, points: float | None, line: Mark) -> str:
    text = one_line(" ".join((comment or "").split()), LONGEST)
    if not text and (comment is not None or not line.comment):
        raise click.UsageError('say why, with --because "..."' if points is not None else "the comment is empty")
    return text


def _json(one: Mark) -> dict[str, Any]:
    return {
        "student": one.submission or one.id,
        **{name: getattr(one, name) for name in ("id", "name", "module", "max_score", "score", "penalty")},
        **{name: getattr(one, name) for name in ("automatic", "override", "final", "comment")},
    }


def _tell(notes: Sequence[str]) -> None:
    for note in notes:
        click.echo(one_line(f"attn: {note}", 1000), err=True)
