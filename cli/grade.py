"""`attn grade`: submissions in, reports out."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.dev import chosen

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.classview import Shared
    from grader.course import Course
    from grader.report import Report
    from grader.submission import Submission

NO_JAIL = (
    "NOT SANDBOXED: this machine gives no jail, so other people's code could read and change all that you can. "
    "`attn doctor` says why and what to install. To grade code that you trust, add --allow-unjailed."
)


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--module", "-m", "module_name", help="Which module the files are for: 01_softmax, softmax or 1.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array of reports instead of text.")
@click.option("--allow-unjailed", is_flag=True, help="Grade even where there is no jail: only for code you trust.")
@click.option("--to", type=click.Path(path_type=Path, file_okay=False), help="Write one report a submission here.")
def grade(
    paths: tuple[Path, ...], module_name: str | None, as_json: bool, allow_unjailed: bool, to: Path | None
) -> None:
    """Grade submissions by the visible and the hidden checks.

    PATHS are scripts, notebooks, zips, or folders laid out as <student>/<module>/<file>.

    \b
    attn grade ana/softmax.py                   the file's name says which module it is
    attn grade ana.py --module 01_softmax       or you do
    attn grade class/ --to reports              a whole class, one report file each
    attn grade class/ --json > reports.json     the same as one JSON array

    What a submission does wrong is named where it behaves like a known misconception; for a class, the table ends with
    how many have which, and --to writes that into misconceptions.json.

    Student code runs in a jail; the tier it has here is printed with the results, and `attn doctor` says more. Where
    there is none, nothing is graded without --allow-unjailed.

    Exit status: 0 all full marks, 1 some are not, 2 nothing to grade or no jail, 3 a fault of the grader.
    """
    from grader.classview import shared_misconceptions
    from grader.course import find_course
    from grader.files import write_atomically
    from grader.report import write_report
    from grader.spawning import NoJailError
    from grader.submission import find_submissions
    from grader.text import one_line

    course = find_course(Path.cwd())
    module = chosen(course, (module_name,))[0] if module_name else None
    found = find_submissions(course, paths, module)
    for path, reason in (*found.refused, *found.passed_over):
        click.echo(one_line(f"attn: passed over {path}: {reason}", 1000), err=True)
    if not found.submissions:
        raise click.UsageError("there is nothing to grade at " + ", ".join(map(str, paths)))
    if to is not None:
        _probe(to)
    reports: list[Report] = []
    unwritten: list[str] = []

    def on_report(report: Report) -> None:
        reports.append(report)
        if to is not None:
            try:
                write_report(report, to)
            except OSError as error:  # the others are still to be graded, and this one is still in the table
                unwritten.append(report.submission)
                click.echo(f"attn: the report of {report.submission} could not be written: {error}", err=True)
        if len(found.submissions) > 1:
            click.echo(f"graded {len(reports)} of {len(found.submissions)}: {report.submission}", err=True)

    try:
        _grade_all(course, found.submissions, on_report, allow_unjailed=allow_unjailed)
    except NoJailError:
        raise click.UsageError(NO_JAIL) from None
    if any(report.sandbox == "none" for report in reports):
        click.echo("attn: NOT SANDBOXED: these submissions ran without a jail", err=True)
    whole = len(reports) == 1 and not any(path.is_dir() for path in paths)
    shared = shared_misconceptions(course, reports)
    click.echo(_shown(reports, shared, as_json=as_json, whole=whole))
    if found.refused:
        click.echo(f"attn: {len(found.refused)} could not be graded, see above", err=True)
    if to is not None:
        class_text = json.dumps([one.as_json() for one in shared], indent=1, ensure_ascii=False)
        write_atomically(to / "misconceptions.json", f"{class_text}\n")
        click.echo(f"one report a submission, and the class's misconceptions, as JSON in {to}/", err=True)
    sys.exit(3 if unwritten else _exit_code(reports, refused=bool(found.refused)))


def _grade_all(
    course: Course, submissions: tuple[Submission, ...], on_report: Callable[[Report], None], *, allow_unjailed: bool
) -> None:
    from grader.grading import grade as grade_module

    for module in course.modules:
        theirs = [submission for submission in submissions if submission.module == module.name]
        if theirs:
            grade_module(course, module, theirs, on_report, allow_unjailed=allow_unjailed)


def _probe(to: Path) -> None:
    """See that reports can be written before anything is graded."""
    try:
        to.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=to):
            pass
    except OSError as error:
        raise click.UsageError(f"reports cannot be written to {to}: {error}") from None


def _shown(reports: list[Report], shared: list[Shared], *, as_json: bool, whole: bool) -> str:
    """Return the reports as JSON, as a class table, or the only one as a whole screen."""
    if as_json:
        return json.dumps([report.as_json() for report in reports], indent=1)
    from cli.screens import class_table, report_screen

    return report_screen(reports[0]) if whole else class_table(reports, shared)


def _exit_code(reports: list[Report], *, refused: bool) -> int:
    if any(report.score is None for report in reports):
        return 3
    full = all(report.score == report.max_score for report in reports)
    return 0 if full and not refused else 1
