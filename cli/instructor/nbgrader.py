"""`attn course` and `attn gradebook`: a course that runs in nbgrader."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.ui.here import course_here
from cli.ui.store_options import RESULTS, store_option
from grader.core.safe_text import one_line
from grader.platforms.nbgrader import CourseDirError
from grader.platforms.nbgrader.course_dir import init_course_dir, require_nbgrader

if TYPE_CHECKING:
    from grader.classroom.store.store import ResultsStore
    from grader.platforms.nbgrader.sync import Synced

_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option("--id", "name", default="", help="The course's name in nbgrader; by default the name of the folder.")
@click.option("--db", default="", metavar="URL", help="The gradebook, as an SQLAlchemy URL; by default SQLite in DIR.")
@click.option("--late-penalty", default="", metavar="N[%]/PERIOD", help="Such as 10%/day, of the possible points.")
@click.option("--json", "as_json", is_flag=True, help="Print what was made as JSON.")
def init(folder: Path, name: str, db: str, late_penalty: str, as_json: bool) -> None:
    """Make a course directory for nbgrader, with its gradebook.

    \b
    attn course init ../classroom
    attn course init ../classroom --late-penalty 10%/day
    attn course init ../classroom --id classroom-2026 --db postgresql+psycopg2://prof@db/grades

    Its nbgrader_config.py makes AttnLab grade where nbgrader would execute the students' notebooks. The command and
    formgrader then both grade in the jail, with hidden suites that stay where they are.

    Exit status: 0 made, 2 a folder or an option that cannot be used.
    """
    found = course_here()
    try:
        config = init_course_dir(found, folder, name, db, late_penalty)
    except CourseDirError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        click.echo(
            json.dumps({"folder": str(config.parent), "config": str(config), "course": str(found.root)}, indent=1)
        )
        return
    first = found.modules[0].slug
    click.echo(f"{folder} is now an nbgrader course, graded by AttnLab. Next: attn release {first} --to {folder}")


@click.group()
def gradebook() -> None:
    """Write grades into nbgrader's gradebook (for instructors).

    \b
    attn grade ../classroom/submitted --to reports
    attn gradebook sync reports --nbgrader ../classroom
    """


@gradebook.command()
@click.argument("reports", type=RESULTS)
@store_option
@click.option(
    "--nbgrader", "root", required=True, type=_FOLDER, help="nbgrader's course directory, made by `attn course init`."
)
@click.option("--db", default="", metavar="URL", help="A different gradebook than the one of the course directory.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome of each report as JSON.")
def sync(reports: ResultsStore, root: Path, db: str, as_json: bool) -> None:
    """Write the results of `attn grade --to REPORTS` into nbgrader's gradebook.

    \b
    attn grade ../classroom/submitted --to reports --due 2026-10-01 --late-penalty 10%/day
    attn gradebook sync reports --nbgrader ../classroom

    Scores, comments and late penalties are then in formgrader, as after nbgrader's own autograde. Go on with
    `nbgrader export` and `nbgrader generate_feedback`. Scores and comments that a person gave are kept.

    A student whose notebook has another name is found, with the open answer. If it is not known when work was handed
    in, there is no late penalty, and the last line says so.

    Each submission is written completely or not at all. After an interruption, run it again: what is already written is
    not changed. A report without a score is not a 0: it removes the score, and the exit status says so.

    Exit status: 0 all are written, 2 a folder that cannot be used, 3 some were not graded, or no longer fit.
    """
    done: list[Synced] = []
    try:
        require_nbgrader()  # it is optional, so it is imported only after this
        from grader.platforms.nbgrader.sync import sync as sync_reports

        for one in sync_reports(course_here(), reports, root, db=db):
            done.append(one)
            if one.note:
                click.echo(one_line(f"attn: {one.student}, {one.module}: {one.note}", 1000), err=True)
            if one.problem:
                click.echo(one_line(f"attn: {one.student}, {one.module}: {one.outcome}: {one.problem}", 1000), err=True)
    except CourseDirError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(one) for one in done], indent=1))
    else:
        click.echo("\n".join(_lines(done)))
    sys.exit(3 if any(one.problem for one in done) else 0)


def _lines(done: list[Synced]) -> list[str]:
    """Return how many reports had which outcome."""
    outcomes = dict.fromkeys(one.outcome for one in done)
    counts = ", ".join(f"{sum(one.outcome == outcome for one in done)} {outcome}" for outcome in outcomes)
    late = sum(one.penalty > 0 for one in done)
    lines = [f"{len(done)} reports: {counts}" + (f"; {late} with a late penalty" if late else "")]
    unknown = [one.student for one in done if not one.time_known]
    if unknown:
        names = ", ".join(unknown[:5]) + (", …" if len(unknown) > 5 else "")
        lines.append(
            one_line(f"submission time unknown for {len(unknown)} of {len(done)}: no late penalty ({names})", 1000)
        )
    return lines
