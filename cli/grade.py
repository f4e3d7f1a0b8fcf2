"""`attn grade`: submissions in, reports out."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.course import Course
    from grader.module import Module
    from grader.report import Report
    from grader.submission import Submission


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--module", "-m", "module_name", help="Which module the files are for: 01_softmax, softmax or 1.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array of reports instead of text.")
@click.option("--to", type=click.Path(path_type=Path, file_okay=False), help="Write one report a submission here.")
def grade(paths: tuple[Path, ...], module_name: str | None, as_json: bool, to: Path | None) -> None:
    """Grade submissions by the visible and the hidden checks.

    PATHS are scripts, notebooks, zips, or folders laid out as <student>/<module>/<file>.

    \b
    attn grade ana/softmax.py                   the file's name says which module it is
    attn grade ana.py --module 01_softmax       or you do
    attn grade class/ --to reports              a whole class, one report file each
    attn grade class/ --json > reports.json     the same as one JSON array

    Exit status: 0 all full marks, 1 some are not, 2 nothing to grade, 3 a fault of the grader.
    """
    from grader.course import find_course
    from grader.report import write_report
    from grader.submission import find_submissions

    course = find_course(Path.cwd())
    module = _module(course, module_name)
    found = find_submissions(course, paths, module)
    for path, reason in found.skipped:
        click.echo(f"attn: skipped {path}: {reason}", err=True)
    if not found.submissions:
        raise click.UsageError("there is nothing to grade at " + ", ".join(map(str, paths)))
    reports: list[Report] = []

    def on_report(report: Report) -> None:
        reports.append(report)
        if to is not None:
            write_report(report, to)
        if not as_json:
            _show(report, whole=len(found.submissions) == 1)

    _grade_all(course, found.submissions, on_report)
    if as_json:
        click.echo(json.dumps([report.as_json() for report in reports], indent=1))
    if to is not None:
        click.echo(f"{len(reports)} reports in {to}", err=True)
    sys.exit(_exit_code(reports, skipped=bool(found.skipped)))


def _module(course: Course, name: str | None) -> Module | None:
    from grader.module import CourseError

    try:
        return course.module(name) if name else None
    except CourseError as error:
        raise click.UsageError(str(error)) from None


def _grade_all(course: Course, submissions: tuple[Submission, ...], on_report: Callable[[Report], None]) -> None:
    from grader.grading import grade as grade_module

    for module in course.modules:
        theirs = [submission for submission in submissions if submission.module == module.name]
        if theirs:
            grade_module(course, module, theirs, on_report)


def _show(report: Report, *, whole: bool) -> None:
    from cli.screens import report_line, report_screen

    click.echo(report_screen(report) if whole else report_line(report))


def _exit_code(reports: list[Report], *, skipped: bool) -> int:
    if any(report.score is None for report in reports):
        return 3
    full = all(report.score == report.max_score for report in reports)
    return 0 if full and not skipped else 1
