"""`attn export classroom50`: the visible checks as an autograder."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from cli.ui.arguments import module_named, modules_here
from cli.ui.class_files import NEW_FOLDER, json_option, new_folder
from cli.ui.here import course_here
from grader.authoring.bundle import BundleError
from grader.classroom.class_list import ExportError
from grader.platforms.classroom50.package import MOST_BYTES, SLUG, AutograderError, make_autograder


@click.command()
@click.argument("module_name", metavar="MODULE", shell_complete=modules_here)
@click.option(
    "--out", required=True, type=NEW_FOLDER, help="A new folder: CLASSROOM/autograders/ASSIGNMENT in your repository."
)
@json_option
def classroom50(module_name: str, out: Path, as_json: bool) -> None:
    """Make an autograder for Classroom 50, with the visible checks.

    \b
    attn export classroom50 warm_up --out cs/autograders/warm-up

    Copy the folder into the repository `classroom50` of your organization. The last name is that of the assignment.

    Hidden checks are not offered: Classroom 50 publishes the folder on a site that needs no login, and students can
    change the workflow that reports their score. So the points are only for information. For marks, run `attn grade`
    on the clones of the class.

    Scores are whole numbers there. If a check has 0.5 points, all points are shown times ten, and the release says so.

    Exit status: 0 made, 2 a wrong module or name, 3 it does not give the solution full marks here.
    """
    course = course_here()
    module = module_named(course, module_name)
    if course.is_bundle:
        raise click.UsageError("this is a student's bundle; an autograder needs the full course")
    if not SLUG.fullmatch(out.absolute().name):
        raise click.UsageError(f"{out.name!r} cannot name an assignment: use 2 to 39 small letters, digits or hyphens")
    click.echo("testing it on the solution ...", err=True)
    try:
        with new_folder(out) as folder:
            points = make_autograder(course, module, folder)
    except (BundleError, ExportError) as error:
        raise click.UsageError(str(error)) from None
    except AutograderError as error:
        click.echo(f"attn: nothing was written: {error}", err=True)
        sys.exit(3)
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    made: dict[str, Any] = {"module": module.name, "file": str(out), "bytes": size, "points": points}
    if as_json:
        click.echo(json.dumps(made, indent=1))
    else:
        click.echo(f"{out}: {points:g} points of visible checks, {size / 1e6:.1f} MB. Nothing in it is secret.")
    if size > MOST_BYTES:
        click.echo("attn: Classroom 50 fetches at most 10 MiB, packed: look at the size of the .tar.gz", err=True)
