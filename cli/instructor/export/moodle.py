"""`attn export moodle`: the grading worksheet of an assignment, and a zip of feedback files."""

from __future__ import annotations

from pathlib import Path

import click

from cli.ui.anonymous import no_anonymous_option
from cli.ui.class_files import FILE, NEW, class_of, finish_export, json_option
from cli.ui.here import course_here
from cli.ui.store_options import RESULTS, store_option
from grader.classroom import ClassError
from grader.classroom.class_list import ExportError
from grader.classroom.rules import read_rules
from grader.classroom.store.store import ResultsStore
from grader.core.atomic_file import write_atomically, write_bytes_atomically
from grader.pages.feedback_pages import PageMaker
from grader.platforms.moodle import COLUMNS, moodle_files, read_worksheet


@click.command()
@click.argument("reports", type=RESULTS)
@store_option
@click.option("--worksheet", required=True, type=FILE, help="The grading worksheet that you downloaded from Moodle.")
@click.option("--out", required=True, type=NEW, help="The worksheet to upload.")
@click.option("--feedback", type=NEW, help="Also write this zip with feedback for each student: a text and a page.")
@click.option("--module", "-m", help="The module of the assignment: 01_warm_up, warm_up or 1.")
@click.option("--scale", is_flag=True, help="Scale the points to the maximum grade in Moodle.")
@click.option(
    "--column", multiple=True, metavar="WHAT=NAME", help=f"If Moodle is not in English. WHAT: {', '.join(COLUMNS)}."
)
@no_anonymous_option
@json_option
def moodle(
    reports: ResultsStore,
    worksheet: Path,
    out: Path,
    feedback: Path | None,
    module: str | None,
    scale: bool,
    column: tuple[str, ...],
    as_json: bool,
) -> None:
    """Fill in the grading worksheet of a Moodle assignment.

    REPORTS is the folder of `attn grade class/ --to REPORTS`. The marks are the final ones, after late penalties and
    with what you gave by hand.

    \b
    attn export moodle reports -m warm_up --worksheet Grades.csv --out moodle.csv
    attn export moodle reports -m warm_up --worksheet Grades.csv --out moodle.csv --feedback feedback.zip

    In Moodle, switch on "Offline grading worksheet", "Feedback comments" and "Feedback files" in the settings of the
    assignment. Download the worksheet, run this, then use "Upload grading worksheet" and "Upload multiple feedback
    files in a zip". A student without a mark keeps the cell that Moodle wrote, never a 0.

    Exit status: 0 written, 2 a wrong argument or option, 3 written, but a student was not graded or is not in the
    worksheet, or Moodle cannot take a grade.
    """
    try:
        found = class_of(reports, (module,) if module else ())
        if len(found.modules) > 1:
            raise ExportError(f"choose one module with --module: {', '.join(found.modules)}")
        name = read_rules(reports).name or ""
        page = PageMaker(course_here(), name).page if feedback else None
        made = moodle_files(found, read_worksheet(worksheet, _columns(column)), name, scale=scale, page=page)
    except ClassError as error:
        raise click.UsageError(str(error)) from None
    write_atomically(out, made.worksheet)
    written = {"file": str(out), "modules": list(found.modules), "grades": made.grades}
    if feedback:
        write_bytes_atomically(feedback, made.feedback)
        written |= {"feedback": str(feedback), "feedback_files": made.files}
    finish_export(written, made.problems, as_json=as_json)


def _columns(texts: tuple[str, ...]) -> dict[str, str]:
    """Return the names of columns by what they hold."""
    names: dict[str, str] = {}
    for text in texts:
        what, equals, name = text.partition("=")
        if what not in COLUMNS or not equals or not name.strip():
            raise click.UsageError(f"--column {text}: write it like grade=Note. What can be {', '.join(COLUMNS)}")
        names[what] = name.strip()
    return names
