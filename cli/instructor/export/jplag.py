"""`attn export jplag`: submissions for a similarity check."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from cli.ui.arguments import module_named
from cli.ui.class_files import NEW_FOLDER, finish_export, json_option, new_folder
from cli.ui.here import course_here
from grader.classroom import ClassError
from grader.classroom.class_list import ExportError
from grader.platforms.jplag import lay_out


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--out", required=True, type=NEW_FOLDER, help="A new folder.")
@click.option("--module", "-m", "module_name", help="Which module the files are for: 01_warm_up, warm_up or 1.")
@click.option("--class-zip", is_flag=True, help="Each zip in PATHS is a class, not one student's work.")
@json_option
def jplag(paths: tuple[Path, ...], out: Path, module_name: str | None, class_zip: bool, as_json: bool) -> None:
    """Prepare submissions for JPlag, which looks for similar ones.

    PATHS are the same as for `attn grade`: scripts, notebooks, zips, or folders <student>/<module>/<file>. The zip of a
    class needs --class-zip.

    \b
    attn export jplag class/ --out similar -m warm_up
    java -jar jplag.jar -l python3 -bc similar/01_warm_up/base-code similar/01_warm_up/submissions

    Each student gets a folder with plain Python in it; from a notebook, the cells that the student wrote. The code that
    every student was given is in base-code, and JPlag ignores it. The latest attempt counts. Nothing is run, and
    nothing is sent anywhere.

    Exit status: 0 all are prepared, 2 nothing to prepare, 3 some could not be read, or are not Python.
    """
    course = course_here()
    module = module_named(course, module_name) if module_name else None
    try:
        with new_folder(out) as folder, tempfile.TemporaryDirectory(prefix="attn-") as scratch:
            laid = lay_out(course, paths, module, folder, Path(scratch), class_zip=class_zip)
            if not laid.files:
                raise ExportError("there is nothing to prepare at " + ", ".join(map(str, paths)))
    except ClassError as error:
        raise click.UsageError(str(error)) from None
    finish_export({"file": str(out), "files": laid.files}, laid.problems, as_json=as_json)
