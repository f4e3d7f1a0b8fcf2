"""`attn open`: the lesson and the student's file, in an editor."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys

import click

from cli.student.current import module_or_current
from cli.ui.arguments import modules_here
from cli.ui.here import course_here
from grader.submission.own_file import own_file

USUAL = "code"  # VS Code, if the student has set no editor


@click.command("open")
@click.argument("module_name", metavar="[MODULE]", required=False, shell_complete=modules_here)
def open_module(module_name: str | None) -> None:
    """Open the lesson and your file in your editor.

    \b
    attn open            the module you are in, or the next one to do
    attn open warm_up    this one

    The editor is that of VISUAL or EDITOR, else VS Code. If there is none, the paths are printed.

    Exit status: 0 opened or printed, 2 no such module, or the editor cannot be started.
    """
    module = module_or_current(course_here(), module_name)
    files = [str(path) for path in (module.lesson, own_file(module))]
    command = editor()
    if command is None:
        click.echo("No editor is set. Set VISUAL or EDITOR, or open these files yourself:")
        click.echo("\n".join(f"  {os.path.relpath(file)}" for file in files))
        return
    try:
        sys.exit(subprocess.run([*command, *files], check=False).returncode and 2)
    except OSError as error:
        raise click.UsageError(f"{command[0]} cannot be started: {error.strerror}. Set VISUAL or EDITOR") from None


def editor() -> list[str] | None:
    """Return the command of the student's editor; None if there is none."""
    for variable in ("VISUAL", "EDITOR"):
        if chosen := shlex.split(os.environ.get(variable, "")):
            return chosen
    return [USUAL] if shutil.which(USUAL) else None
