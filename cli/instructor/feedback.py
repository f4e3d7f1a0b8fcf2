"""`attn feedback`: pages for the students of a graded class."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import click

from cli.ui.anonymous import no_anonymous_option
from cli.ui.class_files import (
    FOLDER,
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
from grader.classroom.rules import read_rules
from grader.classroom.store.store import ResultsStore
from grader.core.atomic_file import write_atomically
from grader.course.course import Course
from grader.pages.feedback_pages import write_feedback
from grader.pages.nbgrader_feedback import FEEDBACK, add_to_nbgrader


@click.command()
@click.argument("reports", type=RESULTS)
@store_option
@click.option("--to", type=NEW_FOLDER, help="A new folder for the pages.")
@click.option("--links", type=NEW, help="Use names that nobody can guess, and write whose page each is to this CSV.")
@click.option(
    "--nbgrader", "root", type=FOLDER, help="Put the pages into the feedback of this nbgrader course directory."
)
@modules_option
@no_anonymous_option
@json_option
def feedback(
    reports: ResultsStore,
    to: Path | None,
    links: Path | None,
    root: Path | None,
    modules: tuple[str, ...],
    as_json: bool,
) -> None:
    """Write a feedback page for each student and module.

    REPORTS is the folder of `attn grade class/ --to REPORTS`.

    \b
    attn feedback reports --to pages                      pages and an index
    attn feedback reports --to pages -m warm_up           one module
    attn feedback reports --to pages --links links.csv    for a web server
    attn feedback reports --nbgrader ../classroom         for nbgrader

    A page is one file that needs no network. It has no hidden input, no expected value of a hidden check and no line
    of a solution: each page is searched for them, and a page that has one is left out. With --links, the names of the
    files cannot be guessed, and there is no index. Keep the CSV, and send each student their own link.

    With --nbgrader, each page goes into the file that `nbgrader generate_feedback` made for the student, at its top.
    Run it again after each generate_feedback.

    Exit status: 0 written, 2 a wrong argument or option, 3 written, but a page was left out or a student was not
    graded.
    """
    course = course_here()
    if (to is None) == (root is None):
        raise click.UsageError("say where the pages go: either --to FOLDER or --nbgrader FOLDER")
    if root is not None:
        _into_nbgrader(course, reports, root, links, modules, as_json=as_json)
    assert to is not None
    if links and links.resolve().is_relative_to(to.resolve()):
        raise click.UsageError(f"{links} would be among the pages, where everybody can read it. Choose another place")
    try:
        found = class_of(reports, modules)
        name = read_rules(reports).name or ""
        with new_folder(to) as folder:
            made = write_feedback(course, found, folder, name, unguessable=links is not None)
    except ClassError as error:
        raise click.UsageError(str(error)) from None
    if links:
        write_atomically(links, made.links_table(), secret=True)
    finish_export({"file": str(to), "pages": len(made.links)}, made.problems, as_json=as_json)


def _into_nbgrader(
    course: Course, reports: ResultsStore, root: Path, links: Path | None, modules: tuple[str, ...], *, as_json: bool
) -> NoReturn:
    """Put the pages into nbgrader's feedback."""
    if links:
        raise click.UsageError("--links is for pages of their own: use it with --to")
    if not (root / FEEDBACK).is_dir():
        raise click.UsageError(f"{root} has no feedback. Run `nbgrader generate_feedback` in it first")
    try:
        added, problems = add_to_nbgrader(course, class_of(reports, modules), root, read_rules(reports).name or "")
    except ClassError as error:
        raise click.UsageError(str(error)) from None
    finish_export({"file": str(root / FEEDBACK), "pages": added}, problems, as_json=as_json)
