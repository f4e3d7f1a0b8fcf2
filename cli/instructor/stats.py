"""`attn stats`: a summary of the reports of a class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from cli.ui.anonymous import anonymous_option, echo_json, hide_in
from cli.ui.arguments import chosen
from cli.ui.here import course_here
from cli.ui.mark_screens import listed_lines
from cli.ui.report_screens import misconception_lines, wrapped
from cli.ui.store_options import RESULTS, store_option
from grader.classroom import ClassError
from grader.classroom.marks import Mark
from grader.classroom.stats import MisconceptionCount, ModuleStats, read_stats
from grader.classroom.store.store import GRADES, ResultsStore, read_marks
from grader.core.json_record import json_text
from grader.core.safe_text import one_line

BAR = 40
ALIKE = 10  # groups of files that are shown without --all
ALIKE_HEAD = "Files that are alike. Nothing is decided: read them side by side."


@click.command()
@click.argument("folder", type=RESULTS)
@store_option
@click.option("--module", "-m", "modules", multiple=True, help="Only this module: 01_warm_up, warm_up or 1.")
@click.option("--all", "every", is_flag=True, help="List every check, not only the ten that fail most often.")
@click.option(
    "--leaderboard", is_flag=True, help="Also show who is fastest on the GPU, if the class was graded on one."
)
@anonymous_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array, one object per module, instead of text.")
def stats(
    folder: ResultsStore, modules: tuple[str, ...], every: bool, leaderboard: bool, anonymous: bool, as_json: bool
) -> None:
    """Sum up the reports of a class.

    FOLDER is the folder of `attn grade class/ --to FOLDER`.

    \b
    attn stats reports              scores, failing checks, misconceptions
    attn stats reports -m warm_up   one module
    attn stats reports --json       every check with its rate, for your own plots

    Look at a submission yourself if it could not be imported or graded, if it ended its process, or if something
    could not be decided (`attn review`). Rates are shares of the submissions that could be imported.

    Files that are alike are listed with who handed them in. Names, comments, layout and order make no difference, and
    what the course gives or a third of the class writes does not count. It is no verdict.
    """
    course = course_here()
    wanted = [module.name for module in chosen(course, modules)] if modules else []
    try:
        found = read_stats(course, folder, wanted)
    except ClassError as error:
        raise click.UsageError(str(error)) from None
    marks = _marks(folder)
    hidden = hide_in(course, folder, anonymous=anonymous)
    if hidden:
        found = [one.renamed(hidden.names.of, hidden.names.text) for one in found]
        marks = sorted(map(hidden.names.mark, marks), key=lambda mark: (mark.module, mark.id))
    given = [mark for mark in marks if mark.override is not None or mark.comment]
    if as_json:
        echo_json(json_text([one.as_json() | {"by_hand": _by_hand_json(one, given)} for one in found]), hidden)
    else:
        names = _names(marks)
        for number, one in enumerate(found):
            lines = _lines(one, names, every=every) + _by_hand(one, given)
            lines += _speeds(one, names) if leaderboard else []
            click.echo("\n".join(["", *lines] if number else lines))


def _marks(store: ResultsStore) -> list[Mark]:
    """Return the class list, which has names and points by hand; empty if the grading did not finish."""
    try:
        store.document(GRADES)
    except FileNotFoundError:
        click.echo(f"attn: a grading run into {store} did not finish: this is only a part of the class", err=True)
        return []
    except OSError:
        pass  # `read_marks` says what is wrong
    try:
        return read_marks(store)
    except ClassError as error:
        raise click.UsageError(str(error)) from None


def _names(marks: Sequence[Mark]) -> dict[str, str]:
    """Return the students' names, as far as the class list has them."""
    return {mark.submission: f"{mark.submission} ({one_line(mark.name)})" for mark in marks if mark.name}


def _lines(one: ModuleStats, names: dict[str, str], *, every: bool) -> list[str]:
    lines = [f"{one.module}: {one.submissions} submissions", "", *_scores(one), ""]
    failing = [check for check in one.checks if every or check.failed]
    shown = failing if every else failing[:10]
    lines += ["Checks and costs that fail most often:"] if shown else []
    for check in shown:
        lines.append(
            wrapped(f"{check.property} ({check.name}, {check.kind})", f"  {check.rate():4.0%} {check.failed:>5}  ")
        )
    if len(failing) > len(shown):
        lines.append(f"  and {len(failing) - len(shown)} more with failures (--all)")
    lines += [""] if shown else []
    named = [
        MisconceptionCount(
            two.module, two.misconception, two.likely, tuple(names.get(who, who) for who in two.submissions)
        )
        for two in one.misconceptions
    ]
    lines += misconception_lines(named)
    lines += _alike(one, names, every=every)
    lines += ["To look at:"] if one.to_look_at else ["No work needs to be looked at."]
    return lines + [wrapped(f"{names.get(who, who)}: {why}", "  ") for who, why in one.to_look_at]


def _alike(one: ModuleStats, names: dict[str, str], *, every: bool) -> list[str]:
    """Return the files that are alike, and who handed them in."""
    shown = one.copies if every else one.copies[:ALIKE]
    lines = [wrapped(ALIKE_HEAD, "")] if shown else []
    for group in shown:
        who = ", ".join(names.get(student, student) for student in group.submissions)
        lines.append(wrapped(f"{who}: {group.text}", "  "))
    left = len(one.copies) - len(shown)
    return lines + ([f"  and {left} more (--all)"] if left else []) + ([""] if shown else [])


def _by_hand(one: ModuleStats, given: Sequence[Mark]) -> list[str]:
    """Return what was given by hand in a module. The scores above are the automatic ones."""
    mine = [mark for mark in given if mark.module == one.module]
    head = ["", "By hand, which the scores above do not count:"] if mine else []
    return head + [f"  {line}" for line in (listed_lines(mine) if mine else [])]


def _by_hand_json(one: ModuleStats, given: Sequence[Mark]) -> list[dict[str, Any]]:
    keys = ("id", "automatic", "override", "final", "comment")
    return [
        {"submission": mark.submission} | {key: getattr(mark, key) for key in keys}
        for mark in given
        if mark.module == one.module
    ]


def _speeds(one: ModuleStats, names: dict[str, str]) -> list[str]:
    """Return the class by its speed on the GPU, which does not count for grades."""
    lines = ["", "Speed on the GPU, relative to PyTorch's own attention in the same run:"]
    function = ""
    for entry in one.speeds:
        lines += [f"  {entry.function}"] if entry.function != function else []
        function = entry.function
        lines.append(
            f"  {entry.times_built_in:>9.2f}  {entry.ms:>9.3f} ms  {names.get(entry.submission, entry.submission)}"
        )
    return lines if one.speeds else ["", "No speeds: `attn grade --device cuda` measures them."]


def _scores(one: ModuleStats) -> list[str]:
    """Return the distribution of scores, one bar for each tenth of the points."""
    data = one.as_json()
    if not one.scores:
        return ["  no scores yet"]
    most = max(one.distribution)
    lines = []
    for number, count in enumerate(one.distribution):
        low, high = (f"{one.max_score * (number + more) / len(one.distribution):g}" for more in (0, 1))
        bar = "#" * (-(-BAR * count // most) if count else 0)
        lines.append(f"  {f'{low} to {high}':<14} {count:>5} {bar}".rstrip())
    summary = f"mean {data['mean']:.4g}, median {data['median']:.4g} of {one.max_score:g} points"
    return [*lines, f"  {summary}; {data['full_marks']} with full marks"]
