"""`attn stats`: what a class fails at, what it believes, and whose work to look at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.author.dev import chosen

if TYPE_CHECKING:
    from grader.classroom.stats import ModuleStats

BAR = 40


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--module", "-m", "modules", multiple=True, help="Only this module: 01_softmax, softmax or 1.")
@click.option("--all", "every", is_flag=True, help="List every check, not only the ten that most fail.")
@click.option("--leaderboard", is_flag=True, help="Also who is fastest on the GPU, where it was graded on one.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array, one object a module, instead of text.")
def stats(folder: Path, modules: tuple[str, ...], every: bool, leaderboard: bool, as_json: bool) -> None:
    """Sum up the reports of a class.

    FOLDER is what `attn grade class/ --to FOLDER` wrote.

    \b
    attn stats reports              scores, checks that fail, misconceptions, whom to look at
    attn stats reports -m softmax   one module
    attn stats reports --json       every check with its rate, for your own plots

    Somebody should look at a submission that could not be imported or graded, that ended its process, or whose costs
    could not be decided. Rates are of the submissions that could be imported.
    """
    from grader.classroom.stats import StatsError, read_stats
    from grader.course.course import find_course

    course = find_course(Path.cwd())
    wanted = [module.name for module in chosen(course, modules)] if modules else []
    try:
        found = read_stats(course, folder, wanted)
    except StatsError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        click.echo(json.dumps([one.as_json() for one in found], indent=1, ensure_ascii=False))
    else:
        if not (folder / "grades.csv").is_file():
            click.echo(f"attn: a grading into {folder} did not end: this is a part of the class", err=True)
        names = _names(folder)
        for number, one in enumerate(found):
            lines = _lines(one, names, every=every) + (_speeds(one, names) if leaderboard else [])
            click.echo("\n".join(["", *lines] if number else lines))


def _names(folder: Path) -> dict[str, str]:
    """Return the names of those whose class list has them."""
    from grader.core.safe_text import one_line

    try:
        marks = json.loads((folder / "grades.json").read_text(encoding="utf-8"))
        return {
            mark["submission"]: f"{mark['submission']} ({one_line(mark['name'])})" for mark in marks if mark["name"]
        }
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _lines(one: ModuleStats, names: dict[str, str], *, every: bool) -> list[str]:
    from cli.ui.report_screens import misconception_lines, wrapped
    from grader.classroom.misconception_counts import MisconceptionCount

    lines = [f"{one.module}: {one.submissions} submissions", "", *_scores(one), ""]
    failing = [check for check in one.checks if every or check.failed]
    shown = failing if every else failing[:10]
    lines += ["Checks and costs that most fail:"] if shown else []
    for check in shown:
        lines.append(
            wrapped(f"{check.property} ({check.name}, {check.kind})", f"  {check.rate():4.0%} {check.failed:>5}  ")
        )
    if len(failing) > len(shown):
        lines.append(f"  and {len(failing) - len(shown)} more that somebody fails (--all)")
    lines += [""] if shown else []
    named = [
        MisconceptionCount(
            two.module, two.misconception, two.likely, tuple(names.get(who, who) for who in two.submissions)
        )
        for two in one.misconceptions
    ]
    lines += misconception_lines(named)
    lines += ["To look at:"] if one.to_look_at else ["Nobody's work needs to be looked at."]
    return lines + [wrapped(f"{names.get(who, who)}: {why}", "  ") for who, why in one.to_look_at]


def _speeds(one: ModuleStats, names: dict[str, str]) -> list[str]:
    """Return the class by its speed on the GPU, which is nobody's grade."""
    lines = ["", "Speed on the GPU, in times of PyTorch's own attention in the same run:"]
    function = ""
    for entry in one.speeds:
        lines += [f"  {entry.function}"] if entry.function != function else []
        function = entry.function
        lines.append(
            f"  {entry.times_built_in:>9.2f}  {entry.ms:>9.3f} ms  {names.get(entry.submission, entry.submission)}"
        )
    return lines if one.speeds else ["", "No speeds: `attn grade --device cuda` measures them."]


def _scores(one: ModuleStats) -> list[str]:
    """Return how the scores lie, a bar for each tenth of the points."""
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
