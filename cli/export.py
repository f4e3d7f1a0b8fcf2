"""`attn export`: grades handed on to other platforms."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.dev import chosen
from cli.names import modules_here

if TYPE_CHECKING:
    from grader.export.results_json import HiddenVisibility

_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
_NEW = click.Path(path_type=Path, dir_okay=False)


@click.group()
def export() -> None:
    """Hand grades on to other platforms (for instructors).

    \b
    attn export gradescope softmax --out softmax.zip    an autograder to upload
    attn grade class/ --to reports --roster class.csv
    attn export canvas reports --out canvas.csv         grades to import
    attn export csv reports --out grades.csv            one line a student
    attn export junit reports --out reports.xml         for anything that reads test results
    attn export github results reports --out results    GitHub Classroom's runner results
    attn export jplag class/ --out similar              folders for a similarity check

    What was not graded has no score anywhere, never a 0; the exit status is 3 then, and who it is is said.
    """


@export.command()
@click.argument("module_name", metavar="MODULE", shell_complete=modules_here)
@click.option("--out", required=True, type=_NEW, help="The zip to write.")
@click.option(
    "--hidden",
    type=click.Choice(["after_published", "after_due_date", "hidden"]),
    default="after_published",
    show_default=True,
    help="When students see the hidden checks: with the grades, after the due date, or never.",
)
@click.option("--leaderboard/--no-leaderboard", default=True, help="Whether counts go to Gradescope's leaderboard.")
@click.option(
    "--minutes",
    type=click.FloatRange(2, 40),
    default=10,
    show_default=True,
    help="The time limit of the assignment in Gradescope; we stop before it.",
)
@click.option("--try/--no-try", "tried", default=True, help="Whether the zip first has to grade the solution here.")
@click.option("--json", "as_json", is_flag=True, help="Print what was made as JSON.")
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
    attn export gradescope softmax --out softmax.zip
    attn export gradescope 5 --out torch.zip --hidden hidden --minutes 20

    It grades as `attn grade` does, with the same checks and the same hidden inputs, in the jail of tier `contained`
    that a container gives. Students see visible checks, costs and the diagnosis at once. If grading fails, or there is
    no jail, the results have no score and say so. Lateness is Gradescope's own to reckon.

    The zip holds the solution, the hidden suite and the course's salt: it is for you and Gradescope alone.

    Exit status: 0 made, 2 a module or an option that cannot be used, 3 it does not give the solution full marks here.
    """
    from grader.course import find_course
    from grader.export.autograder import Settings
    from grader.export.gradescope import AutograderError, make_autograder, try_autograder, write_autograder
    from grader.export.results_json import Manner

    course = find_course(Path.cwd())
    module = chosen(course, (module_name,))[0]
    if course.is_bundle:
        raise click.UsageError("this is a student's bundle; an autograder is made from the full course")
    data = make_autograder(course, Settings(module.name, minutes, Manner(hidden, leaderboard)))
    if tried:
        click.echo("trying it on the solution ...", err=True)
        try:
            try_autograder(data, course, module)
        except AutograderError as error:
            click.echo(f"attn: nothing was written: {error}", err=True)
            sys.exit(3)
    write_autograder(data, out)
    made: dict[str, Any] = {"module": module.name, "file": str(out), "bytes": len(data), "points": module.points}
    if as_json:
        click.echo(json.dumps(made, indent=1))
    else:
        click.echo(f"{out}: {module.points:g} points, {len(data) / 1e6:.1f} MB. Keep it secret: the solution is in it.")
