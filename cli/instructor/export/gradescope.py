"""`attn export gradescope`: an autograder to upload."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from cli.instructor.export.trial import try_on_solution
from cli.ui.arguments import module_named, modules_here
from cli.ui.class_files import NEW, json_option
from cli.ui.here import course_here
from grader.platforms.gradescope.autograder import Settings
from grader.platforms.gradescope.package import AutograderError, make_autograder, try_autograder, write_autograder
from grader.platforms.gradescope.results import GradescopeOptions, HiddenVisibility


@click.command()
@click.argument("module_name", metavar="MODULE", shell_complete=modules_here)
@click.option("--out", required=True, type=NEW, help="The zip to write.")
@click.option(
    "--hidden",
    type=click.Choice(["after_published", "after_due_date", "hidden"]),
    default="after_published",
    show_default=True,
    help="When students see the hidden checks: with the grades, after the due date, or never.",
)
@click.option("--leaderboard/--no-leaderboard", default=True, help="Whether the costs go to Gradescope's leaderboard.")
@click.option(
    "--minutes",
    type=click.FloatRange(2, 40),
    default=10,
    show_default=True,
    help="The time limit of the assignment in Gradescope; grading stops before it.",
)
@click.option("--try/--no-try", "tried", default=True, help="Whether to test the zip on the solution here first.")
@json_option
def gradescope(
    module_name: str,
    out: Path,
    hidden: HiddenVisibility,
    leaderboard: bool,
    minutes: float,
    tried: bool,
    as_json: bool,
) -> None:
    """Make an autograder for Gradescope: a zip to upload.

    \b
    attn export gradescope warm_up --out warm_up.zip
    attn export gradescope 5 --out torch.zip --hidden hidden --minutes 20

    It grades like `attn grade`, with the same checks and the same hidden inputs, in the jail of tier `contained` that
    a container allows. Students see visible checks, costs and the diagnosis at once. If grading fails, or there is no
    jail, the results have no score and say so. Late penalties are left to Gradescope.

    The zip holds the solution, the hidden suite and the course's salt. Share it only with Gradescope.

    Exit status: 0 made, 2 a wrong module or option, 3 it does not give the solution full marks here.
    """
    course = course_here()
    module = module_named(course, module_name)
    if course.is_bundle:
        raise click.UsageError("this is a student's bundle; an autograder needs the full course")
    data = make_autograder(course, Settings(module.name, minutes, GradescopeOptions(hidden, leaderboard)))
    if tried:
        try_on_solution(lambda: try_autograder(data, course, module), AutograderError)
    write_autograder(data, out)
    made: dict[str, Any] = {"module": module.name, "file": str(out), "bytes": len(data), "points": module.points}
    if as_json:
        click.echo(json.dumps(made, indent=1))
    else:
        click.echo(f"{out}: {module.points:g} points, {len(data) / 1e6:.1f} MB. Keep it secret: it holds the solution.")
