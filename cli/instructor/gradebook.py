"""`attn gradebook`: reports into nbgrader's gradebook."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from grader.platforms.nbgrader.sync import Synced

_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@click.group()
def gradebook() -> None:
    """Write grades into nbgrader's gradebook (for instructors).

    \b
    attn grade ../attention/submitted --to reports
    attn gradebook sync reports --course ../attention
    """


@gradebook.command()
@click.argument("reports", type=_FOLDER)
@click.option("--course", "root", required=True, type=_FOLDER, help="nbgrader's course directory: attn course init.")
@click.option("--db", default="", metavar="URL", help="Another gradebook than the course directory's own.")
@click.option("--json", "as_json", is_flag=True, help="Print what became of each report as JSON.")
def sync(reports: Path, root: Path, db: str, as_json: bool) -> None:
    """Write what `attn grade --to REPORTS` found into nbgrader's gradebook.

    \b
    attn grade ../attention/submitted --to reports --due 2026-10-01 --late-penalty 10%/day
    attn gradebook sync reports --course ../attention

    Scores, comments and late penalties are then in formgrader, as after nbgrader's own autograde; `nbgrader export` and
    `nbgrader generate_feedback` take it from there. Scores and comments that a person gave stay.

    Each submission is written whole or not at all. After an interruption, run it again: what is there is left alone.
    A report without a score is no 0: it takes the score away, and the exit status says so.

    Exit status: 0 all are written, 2 a folder that cannot be used, 3 some were not graded, or do not fit any more.
    """
    from grader.course.course import find_course
    from grader.platforms.nbgrader.course_dir import require_nbgrader
    from grader.platforms.nbgrader.errors import CourseDirError

    done: list[Synced] = []
    try:
        require_nbgrader()
        from grader.platforms.nbgrader.sync import sync as sync_reports

        for one in sync_reports(find_course(Path.cwd()), reports, root, db=db):
            done.append(one)
            if one.problem:
                click.echo(f"attn: {one.student}, {one.module}: {one.outcome}: {one.problem}", err=True)
    except CourseDirError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(one) for one in done], indent=1))
    else:
        click.echo("\n".join(_lines(done)))
    sys.exit(3 if any(one.problem for one in done) else 0)


def _lines(done: list[Synced]) -> list[str]:
    """Return what became of all, in numbers."""
    outcomes = dict.fromkeys(one.outcome for one in done)
    counts = ", ".join(f"{sum(one.outcome == outcome for one in done)} {outcome}" for outcome in outcomes)
    late = sum(one.penalty > 0 for one in done)
    return [f"{len(done)} reports: {counts}" + (f"; {late} with a late penalty" if late else "")]
