"""`attn export github`: what a job of GitHub Actions shows."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click

from cli.ui.arguments import chosen, modules_here
from cli.ui.class_files import FILE, NEW
from cli.ui.here import course_here
from grader.core.atomic_file import write_atomically
from grader.core.report import report_from
from grader.course.engine import ENGINES
from grader.platforms.github_actions import error_commands, exit_status, summary, workflow_text


@click.group()
def github() -> None:
    """Show the visible checks in any job of GitHub Actions.

    \b
    attn export github workflow warm_up --out .github/workflows/checks.yml
    attn test warm_up --json > report.json
    attn export github result report.json              annotations, and a summary
    """


@github.command()
@click.argument("modules", nargs=-1, required=True, shell_complete=modules_here)
@click.option("--out", required=True, type=NEW, help="The file to write: .github/workflows/checks.yml.")
@click.option("--engine", type=click.Choice(tuple(ENGINES)), default="wheel", help="As in `attn release --bundle`.")
def workflow(modules: tuple[str, ...], out: Path, engine: str) -> None:
    """Write the workflow that runs the visible checks in a student's repository.

    \b
    attn release --bundle warm_up --to template
    attn export github workflow warm_up --out template/.github/workflows/checks.yml

    The repository is a bundle. The hidden suite is not in it and must not be: everyone with write access could read
    it. To grade with the hidden suite, run `attn grade` yourself on the repositories of the class.

    Exit status: 0 written, 2 no such module.
    """
    write_atomically(out, workflow_text(chosen(course_here(), modules), ENGINES[engine]))
    click.echo(f"{out}: runs the visible checks of {len(modules)} module(s)")


@github.command()
@click.argument("report_file", metavar="REPORT.json", type=FILE)
@click.option(
    "--summary",
    "to",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to append the summary to, instead of $GITHUB_STEP_SUMMARY.",
)
def result(report_file: Path, to: Path | None) -> None:
    """Show a report in a job of GitHub Actions: print annotations, and write the job's summary.

    \b
    attn test warm_up --json > report.json
    attn export github result report.json

    Each mistake is marked at its line. The summary is Markdown, and goes where GitHub says ($GITHUB_STEP_SUMMARY).

    Exit status: 0 full marks, 1 less, 2 not a report, 3 the report has no score.
    """
    try:
        report = report_from(json.loads(report_file.read_bytes()))
    except ValueError as error:
        raise click.UsageError(f"{report_file} is not a report: {error}") from None
    for line in error_commands(report):
        click.echo(line)
    name = to or os.environ.get("GITHUB_STEP_SUMMARY")
    if name:
        with Path(name).open("a", encoding="utf-8") as file:
            file.write(summary(report))
    sys.exit(exit_status(report))
