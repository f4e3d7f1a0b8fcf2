"""`attn init`: a folder to work in, from the course that this package carries."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click

from grader.core.new_folder import FolderError
from grader.course.course import Course, read_course
from grader.course.engine import carried_root
from grader.workspace.init import make_workspace

NO_COURSE = "this attn came with a bundle and carries no course of its own. Run it in the folder of the bundle"


@click.command()
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print what was made as JSON.")
def init(folder: Path, as_json: bool) -> None:
    """Make a folder to work in, from the course of this package. It has every module: lesson, stub and visible checks.

    \b
    attn init course         in a new folder
    attn init                in this folder, if it is empty

    It needs no network: the course comes with the package. Modules that use PyTorch ask for it when you get there.
    A folder that already has files is not changed; only what git, uv and a virtual environment keep there may be in
    it.

    Without installing anything first: `uvx attnlab init course`, or `pipx run attnlab init course`.

    Exit status: 0 made, 2 the folder is not empty, 3 a file could not be written.
    """
    carried = carried_course()
    try:
        files = make_workspace(carried, folder)
    except FolderError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        modules = [module.name for module in carried.all_modules]
        click.echo(json.dumps({"folder": str(folder.resolve()), "modules": modules, "files": files}, indent=1))
        return
    attn = how_called()
    beyond = f" and {len(carried.optional)} optional" if carried.optional else ""
    click.echo(f"{folder}: {len(carried.modules)} modules{beyond}, with lessons and visible checks. Next:\n")
    if folder.resolve() != Path.cwd():
        click.echo(f"  cd {folder}")
    click.echo(f"  {attn} start {carried.modules[0].slug}")
    if attn != "attn":
        click.echo(f"\nWherever a screen says `attn`, type `{attn}`. The README there says how to make that shorter.")


def carried_course() -> Course:
    """Return the course that comes with this command: the one inside the package, or that of the clone."""
    if (root := carried_root()) is None:
        raise click.UsageError(NO_COURSE)
    return read_course(root)


def how_called() -> str:
    """Return what to type to run this command again: `uvx` and `pipx run` leave no `attn` behind."""
    if "UV" in os.environ and (Path(sys.prefix) / "..").resolve().name.startswith("archive-"):
        return "uvx attnlab"
    parts = Path(sys.prefix).parts
    return "pipx run attnlab" if "pipx" in parts and "venvs" not in parts else "attn"
