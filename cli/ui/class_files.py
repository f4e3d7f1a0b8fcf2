"""What commands share that write files about a class: options, the class list, and the last lines of output."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click

from cli.ui.anonymous import hide_in
from cli.ui.arguments import chosen
from cli.ui.here import course_here
from grader.classroom.class_list import ClassList, ExportError, read_class
from grader.classroom.course_rules import read_total_rules
from grader.classroom.store.store import ResultsStore
from grader.classroom.totals import TotalRules, unknown_names
from grader.core.json_record import json_text
from grader.core.safe_text import one_line

FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
NEW = click.Path(path_type=Path, dir_okay=False)
NEW_FOLDER = click.Path(path_type=Path, file_okay=False)
modules_option = click.option(
    "--module", "-m", "modules", multiple=True, help="Only this module: 01_warm_up, warm_up or 1."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print what was made as JSON.")


def class_of(reports: ResultsStore, modules: tuple[str, ...], *, anonymous: bool = False) -> ClassList:
    """Return the class list of some modules, which may be given by name, slug or number."""
    output = hide_in(course_here(), reports, anonymous=anonymous) if anonymous else None
    names = [module.name for module in chosen(course_here(), modules)] if modules else []
    found = read_class(reports, names)
    if provisional := sum(mark.provisional for mark in found.marks):
        text = f"{provisional} of {len(found.marks)} grades are provisional. To see what is undecided, run: attn review"
        click.echo(f"attn: {text} {reports.name}", err=True)
    if unknown := found.unknown_times():
        click.echo(f"attn: {unknown}", err=True)
    for note in found.overrides().notes(found.marks) if not modules else ():
        click.echo(one_line(f"attn: {note}", 1000), err=True)
    return found.hidden(output.names) if output else found


def total_rules(found: ClassList) -> TotalRules:
    """Return how the course adds up marks, and say on standard error who is excused, but is not in the class."""
    rules = read_total_rules(course_here())
    for who in unknown_names(found.marks, rules) if found.names is None else ():
        click.echo(one_line(f"attn: course.toml excuses {who}, but there is no such student", 1000), err=True)
    return rules


def finish_export(made: dict[str, Any], problems: Iterable[str], *, as_json: bool) -> NoReturn:
    """Print what was made and what is missing from it; exit with 3 if anything is missing."""
    missing = list(problems)
    for problem in missing:
        click.echo(f"attn: {problem}", err=True)
    if as_json:
        click.echo(json_text(made | {"problems": missing}))
    else:
        counts = [f"{value} {name.replace('_', ' ')}" for name, value in made.items() if isinstance(value, int)]
        counts += [f"{count} for {name}" for name, count in made.get("files", {}).items()]
        click.echo(f"{made['file']}: {', '.join(counts)}")
    sys.exit(3 if missing else 0)


@contextmanager
def new_folder(to: Path) -> Iterator[Path]:
    """Yield a temporary folder to fill, then rename it to `to`; ExportError if something is already there."""
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise ExportError(f"{to} already exists. Name a new folder, or remove it first")
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to.parent, prefix=".export-") as temporary:
        made = Path(temporary) / "made"
        made.mkdir()
        yield made
        if to.exists():
            to.rmdir()
        made.rename(to)
