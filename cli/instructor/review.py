"""`attn review`: what grading could not decide, and the instructor's decisions about it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import click

from cli.ui.anonymous import anonymous_option, echo_json, hide_in
from cli.ui.arguments import chosen
from cli.ui.here import course_here
from cli.ui.review_screens import change_line, merged, named, review_lines
from cli.ui.store_options import RESULTS, store_option
from grader.classroom import RESUME, ClassError
from grader.classroom.review import Reviewed, decide, read_reviews, undecided_rule
from grader.classroom.store.store import ResultsStore
from grader.core.json_record import to_json
from grader.core.report import ReviewItem, Verdict
from grader.core.safe_text import one_line

Action = Literal["accept", "reject", "undo"]
_VERDICTS: dict[Action, Verdict | None] = {"accept": "accepted", "reject": "rejected", "undo": None}
LONGEST = 1000  # characters of a comment


@click.command()
@click.argument("reports", default="reports", type=RESULTS)
@store_option
@click.option("--student", "-s", help="Only this student, named as in the reports or by id.")
@click.option("--module", "-m", "module", help="Only this module: 01_warm_up, warm_up or 1.")
@click.option("--target", help="Only this function or class; '' is the complete submission.")
@click.option("--all", "every", is_flag=True, help="Also list what is decided.")
@click.option("--accept", "action", flag_value="accept", type=str, help="The points are earned.")
@click.option("--reject", "action", flag_value="reject", type=str, help="The points are lost.")
@click.option("--undo", "action", flag_value="undo", type=str, help="Take a decision back.")
@click.option("--comment", help="The reason for a decision. It is in the report, and the student may read it.")
@anonymous_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array, one object per item, instead of text.")
def review(
    reports: ResultsStore,
    student: str | None,
    module: str | None,
    target: str | None,
    every: bool,
    action: Action | None,
    comment: str | None,
    anonymous: bool,
    as_json: bool,
) -> None:
    """List what grading could not decide, and decide it.

    REPORTS is the folder of `attn grade class/ --to REPORTS`, by default `reports`.

    \b
    attn review reports                         what is undecided, and for whom
    attn review reports -s ana --accept         ana keeps the points
    attn review reports -s ana --reject --comment "svd is too much work"
    attn review reports -s ana --undo           it is undecided again
    attn review reports --all                   also what is decided

    A decision changes the report and grades.csv at once. It is kept in REPORTS/decisions.json, and holds when the same
    code is graded again. If the student's code changes, the item is open again, and the list says what you decided
    before.

    Until you decide, undecided points count, and the score is provisional. With `attn grade --undecided withhold` they
    do not count until you accept them.

    With --anonymous, the list has pseudonyms, and --student takes them.

    Exit status: 0 nothing is undecided, or the decision is saved; 1 something is undecided; 2 a wrong argument or
    option, or files that cannot be used.
    """
    course = course_here()
    modules = [one.name for one in chosen(course, (module,))] if module else []
    if comment is not None and action not in ("accept", "reject"):
        raise click.UsageError("--comment belongs to --accept or --reject")
    if as_json and action is not None:
        raise click.UsageError(f"--json is for the list; --{action} prints what changed")
    hidden = hide_in(course, reports, anonymous=anonymous)
    if hidden and student:
        student = hidden.names.student(student)
    try:
        found = [one for one in read_reviews(reports, modules) if student is None or one.is_of(student)]
        if action is not None:
            _decide(reports, found, student, target, action, comment or "")
            return
    except ClassError as error:
        raise click.UsageError(str(error)) from None
    shown = [one for one in found if target is None or one.items(target)]
    if hidden:
        shown = sorted((one.hidden(hidden.names) for one in shown), key=lambda one: (one.module, one.student))
    if as_json:
        echo_json(json.dumps(_json(shown, target, every=every), indent=1, ensure_ascii=False), hidden)
    else:
        rule = undecided_rule(reports, [one.module for one in shown])
        lines = review_lines(shown, reports.name, rule, target, every=every, anonymous=anonymous)
        click.echo("\n".join(lines))
    sys.exit(int(any(one.is_open(target) for one in shown)))


def _decide(
    reports: ResultsStore,
    found: Sequence[Reviewed],
    student: str | None,
    target: str | None,
    action: Action,
    comment: str,
) -> None:
    """Decide the items that the options select, and print what changed."""
    if student is None:
        raise click.UsageError(f"--{action} needs a student: add --student")
    if action == "reject" and not comment.strip():
        raise click.UsageError('the student loses points: say why, with --comment "..."')
    one, items = _selected(found, student, target, action)
    text = one_line(" ".join(comment.split()), LONGEST)
    change = decide(reports, one, items, _VERDICTS[action], text, datetime.now(UTC).isoformat(timespec="seconds"))
    for item in merged(items):
        points = "1 point" if item.points == 1 else f"{item.points:g} points"
        word = _VERDICTS[action] or "open again"
        click.echo(one_line(f"{word}: {named(item.target)}, {points}: {item.reason}", 500))
    click.echo(change_line(change))
    if change.has_attempts:
        click.echo(f"attn: several attempts were graded, and another may count now. {RESUME}", err=True)


def _selected(
    found: Sequence[Reviewed], student: str, target: str | None, action: Action
) -> tuple[Reviewed, tuple[ReviewItem, ...]]:
    """Return the items of one target in one report: the open ones, or if none is open, the decided ones."""
    every = [(one, item) for one in found for item in one.items(target)]
    still = [(one, item) for one, item in every if item.is_open]
    pairs = [pair for pair in every if pair not in still] if action == "undo" else still or every
    if not pairs:
        what = "decided" if action == "undo" else "undecided"
        raise click.UsageError(one_line(f"nothing of {student} is {what} here. To see all, run: attn review --all"))
    places = dict.fromkeys((one.student, one.module, item.target) for one, item in pairs)
    if len(places) > 1:
        listed = "; ".join(f"{who} {module} {named(of)}" for who, module, of in places)
        raise click.UsageError(one_line(f"choose one with --module and --target: {listed}", 1000))
    return pairs[0][0], tuple(item for _, item in pairs)


def _json(found: Sequence[Reviewed], target: str | None, *, every: bool) -> list[dict[str, Any]]:
    """Return one object per item."""
    items = []
    for one in found:
        earlier = {item: record for item, record in one.earlier}
        for item in one.items(target):
            if every or item.is_open:
                before = to_json(earlier[item]) if item in earlier else None
                items.append({"student": one.student, "module": one.module, **to_json(item), "earlier": before})
    return items
