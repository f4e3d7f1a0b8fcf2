"""`attn review`: what grading could not decide, and the instructor's decisions about it."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import click

from cli.ui.anonymous import anonymous_option, echo_json, hide_in
from cli.ui.arguments import chosen
from cli.ui.here import course_here
from cli.ui.review_screens import cause_lines, decided_lines, named, review_lines, shared_cause_lines, shared_causes
from cli.ui.store_options import RESULTS, store_option
from grader.classroom import RESUME, ClassError
from grader.classroom.causes import Cause, causes_of
from grader.classroom.review import Reviewed, decide, read_reviews, undecided_rule
from grader.classroom.store.store import ResultsStore
from grader.core.json_record import to_json
from grader.core.report import ReviewItem, Verdict
from grader.core.safe_text import one_line

Action = Literal["accept", "reject", "undo"]
_VERDICTS: dict[Action, Verdict | None] = {"accept": "accepted", "reject": "rejected", "undo": None}
LONGEST = 1000  # characters of a comment


HELP = """List what grading could not decide, and decide it.

REPORTS is the folder of `attn grade class/ --to REPORTS`, by default `reports`.

\b
attn review reports                         what is undecided, and for whom
attn review reports -s ana --accept         ana keeps the points
attn review reports -s ana --reject --comment "svd is too much work"
attn review reports -s ana --undo           it is undecided again
attn review reports --all                   also what is decided
attn review reports --cause 4f2a91          everybody with this reason
attn review reports --cause 4f2a91 --accept  one decision for all of them
attn review reports --cause 4f2a91 --undo   take that decision back

If code of three students or more is undecided for the same reason, such as the same call, the list shows the reason
once, with its id. --cause with --accept or --reject decides what is still open, and --undo takes back the last
command about it. Decisions about single students stay. With --student or --all, the list is by student.

A decision changes the report and grades.csv at once. It is kept in REPORTS/decisions.json, and holds when the same
code is graded again. If the student's code changes, the item is open again, and the list says what you decided
before.

Until you decide, undecided points count, and the score is provisional. With `attn grade --undecided withhold` they
do not count until you accept them.

With --anonymous, the list has pseudonyms, and --student takes them.

Exit status: 0 nothing is undecided, or the decision is saved; 1 something is undecided; 2 a wrong argument or
option, or files that cannot be used.
"""


@click.command(help=HELP)
@click.argument("reports", default="reports", type=RESULTS)
@store_option
@click.option("--student", "-s", help="Only this student, named as in the reports or by id.")
@click.option("--module", "-m", "module", help="Only this module: 01_warm_up, warm_up or 1.")
@click.option("--target", help="Only this function or class; '' is the complete submission.")
@click.option(
    "--cause", metavar="ID", help="Only what is undecided for this reason, for all students. The list has the ids."
)
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
    cause: str | None,
    every: bool,
    action: Action | None,
    comment: str | None,
    anonymous: bool,
    as_json: bool,
) -> None:
    """List the undecided points of a class, or decide some."""
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
        causes = causes_of(found, target)
        if cause is not None:
            causes = [_one_cause(causes, cause)]
        if action is not None:
            chosen_items = (
                _of_cause(reports, causes[0], action) if cause else [_selected(found, student, target, action)]
            )
            _decide(reports, chosen_items, action, comment or "", cause or "")
            return
    except ClassError as error:
        raise click.UsageError(str(error)) from None
    shown = [one for one in found if target is None or one.items(target)]
    if cause is not None:
        told = {(one.student, one.module) for one, _ in causes[0].items}
        shown = [one for one in shown if (one.student, one.module) in told]
    if hidden:
        causes = [one.hidden(hidden.names) for one in causes]
        shown = sorted((one.hidden(hidden.names) for one in shown), key=lambda one: (one.module, one.student))
    if as_json:
        echo_json(json.dumps(_json(shown, target, causes, every=every), indent=1, ensure_ascii=False), hidden)
    elif cause is not None:
        click.echo("\n".join(cause_lines(causes[0], reports.name, every=every, anonymous=anonymous)))
    else:
        by_student = every or student is not None
        shared = [] if by_student else shared_causes(causes)
        lines = [line for one in shared for line in shared_cause_lines(one, reports.name, anonymous=anonymous)]
        rule = undecided_rule(reports, [one.module for one in shown])
        lines += review_lines(shown, reports.name, rule, target, shared, every=every, anonymous=anonymous)
        click.echo("\n".join(lines))
    sys.exit(int(any(one.open.items for one in causes) if cause else any(one.is_open(target) for one in shown)))


Chosen = tuple[Reviewed, tuple[ReviewItem, ...]]


def _decide(reports: ResultsStore, chosen_items: Sequence[Chosen], action: Action, comment: str, cause: str) -> None:
    """Decide the items that the options select, and print what changed."""
    if action == "reject" and not comment.strip():
        raise click.UsageError('the student loses points: say why, with --comment "..."')
    text = one_line(" ".join(comment.split()), LONGEST)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    changes = decide(reports, chosen_items, _VERDICTS[action], text, now)
    word = _VERDICTS[action] or "open again"
    click.echo("\n".join(decided_lines(chosen_items, word, changes)))
    if cause and action != "undo":
        click.echo(f"To take this back: attn review {shlex.quote(reports.name)} --cause {cause} --undo")
    if any(change.has_attempts for change in changes):
        click.echo(f"attn: several attempts were graded, and another may count now. {RESUME}", err=True)


def _one_cause(causes: Sequence[Cause], wanted: str) -> Cause:
    """Return the cause with an id."""
    for one in causes:
        if one.id == wanted:
            return one
    known = ", ".join(one.id for one in causes[:10]) or "none"
    raise click.UsageError(one_line(f"there is no cause {wanted!r} here. The ids are: {known}", 500))


def _of_cause(reports: ResultsStore, cause: Cause, action: Action) -> Sequence[Chosen]:
    """Return the items of a cause: the open ones, or if none is open, all; for --undo those of the last command."""
    if action != "undo":
        return (cause.open if cause.open.items else cause).items
    decided = cause.last_decided(reports.decisions())
    if not decided.items:
        raise click.UsageError("nothing of this cause is decided here. To see all, run: attn review --all")
    return decided.items


def _selected(found: Sequence[Reviewed], student: str | None, target: str | None, action: Action) -> Chosen:
    """Return the items of one target in one report: the open ones, or if none is open, the decided ones."""
    if student is None:
        raise click.UsageError(f"--{action} needs a student or a cause: add --student or --cause")
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


def _json(
    found: Sequence[Reviewed], target: str | None, causes: Sequence[Cause], *, every: bool
) -> list[dict[str, Any]]:
    """Return one object per item of these causes."""
    ids = {(one.student, one.module, item): cause.id for cause in causes for one, mine in cause.items for item in mine}
    items = []
    for one in found:
        earlier = {item: record for item, record in one.earlier}
        for item in one.items(target):
            cause = ids.get((one.student, one.module, item))
            if cause and (every or item.is_open):
                before = to_json(earlier[item]) if item in earlier else None
                who = {"student": one.student, "module": one.module}
                items.append({**who, **to_json(item), "earlier": before, "cause": cause})
    return items
