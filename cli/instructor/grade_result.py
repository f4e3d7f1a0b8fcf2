"""What `attn grade` prints when a class is graded: reports or a table, notes, and the exit status."""

from __future__ import annotations

import contextlib
import json
from itertools import groupby, islice

import click

from cli.ui.anonymous import AnonymousOutput
from cli.ui.report_screens import change_lines, class_table, remark_lines, report_screen
from grader.classroom.batch import Batch, BatchResult
from grader.classroom.store.store import ResultsStore
from grader.core.safe_text import one_line
from grader.submission.found import FoundSubmissions

LINES = 500  # that are printed at once


def show_result(
    batch: Batch, settled: BatchResult, hidden: AnonymousOutput | None, name: str, *, as_json: bool, alone: bool
) -> None:
    """Print the reports as JSON, as a class table, or a single one in full."""
    if as_json:
        # One at a time: the reports of a class may not fit into memory.
        for number, report in enumerate(batch.reports(settled)):
            click.echo("[" if number == 0 else ",", nl=number == 0)
            with hidden.as_it_is() if hidden else contextlib.nullcontext():
                shown = hidden.names.report(report) if hidden else report
                click.echo(json.dumps(shown.as_json(), indent=1), nl=False)
        click.echo("\n]")
    else:
        table = hidden.table(settled) if hidden else settled
        lines = iter([report_screen(next(batch.reports(settled)))] if alone else class_table(table, name))
        while some := list(islice(lines, LINES)):
            click.echo("\n".join(some))
    for line in (*change_lines(settled.changes), *remark_lines(settled.remarked)):
        click.echo(line, err=as_json)


def show_notes(batch: Batch, settled: BatchResult, found: FoundSubmissions, to: ResultsStore | None) -> None:
    """Print notes on standard error."""
    if "none" in settled.counts.sandboxes:
        click.echo("attn: NOT SANDBOXED: these submissions ran without a jail", err=True)
    if found.refused:
        click.echo(f"attn: {len(found.refused)} could not be graded, see above", err=True)
    if to is None:
        return
    for (module, who), lines in groupby(settled.marks, key=lambda mark: (mark.module, mark.id)):
        if (count := sum(1 for _ in lines)) > 1:
            click.echo(one_line(f"attn: {who} has {count} lines for {module} in grades.csv"), err=True)
    for note in batch.results.overrides.notes(settled.marks):
        click.echo(one_line(f"attn: {note}", 1000), err=True)
    left_out = batch.results.unmarked()
    if left_out:
        names = ", ".join(left_out[:5]) + (", …" if len(left_out) > 5 else "")
        text = "from a run that has not finished: not in grades.csv until you repeat that run with --resume"
        click.echo(f"attn: {len(left_out)} report(s) in {to.title} are {text} ({names})", err=True)
    if provisional := settled.counts.provisional:
        scores = "1 score is" if provisional == 1 else f"{provisional} scores are"
        click.echo(f"attn: {scores} provisional. To see what is undecided, run: attn review {to.name}", err=True)
    click.echo(f"one report per submission, grades.csv and the misconceptions of the class are in {to.title}", err=True)


def exit_code(settled: BatchResult, *, refused: bool) -> int:
    """Return 0 if all have full marks, 1 if not, 3 if a grade is missing."""
    if settled.counts.not_graded:
        return 3
    return 0 if settled.counts.full == settled.counts.submissions and not refused else 1
