"""Plain text views of a review: what is undecided, and what a decision changed."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace

from cli.ui.report_screens import wrapped
from grader.classroom import RESUME
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
_WHAT = {"cost": "cost", "code": "code", "check": "checks"}


def review_lines(
    found: Sequence[Reviewed],
    folder: str,
    undecided: Undecided | None,
    target: str | None,
    *,
    every: bool,
    anonymous: bool = False,
) -> list[str]:
    """Return the undecided items by student, each with the command that decides it; with `every`, all items."""
    lines: list[str] = []
    for one in found:
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
    before, after = ("–" if score is None else f"{score:g}" for score in (change.before, change.after))
    return f"{change.student} · {change.module}: {before} → {after} of {change.max_score:g}"


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
