"""`attn reset`: begin a module again, with a backup."""

from __future__ import annotations

import json
import sys

import click

from cli.ui.arguments import module_named
from cli.ui.here import course_here
from grader.course.course import Course
from grader.course.module import Module
from grader.workspace import backup
from grader.workspace.backup import FileChange


@click.command()
@click.argument("module_name", metavar="MODULE")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--undo", "undoing", is_flag=True, help="Put back what the last reset or undo removed.")
@click.option("--json", "as_json", is_flag=True, help="Print the changes as JSON.")
def reset(module_name: str, yes: bool, undoing: bool, as_json: bool) -> None:
    """Put the original stub of a module back. A backup of your work is kept.

    \b
    attn reset warm_up           asks first
    attn reset warm_up --undo    puts your files back; again takes that back

    Exit status: 0 done, or nothing to do; 1 you said no; 2 no such module, no backup, or no terminal to ask in.
    """
    course = course_here()
    module = module_named(course, module_name)
    if undoing:
        try:
            change = backup.undo(course, module)
        except backup.NoBackupError as error:
            raise click.UsageError(str(error)) from None
        words = "is already the same as its newest backup; nothing was changed"
    elif backup.is_pristine(module):
        change, words = FileChange((), (), None), "is unchanged; there is nothing to reset"
    else:
        if backup.has_files(module) and not yes:
            _ask(f"Put the original stub of {module.name} back? A backup of your work is kept.")
        change, words = backup.reset(course, module), ""
    if as_json:
        click.echo(json.dumps(_change_entry(course, module, change), indent=1))
        return
    click.echo("\n".join(_change_lines(course, module, change) or [f"{module.name} {words}."]))


def _change_entry(course: Course, module: Module, change: FileChange) -> dict[str, object]:
    places = {"backup": change.kept, "restored": change.restored}
    return {"module": module.name, "written": change.written, "removed": change.removed} | {
        name: path.relative_to(course.root).as_posix() if path else None for name, path in places.items()
    }


def _change_lines(course: Course, module: Module, change: FileChange) -> list[str]:
    if not change.written:
        return []
    folder = module.folder.relative_to(course.root)
    what = f"restored from {change.restored.relative_to(course.root)}" if change.restored else "the original stub again"
    why = "" if change.restored else ", so that the stub counts"
    lines = [f"{folder / name} is {what}." for name in change.written]
    lines += [f"{folder / name} was removed{why}." for name in change.removed]
    if change.kept:
        lines.append(f"Your previous files are in {change.kept.relative_to(course.root)}.")
        lines.append(f"To put them back: attn reset {module.slug} --undo")
    return lines


def _ask(question: str) -> None:
    """Go on only if the student says yes; without a terminal to ask in, that is a usage mistake."""
    if not sys.stdin.isatty():
        raise click.UsageError("there is no terminal to ask in; use --yes. Nothing was changed")
    if not click.confirm(question, err=True):
        click.echo("Nothing was changed.", err=True)
        sys.exit(1)
