"""`attn status`, and `attn` alone."""

from __future__ import annotations

import json
import sys
import textwrap

import click

from cli.student.current import next_up
from cli.ui.course_bar import course_bar
from cli.ui.here import course_here, here
from cli.ui.progress_screens import (
    ALL_COMPLETE,
    NAME,
    POINTS,
    WIDTH,
    progress_words,
    status_lines,
    story_lines,
    to_do_lines,
)
from cli.views import is_in_course
from grader.course.course_file import COURSE_FILE, read_course_file
from grader.workspace.progress import ModuleProgress, all_progress, progress_of
from grader.workspace.reflect import questions_of, unanswered_in

_NO_COURSE = """\
This folder is not inside a course. To begin:

  attn init DIR          to learn: a folder to work in, from the course of this package
  attn course new DIR    to teach: a course of your own, on any subject

In the folder of a course, `attn` says where you are. All commands: attn --help
"""


def where_am_i() -> None:
    """Print where the student is and what comes next; outside a course, how to get one."""
    if not is_in_course() and not (here() / COURSE_FILE).is_file():
        click.echo(_NO_COURSE, err=True, nl=False)
        sys.exit(2)
    course = course_here()
    found = all_progress(course)
    ahead = next_up(found)
    kind = "a student's copy" if course.is_bundle else "a full course"
    click.echo(f"{read_course_file(course.root).about.title} in {course.root} ({kind})")
    if bar := course_bar(course):
        click.echo(bar)
    if story := story_lines(found, ahead):
        click.echo("\n".join(["", *story, ""]))
    if ahead is None:
        click.echo(ALL_COMPLETE)
        return
    click.echo(f"Next: {ahead.module.name}, {ahead.module.title} ({ahead.module.minutes} min): {progress_words(ahead)}")
    click.echo("\n".join(to_do_lines(course, ahead)))


@click.command()
@click.option("--all", "everything", is_flag=True, help="Show the points and answers of complete modules, too.")
@click.option("--json", "as_json", is_flag=True, help="Print the progress with every module as JSON.")
def status(everything: bool, as_json: bool) -> None:
    """Show how far you are with every module. Nothing is run: `attn test` does that."""
    course = course_here()
    found = all_progress(course)
    if as_json:
        entries = [
            {
                "module": one.module.name,
                "title": one.module.title,
                "state": one.state,
                "completed": one.completed,
                "needs": list(one.missing),
            }
            | ({"unlocks": one.module.milestone.unlocks} if one.module.milestone else {})
            | (
                {
                    "passed": one.tested.passed,
                    "total": one.tested.total,
                    "points": one.tested.points,
                    "properties": {"hold": one.tested.holding, "total": one.tested.stated},
                }
                if one.tested
                else {}
            )
            | {"unanswered": list(unanswered_in(one.module))}
            for one in found
        ]
        click.echo(json.dumps(entries, indent=1))
        return
    ahead = next_up(found)
    if bar := course_bar(course):
        click.echo(f"{bar}\n")
    for one in found:
        lines = status_lines(one, *_open_questions(one), is_next=one is ahead, everything=everything)
        click.echo("\n".join(lines))
    for module in course.optional:
        words = f"{progress_words(progress_of(course, module))}; optional, needs a GPU"
        click.echo(
            "\n".join(textwrap.wrap(f"{module.name:<{NAME}} {words}", WIDTH, subsequent_indent=" " * (NAME + 1)))
        )
    if any(one.tested for one in found):
        click.echo(f"\n{POINTS}")


def _open_questions(progress: ModuleProgress) -> tuple[int, int]:
    """Return how many questions a module has open, and how many it has. The last test has counted them."""
    if progress.state == "untouched":
        return 0, 0
    if (tested := progress.tested) is not None and tested.questions is not None:
        return tested.unanswered, tested.questions
    return len(unanswered_in(progress.module)), len(questions_of(progress.module))
