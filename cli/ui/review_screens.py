"""Plain text views of a review: what is undecided, and what a decision changed."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from cli.ui.report_screens import wrapped
from grader.classroom import RESUME
from grader.classroom.causes import Cause, without
from grader.classroom.review import Reviewed, ScoreChange
from grader.core.report import Report, ReviewItem, Undecided
from grader.core.safe_text import one_line

UNTIL: dict[Undecided | None, str] = {
    "count": "They count until you decide.",
    "withhold": "They do not count until you accept them.",
    None: "Whether they count until you decide is not the same for all modules.",
}
NOT_WRITTEN = "The report does not have your last decision, or the last --undecided, yet"
COMMENT = '"why"'
NO_ITEMS = "nothing here can be accepted or rejected: read the report. `attn mark` gives points by hand"
SHARED = 3  # students with the same cause: then it is shown once
NAMED = 5  # students who are named with a cause; `--cause` lists them all
CODES = 3  # different lines of code with the same cause
CHANGES = 8  # different changes of scores
_WHAT = {"cost": "cost", "code": "code", "check": "checks"}


def review_lines(
    found: Sequence[Reviewed],
    folder: str,
    undecided: Undecided | None,
    target: str | None,
    shared: Sequence[Cause] = (),
    *,
    every: bool,
    anonymous: bool = False,
) -> list[str]:
    """Return the undecided items by student, each with the command that decides it; with `every`, all items.

    Those of the `shared` causes are not shown, but they count.
    """
    lines: list[str] = []
    for one in without(found, shared):
        items = [item for item in merged(one.items(target)) if every or item.is_open]
        if not items and one.report.reviews:
            continue
        who = f"{one.student} ({one_line(one.name)})" if one.name else one.student
        lines.append(f"{who} · {one.module} · {score_text(one.report)}")
        lines += [] if items else [wrapped(NO_ITEMS, "  ")]
        lines += [] if one.written else [wrapped(f"{NOT_WRITTEN}. {RESUME}", "  ")]
        for item in items:
            lines += [*_item(item), *_earlier(one, item), *_command(folder, one, item, anonymous=anonymous)]
        lines.append("")
    return [*lines, *_summary(found, undecided, target)]


def shared_causes(causes: Iterable[Cause]) -> list[Cause]:
    """Return the open part of each cause that is shown once, and not for each student."""
    return [one for one in (cause.open for cause in causes) if len(one.items) >= SHARED]


def shared_cause_lines(cause: Cause, folder: str, *, anonymous: bool) -> list[str]:
    """Return an open cause that several students share: who, the code, and the commands that decide it for all."""
    items = [merged(items) for _, items in cause.items]
    targets = ", ".join(dict.fromkeys(named(item.target) for mine in items for item in mine))
    points = sorted({round(sum(item.points for item in mine), 6) for mine in items})
    worth = f"{points[0]:g}" if len(points) == 1 else f"{points[0]:g} to {points[-1]:g}"
    lines = [wrapped(f"{len(items)} students · {cause.module} · {targets}: {worth} points each", "")]
    lines += [wrapped(cause.reason, "  ")]
    codes = Counter(item.code for mine in items for item in mine if item.code).most_common()
    lines += [one_line(f"  {count:>4} × {code}", 79) for code, count in codes[:CODES]]
    lines += [f"  and {len(codes) - CODES} other lines of code"] if len(codes) > CODES else []
    names = [one_line(one.name or one.student) for one, _ in cause.items]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    lines += [wrapped(", ".join(names[:NAMED]) + more, "  ")]
    lines += [] if all(one.written for one, _ in cause.items) else [wrapped(f"{NOT_WRITTEN}. {RESUME}", "  ")]
    command = _cause_command(folder, cause, anonymous=anonymous)
    lines += [f"    {command}{' ' * 10}each student and line"]
    return [*lines, *(f"    {command} --{verb} --comment {COMMENT}" for verb in ("accept", "reject")), ""]


def cause_lines(cause: Cause, folder: str, *, every: bool, anonymous: bool) -> list[str]:
    """Return each student whose code has a cause, one line each, and the commands that decide it for all."""
    lines = [wrapped(f"{cause.module}: {cause.reason}", "")]
    shown = [(one, item) for one, items in cause.items for item in merged(items) if every or item.is_open]
    for one, item in shown:
        where = f"{item.file}:{item.line}" if item.line else item.file
        who = f"{one.student} ({one_line(one.name)})" if one.name else one.student
        lines.append(one_line(f"  {who} · {named(item.target)}, {item.points:g} · {item.decision}", 400))
        lines.append(one_line(f"    {where}  {item.code}".rstrip(), 400))
    command = _cause_command(folder, cause, anonymous=anonymous)
    is_open = bool(cause.open.items)
    lines += [f"    {command} --{verb} --comment {COMMENT}" for verb in ("accept", "reject") if is_open]
    if len(cause.open.items) < len(cause.items):
        lines.append(f"    {command} --undo")
    return lines if shown else [*lines, "Nothing of this is undecided. To see what is decided, add --all."]


def _cause_command(folder: str, cause: Cause, *, anonymous: bool) -> str:
    return f"attn review {shlex.quote(str(folder))} --cause {cause.id}{' --anonymous' if anonymous else ''}"


def decided_lines(
    chosen: Sequence[tuple[Reviewed, Sequence[ReviewItem]]], word: str, changes: Sequence[ScoreChange]
) -> list[str]:
    """Return what was decided, and what it did to the scores: of each student, or of many in a line."""
    items = Counter((item.target, item.points, item.reason) for _, mine in chosen for item in merged(mine))
    lines = []
    for (target, points, reason), count in items.most_common(CHANGES):
        worth = "1 point" if points == 1 else f"{points:g} points"
        students = f" for {count} students" if count > 1 else ""
        lines.append(one_line(f"{word}{students}: {named(target)}, {worth}: {reason}", 500))
    lines += [f"and {len(items) - CHANGES} more reasons"] if len(items) > CHANGES else []
    if len(changes) < SHARED:
        return [*lines, *map(change_line, changes)]
    same = Counter((change.before, change.after, change.max_score) for change in changes)
    for (before, after, most), count in same.most_common(CHANGES):
        lines.append(f"{_score(before)} → {_score(after)} of {most:g}: {count} students")
    rest = len(changes) - sum(count for _, count in same.most_common(CHANGES))
    return [*lines, *([f"other scores: {rest} students"] if rest else [])]


def merged(items: Iterable[ReviewItem]) -> list[ReviewItem]:
    """Return items with those put together that are the same but for their points: one cost has several meters."""
    found: dict[ReviewItem, ReviewItem] = {}
    for item in items:
        same = replace(item, points=0.0, parts=())
        before = found.get(same, same)
        points = round(before.points + item.points, 6)
        found[same] = replace(item, points=points, parts=(*before.parts, *item.parts))
    return list(found.values())


def score_text(report: Report) -> str:
    """Return the score of a report, and whether it is provisional."""
    score = "–" if report.score is None else f"{report.score:g}"
    return f"{score} / {report.max_score:g}{' (provisional)' if report.undecided_points else ''}"


def change_line(change: ScoreChange) -> str:
    """Return what a decision did to a score."""
    scores = f"{_score(change.before)} → {_score(change.after)} of {change.max_score:g}"
    return f"{change.student} · {change.module}: {scores}"


def _score(score: float | None) -> str:
    return "–" if score is None else f"{score:g}"


def named(target: str) -> str:
    """Return a target in words."""
    return target or "the complete submission"


def _item(item: ReviewItem) -> list[str]:
    where = f"{item.file}:{item.line}" if item.line else item.file
    points = "1 point" if item.points == 1 else f"{item.points:g} points"
    lines = [f"  {named(item.target)}: {_WHAT[item.what]}, {points}, {item.decision}"]
    lines.append(one_line(f"    {where}  {item.code}".rstrip(), 400))
    lines += [wrapped(item.reason, "    ")] if item.reason else []
    lines += [wrapped(f"depends on it: {', '.join(item.parts)}", "    ")] if item.parts else []
    lines += [wrapped(f"comment: {item.comment}", "    ")] if item.comment else []
    return lines


def _earlier(one: Reviewed, item: ReviewItem) -> list[str]:
    """Say that there was a decision, but about other code."""
    about = (item.target, item.what, item.reason)
    record = next((made for of, made in one.earlier if (of.target, of.what, of.reason) == about), None)
    if record is None:
        return []
    text = f"{record.decision} on {one_line(record.when[:10])} for other code: the submission changed since then"
    text += f". The comment was: {one_line(record.comment, 500)}" if record.comment else ""
    return [wrapped(text, "    ")]


def _command(folder: str, one: Reviewed, item: ReviewItem, *, anonymous: bool) -> list[str]:
    """Return the command that decides an item. It is not wrapped, so that it can be copied."""
    targets = {each.target for each in one.items()}
    target = f" --target {shlex.quote(item.target)}" if len(targets) > 1 else ""
    target += " --anonymous" if anonymous else ""
    command = f"attn review {shlex.quote(str(folder))} --student {shlex.quote(one.student)} -m {one.module}{target}"
    if not item.is_open:
        return [f"    {command} --undo"]
    return [f"    {command} --accept --comment {COMMENT}", f"    {command} --reject --comment {COMMENT}"]


def _summary(found: Sequence[Reviewed], undecided: Undecided | None, target: str | None) -> list[str]:
    still = [one for one in found if one.is_open(target)]
    if not still:
        return ["Nothing is undecided."]
    points = round(sum(item.points for one in still for item in one.items(target) if item.is_open), 6)
    reports = "1 report" if len(still) == 1 else f"{len(still)} reports"
    until = UNTIL[undecided]
    return [f"{points:g} points in {reports} are not decided. {until}"]
