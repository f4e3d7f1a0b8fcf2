"""`attn store`: the results of classes in a PostgreSQL database."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.ui.store_options import open_results, store_option, store_url
from grader.classroom import ClassError
from grader.classroom.store.files import FileStore
from grader.classroom.store.maintenance import StoreCheck, check_store, copy_results
from grader.core.json_record import to_json
from grader.core.safe_text import one_line

if TYPE_CHECKING:
    from grader.classroom.store.store import ResultsStore

IN_STORE = "store:"


@click.group()
def store() -> None:
    """Keep results in a PostgreSQL database (for instructors).

    \b
    export ATTN_STORE=postgresql://grader@db.example.edu/classroom
    attn store check                          is it there, and what is in it?
    attn grade class/ --to week1              into the database, not a folder
    attn stats week1
    attn store copy store:week1 week1         as files, with grades.csv
    attn store copy reports store:week2       a folder into the database

    A class needs no database: without a URL, results are files in a folder. With one, several machines can grade the
    same class at once. See docs/store.md.
    """


@store.command()
@click.argument("reports", required=False)
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array, one object per class, instead of text.")
def check(reports: str | None, as_json: bool) -> None:
    """Check a database or a results folder, and list what is in it.

    REPORTS is one class. Without it, all classes of the database are checked, or the folder `reports`.

    \b
    attn store check --store postgresql://grader@db.example.edu/classroom
    attn store check reports                  a folder

    Every report is read and compared with the hash in the journal, and with the class list.

    Exit status: 0 all is well, 1 something is wrong or unfinished, 2 a wrong argument or option, 3 the database does
    not answer.
    """
    url = store_url()
    names = _tables(url, as_json=as_json) if url and reports is None else (reports or "reports",)
    if not url and not Path(names[0]).is_dir():
        raise click.UsageError(f"there is no folder {names[0]}. To check a database, add --store URL")
    try:
        found = [check_store(open_results(name)) for name in names]
    except ClassError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        click.echo(json.dumps([to_json(one) for one in found], indent=1))
    else:
        click.echo("\n".join(line for one in found for line in _lines(one)) or "no classes yet")
    sys.exit(int(any(one.problems for one in found)))


def _tables(url: str, *, as_json: bool) -> tuple[str, ...]:
    """Print what a database is, and return the names of its classes."""
    from grader.classroom.store.connection import read_url
    from grader.classroom.store.tables import read_catalog  # it needs psycopg, which is optional

    known = read_url(url)
    catalog = read_catalog(known)
    state = "no tables yet: the first `attn grade` makes them"
    if catalog.version:
        state = f"tables of version {catalog.version}"
        state += f" (this AttnLab needs {catalog.wanted})" if catalog.version != catalog.wanted else ""
    click.echo(f"{known.shown}: PostgreSQL {catalog.server}, {state}", err=as_json)
    return catalog.classes


def _lines(one: StoreCheck) -> list[str]:
    attempts = f", {one.attempts} of single attempts" if one.attempts else ""
    state = "finished" if one.finished else "not finished"
    problems = f", {len(one.problems)} problem(s)" if one.problems else ""
    head = f"{one.name}: {one.reports} reports{attempts}, {state}{problems}"
    return [one_line(head, 500), *(one_line(f"  {problem}", 1000) for problem in one.problems)]


@store.command()
@click.argument("source")
@click.argument("target")
@store_option
def copy(source: str, target: str) -> None:
    """Copy the results of a class: a folder into the database, or back.

    SOURCE and TARGET are folders, or `store:NAME` for a class in the database.

    \b
    attn store copy reports store:week1       a folder into the database
    attn store copy store:week1 week1         the database into a folder

    Everything is copied, byte for byte: reports, attempts, journal, class list, rules, decisions and points by hand.
    TARGET must be empty. The folder can be graded, read and exported like any other.

    Exit status: 0 copied, 1 copied, but a damaged report was left out, 2 a wrong argument, 3 the database does not
    answer.
    """
    try:
        copied = copy_results(_place(source), _place(target))
    except ClassError as error:
        raise click.UsageError(str(error)) from None
    for problem in copied.problems:
        click.echo(one_line(f"attn: {problem}", 1000), err=True)
    click.echo(f"{target}: {copied.reports} reports")
    sys.exit(int(bool(copied.problems)))


def _place(text: str) -> ResultsStore:
    if not text.startswith(IN_STORE):
        return FileStore(Path(text))
    if not store_url():
        raise click.UsageError(f"{text} is in a database: add --store URL, or set ATTN_STORE")
    return open_results(text.removeprefix(IN_STORE))


@store.command()
@store_option
def migrate() -> None:
    """Change the tables of a database to those of this AttnLab.

    An empty database needs no migration: the first `attn grade` makes the tables. Stop all graders first, and make a
    backup (pg_dump).

    Exit status: 0 the tables are those of this AttnLab, 2 no URL, 3 the database does not answer.
    """
    url = store_url()
    if not url:
        raise click.UsageError("name the database: add --store URL, or set ATTN_STORE")
    from grader.classroom.store.connection import read_url
    from grader.classroom.store.tables import migrate_database  # it needs psycopg, which is optional

    known = read_url(url)
    made = migrate_database(known)
    click.echo(f"{known.shown}: {', '.join(made) if made else 'nothing to change'}")
