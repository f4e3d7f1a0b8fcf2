"""`attn dashboard`: a page about a graded class."""

from __future__ import annotations

from pathlib import Path

import click

from cli.ui.anonymous import anonymous_option
from cli.ui.arguments import chosen
from cli.ui.class_files import modules_option
from cli.ui.here import course_here
from cli.ui.page_file import page_file
from cli.ui.store_options import RESULTS, store_option
from grader.classroom import ClassError
from grader.classroom.class_results import read_class_results
from grader.classroom.pseudonyms import pseudonyms_of
from grader.classroom.rules import read_rules
from grader.classroom.store.store import ResultsStore
from grader.core.atomic_file import write_atomically
from grader.course.course import Course
from grader.course.course_file import read_course_file
from grader.course.golden import read_golden
from grader.course.lesson import lesson_parts
from grader.pages.dashboard_page import About, MisconceptionText, dashboard


@click.command("dashboard")
@click.argument("reports", type=RESULTS)
@store_option
@click.option("--to", required=True, type=click.Path(path_type=Path, dir_okay=False), help="The page to write.")
@click.option("--before", type=RESULTS, help="The reports of an earlier grading, to show the progress since then.")
@modules_option
@anonymous_option
def dashboard_command(
    reports: ResultsStore, to: Path, before: ResultsStore | None, modules: tuple[str, ...], anonymous: bool
) -> None:
    """Write a page about a class.

    REPORTS is the folder of `attn grade class/ --to REPORTS`.

    \b
    attn dashboard reports --to dashboard.html
    attn dashboard reports --to dashboard.html --before last-week
    attn dashboard reports --to dashboard.html --anonymous

    The page is one file that needs no network. It can be filtered by section, module and student, and every table can
    be sorted. Progress is shown since the folder of --before, or since the last grading into the same folder. It is for
    instructors: it names the students, unless it is --anonymous, and it names hidden checks.

    Exit status: 0 written, 2 a wrong argument or option.
    """
    course = course_here()
    path = page_file(to)
    names = [module.name for module in chosen(course, modules)] if modules else []
    try:
        found = read_class_results(reports, names, before)
        found = found.hidden(pseudonyms_of(course, reports)) if anonymous else found
        title = f"{read_rules(reports).name or 'The class'}: dashboard"
    except ClassError as error:
        raise click.UsageError(str(error)) from None
    text = dashboard(found, _about(course), title, read_course_file(course.root).about.colour)
    write_atomically(path, text)
    size = len(text.encode())
    click.echo(f"wrote {path} ({f'{size / 1e6:.1f} MB' if size >= 1e6 else f'{size / 1e3:.0f} kB'})")


def _about(course: Course) -> About:
    """Return what the course says about a misconception, as far as it still has it."""
    known = {module.name: read_golden(module).misconceptions for module in course.modules}
    parts = {module.name: lesson_parts(module) for module in course.modules}

    def about(module: str, name: str, function: str) -> MisconceptionText:
        found = known.get(module, {}).get(name, {})
        part = parts.get(module, {}).get(function, "")
        return MisconceptionText(str(found.get("likely", "")), str(found.get("hint", "")), part)

    return about
