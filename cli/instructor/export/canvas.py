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
from grader.classroom.class_list import ClassList, ExportError
from grader.classroom.roster import read_roster
from grader.classroom.rules import read_rules
from grader.classroom.store.store import ResultsStore
from grader.core.atomic_file import write_atomically, write_bytes_atomically
from grader.core.safe_text import one_line
from grader.platforms.canvas import IdColumn, canvas_file
from grader.platforms.canvas_feedback import CanvasFeedback, canvas_feedback

HELP = """\
Write a file that Canvas's gradebook imports.

REPORTS is the folder of `attn grade class/ --to REPORTS`. The marks are the final ones, after late penalties.

\b
attn export canvas reports --out canvas.csv --roster gradebook.csv -a warm_up="Week 1 (1234)"

Export the gradebook from Canvas first and pass it as --roster. It has Canvas's ids of all students, and the names,
numbers and points of the assignments. An assignment that it does not have is refused, and so are other points: add
--create or --scale. A student without a score keeps what the gradebook has, never a 0.

\b
attn export canvas reports --out canvas.csv --roster gradebook.csv \\
    -m warm_up -a warm_up="Week 1 (1234)" --feedback feedback.zip \\
    --submissions submissions.zip

Canvas imports no comments with grades. --feedback writes a zip with a text for each student, with your comment and
the reasons for each function. Upload it in the assignment, with Upload Submissions. --comments writes a table of
comments, to copy them by hand. --notes puts them into the column Notes, if your gradebook has it.

Exit status: 0 written, 2 a wrong argument or option, 3 written, but a student was not graded, is not on the
roster, or has no feedback file.
"""


@click.command(help=HELP)
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
@click.option("--scale", is_flag=True, help="Scale the points to those of the assignment in Canvas.")
@click.option("--create", is_flag=True, help="Allow assignments that the gradebook does not have yet.")
@click.option("--feedback", type=NEW, help="Also write this zip of feedback for Upload Submissions. Needs the next.")
@click.option(
    "--submissions",
    type=click.Path(path_type=Path, exists=True),
    help="What you downloaded from the assignment: the zip, or a folder.",
)
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
    scale: bool,
    create: bool,
    feedback: Path | None,
    submissions: Path | None,
    as_json: bool,
) -> None:
    """Write the file, and the zip of feedback."""
    if (feedback is None) != (submissions is None):
        raise click.UsageError(
            "--feedback needs --submissions, the files downloaded from the assignment, and the reverse"
        )
    titles = _names(assignment)
    try:
        roster = roster or _roster_of(reports)
        found = class_of(reports, modules)
        column = "Notes" if notes else ""
        made = canvas_file(found, titles, roster, id_column, column, scale=scale, create=create)
        zipped = _feedback(reports, found, submissions, roster) if submissions else None
    except ClassError as error:
        raise click.UsageError(str(error)) from None
    write_atomically(out, made.text)
    written = {"file": str(out), "modules": list(found.modules), "grades": made.grades}
    problems = [*made.problems]
    if feedback and zipped:
        write_bytes_atomically(feedback, zipped.data)
        written |= {"feedback": str(feedback), "feedback_files": zipped.files}
        problems += zipped.problems
    if comments:
        write_atomically(comments, made.comments)
    elif made.commented and not notes and not feedback:
        text = f"{made.commented} comments or points by hand are there, but Canvas imports no comments"
        click.echo(f"attn: {text}. Add --feedback ZIP, --comments FILE or --notes", err=True)
    for note in made.notes:
        click.echo(one_line(f"attn: {note}", 1000), err=True)
    finish_export(written, problems, as_json=as_json)


def _feedback(reports: ResultsStore, found: ClassList, submissions: Path, roster: Path | None) -> CanvasFeedback:
    """Return the feedback for one assignment."""
    if len(found.modules) > 1:
        raise ExportError(f"choose one module for --feedback with --module: {', '.join(found.modules)}")
    people = read_roster(roster) if roster else None
    return canvas_feedback(found, submissions, people, read_rules(reports).name or "")


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
