"""`attn export github`: files for GitHub Classroom."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from cli.ui.anonymous import anonymous_option
from cli.ui.arguments import chosen, modules_here
from cli.ui.class_files import (
    FILE,
    NEW,
    NEW_FOLDER,
    class_of,
    finish_export,
    json_option,
    modules_option,
    new_folder,
)
from cli.ui.here import course_here
from cli.ui.store_options import RESULTS, store_option
from grader.classroom import ClassError
from grader.classroom.store.store import ResultsStore
from grader.core.atomic_file import file_name, write_atomically
from grader.core.json_record import json_text
from grader.core.report import report_from
from grader.course.engine import ENGINES
from grader.platforms.github_classroom import class_result, encoded, runner_result, workflow_text


@click.group()
def github() -> None:
    """Write the workflow and the results for GitHub Classroom.

    \b
    attn export github workflow warm_up --out .github/workflows/classroom.yml
    attn test warm_up --json > report.json
    attn export github result report.json              for Classroom's reporter
    attn export github results reports --out results   the same for a class
    """


@github.command()
@click.argument("modules", nargs=-1, required=True, shell_complete=modules_here)
@click.option("--out", required=True, type=NEW, help="The file to write: .github/workflows/classroom.yml.")
@click.option("--engine", type=click.Choice(tuple(ENGINES)), default="wheel", help="As in `attn release --bundle`.")
def workflow(modules: tuple[str, ...], out: Path, engine: str) -> None:
    """Write the workflow that runs the visible checks in a student's repository.

    \b
    attn release --bundle warm_up --to template
    attn export github workflow warm_up --out template/.github/workflows/classroom.yml

    The repository is a bundle. The hidden suite is not in it and must not be: everyone with write access could read
    it. To grade with the hidden suite, run `attn grade` yourself on the repositories of the class.

    Exit status: 0 written, 2 no such module.
    """
    write_atomically(out, workflow_text(chosen(course_here(), modules), ENGINES[engine]))
    click.echo(f"{out}: runs the visible checks of {len(modules)} module(s)")


@github.command()
@click.argument("report_file", metavar="REPORT.json", type=FILE)
@click.option("--base64", is_flag=True, help="On one line, as one step of a workflow passes it to the next.")
def result(report_file: Path, base64: bool) -> None:
    """Print a report in the format of a Classroom runner.

    \b
    attn test warm_up --json > report.json
    attn export github result report.json

    Exit status: 0 printed, 2 not a report, 3 printed, but the report has no score.
    """
    try:
        report = report_from(json.loads(report_file.read_bytes()))
    except ValueError as error:
        raise click.UsageError(f"{report_file} is not a report: {error}") from None
    made = runner_result(report)
    click.echo(encoded(made) if base64 else json_text(made))
    sys.exit(3 if report.score is None else 0)


@github.command()
@click.argument("reports", type=RESULTS)
@store_option
@click.option("--out", required=True, type=NEW_FOLDER, help="A new folder: MODULE/STUDENT.json.")
@modules_option
@anonymous_option
@json_option
def results(reports: ResultsStore, out: Path, modules: tuple[str, ...], anonymous: bool, as_json: bool) -> None:
    """Write the runner result of every report of a class.

    \b
    attn grade class/ --to reports
    attn export github results reports --out results

    Exit status: 0 written, 2 a wrong argument or option, 3 written, but a student was not graded.
    """
    count = 0
    try:
        found = class_of(reports, modules, anonymous=anonymous)
        with new_folder(out) as folder:
            for mark, report in found.reports():
                text = json_text(class_result(mark, report)) + "\n"
                write_atomically(folder / mark.module / f"{file_name(mark.submission)}.json", text)
                count += 1
    except ClassError as error:
        raise click.UsageError(str(error)) from None
    finish_export(
        {"file": str(out), "modules": list(found.modules), "reports": count}, found.problems(), as_json=as_json
    )
