"""`attn export prairielearn`: a question with an external grader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from cli.instructor.export.trial import try_on_solution
from cli.ui.arguments import module_named, modules_here
from cli.ui.class_files import NEW_FOLDER, json_option, new_folder
from cli.ui.here import course_here
from grader.classroom.class_list import ExportError
from grader.platforms.prairielearn.autograder import Settings
from grader.platforms.prairielearn.package import (
    LONGEST_MINUTES,
    QuestionError,
    question_files,
    try_question,
    write_question,
)
from grader.platforms.prairielearn.results import HIDDEN, HiddenChecks


@click.command()
@click.argument("module_name", metavar="MODULE", shell_complete=modules_here)
@click.option("--out", required=True, type=NEW_FOLDER, help="A new folder in your course: questions/NAME.")
@click.option("--image", required=True, metavar="NAME", help="The image to grade in, as Docker Hub names it.")
@click.option(
    "--hidden",
    type=click.Choice(HIDDEN),
    default="summed",
    show_default=True,
    help="What students see of hidden checks: the points of each function, or every check.",
)
@click.option(
    "--minutes",
    type=click.FloatRange(2, LONGEST_MINUTES),
    default=5,
    show_default=True,
    help="The time limit of a grading job; grading stops before it.",
)
@click.option("--try/--no-try", "tried", default=True, help="Whether to test the question on the solution here first.")
@json_option
def prairielearn(
    module_name: str, out: Path, image: str, hidden: HiddenChecks, minutes: float, tried: bool, as_json: bool
) -> None:
    """Make a question for PrairieLearn, with an external grader.

    \b
    attn export prairielearn warm_up --out questions/warm_up --image me/attnlab
    docker build --platform linux/amd64 -t me/attnlab questions/warm_up/image

    It grades like `attn grade`, with the same checks and the same hidden inputs, in the jail of tier `contained` that
    a container allows. If grading fails, or there is no jail, the submission is not gradable: it costs the student no
    points and no attempt. So does work that cannot be loaded.

    The folder holds the solution, the hidden suite and the course's salt. Keep the repository of your PrairieLearn
    course private. The image holds nothing secret.

    Exit status: 0 made, 2 a wrong module or option, 3 it does not give the solution full marks here.
    """
    course = course_here()
    module = module_named(course, module_name)
    if course.is_bundle:
        raise click.UsageError("this is a student's bundle; an autograder needs the full course")
    files = question_files(course, Settings(module.name, minutes, hidden), image)
    if tried:
        try_on_solution(lambda: try_question(files, course, module), QuestionError)
    try:
        with new_folder(out) as folder:
            write_question(files, folder)
    except ExportError as error:
        raise click.UsageError(str(error)) from None
    made: dict[str, Any] = {"module": module.name, "file": str(out), "files": len(files), "points": module.points}
    if as_json:
        click.echo(json.dumps(made, indent=1))
    else:
        size = sum(map(len, files.values())) / 1e6
        click.echo(f"{out}: {module.points:g} points, {size:.1f} MB. Keep it private: it holds the solution.")
