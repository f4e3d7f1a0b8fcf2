"""`attn export canvas`: a file for Canvas's gradebook."""

from __future__ import annotations

from pathlib import Path

import click

from cli.ui.anonymous import no_anonymous_option
from cli.ui.arguments import module_named
from cli.ui.class_files import FILE, NEW, class_of, finish_export, json_option, modules_option
from cli.ui.here import course_here
from cli.ui.store_options import RESULTS, store_option
from grader.classroom import ClassError
from grader.classroom.rules import read_rules
from grader.classroom.store.store import ResultsStore
from grader.core.atomic_file import write_atomically
from grader.platforms.canvas import IdColumn, canvas_file


@click.command()
@click.argument("reports", type=RESULTS)
@store_option
@click.option("--out", required=True, type=NEW, help="The file to write.")
@modules_option
@click.option(
    "--roster", type=FILE, help="Canvas's own export of the gradebook; by default the roster used for grading."
)
@click.option(
    "--id-column",
    type=click.Choice(["ID", "SIS User ID", "SIS Login ID"]),
    default="SIS Login ID",
    show_default=True,
    help="Which column of Canvas holds the ids of the class, if the roster is not Canvas's own.",
)
@click.option("--assignment", "-a", multiple=True, metavar="MODULE=NAME", help='Such as warm_up="Week 1 (1234)".')
@click.option("--comments", type=NEW, help="Also write this table of comments and points by hand.")
@click.option("--notes", is_flag=True, help="Put comments into Canvas's column Notes, which only teachers see.")
@no_anonymous_option
@json_option
def canvas(
    reports: ResultsStore,
    out: Path,
    modules: tuple[str, ...],
    roster: Path | None,
    id_column: IdColumn,
    assignment: tuple[str, ...],
    comments: Path | None,
    notes: bool,
    as_json: bool,
) -> None:
    """Write a file that Canvas's gradebook imports.

    REPORTS is the folder of `attn grade class/ --to REPORTS`. The marks are the final ones, after late penalties.

    \b
    attn export canvas reports --out canvas.csv --roster gradebook.csv
    attn export canvas reports --out canvas.csv -m warm_up -a warm_up="Week 1 (1234)"

    Export the gradebook from Canvas first and pass it as --roster. It has Canvas's ids of all students, and the names
    of the assignments with their numbers. Without a number, Canvas asks whether to make a new assignment. A student
    without a score gets an empty cell, never a 0.

    Canvas imports no comments to students. --comments writes them to a table of their own, to copy them by hand.
    --notes puts them into the column Notes, if your gradebook has it; if not, Canvas takes it for an assignment.

    Exit status: 0 written, 2 a wrong argument or option, 3 written, but a student was not graded or is not on the
    roster.
    """
    try:
        found = class_of(reports, modules)
        made = canvas_file(
            found, _names(assignment), roster or _roster_of(reports), id_column, "Notes" if notes else ""
        )
    except ClassError as error:
        raise click.UsageError(str(error)) from None
    write_atomically(out, made.text)
    if comments:
        write_atomically(comments, made.comments)
    elif made.commented and not notes:
        text = f"{made.commented} comments or points by hand are there, but Canvas imports no comments"
        click.echo(f"attn: {text}. Add --comments FILE or --notes", err=True)
    finish_export(
        {"file": str(out), "modules": list(found.modules), "grades": made.grades}, made.problems, as_json=as_json
    )


def _roster_of(reports: ResultsStore) -> Path | None:
    """Return the roster that was used for grading, if it still exists."""
    path = read_rules(reports).roster
    if path is None or not Path(path).is_file():
        return None
    click.echo(f"roster: {path}, the one used for grading", err=True)
    return Path(path)


def _names(assignment: tuple[str, ...]) -> dict[str, str]:
    """Return the names of the assignments by module."""
    names: dict[str, str] = {}
    for text in assignment:
        module, equals, name = text.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f"--assignment {text}: write it like warm_up='Week 1 (1234)'")
        names[module_named(course_here(), module).name] = name.strip()
    return names
