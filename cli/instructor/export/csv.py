"""`attn export csv`: a table for a spreadsheet."""

from __future__ import annotations

from pathlib import Path

import click

from cli.ui.anonymous import anonymous_option
from cli.ui.class_files import NEW, class_of, finish_export, json_option, modules_option, total_rules
from cli.ui.store_options import RESULTS, store_option
from grader.classroom import ClassError
from grader.classroom.store.store import ResultsStore
from grader.core.atomic_file import write_atomically
from grader.platforms.csv_tables import checks_table, students_table


@click.command()
@click.argument("reports", type=RESULTS)
@store_option
@click.option("--out", required=True, type=NEW, help="The file to write.")
@modules_option
@click.option("--checks", is_flag=True, help="One line per check instead of one line per student.")
@anonymous_option
@json_option
def csv(
    reports: ResultsStore, out: Path, modules: tuple[str, ...], checks: bool, anonymous: bool, as_json: bool
) -> None:
    """Write a table for a spreadsheet: one line per student, all modules side by side.

    \b
    attn export csv reports --out class.csv
    attn export csv reports --out checks.csv --checks    one line per check

    `reports/grades.csv` says more about each grade, one line per student and module. A missing score is an empty cell.
    The columns total, of and note follow the table totals of course.toml: without one, missing work counts 0. A text
    that a spreadsheet would run as a formula gets an apostrophe in front.

    Exit status: 0 written, 2 a wrong argument or option, 3 written, but a student was not graded.
    """
    try:
        found = class_of(reports, modules, anonymous=anonymous)
        text = checks_table(found) if checks else students_table(found, total_rules(found))
    except ClassError as error:
        raise click.UsageError(str(error)) from None
    write_atomically(out, text)
    made = {"file": str(out), "modules": list(found.modules), "students": len(found.by_person())}
    finish_export(made, found.problems(), as_json=as_json)
