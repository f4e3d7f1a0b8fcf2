"""`attn update`: a newer bundle of the course."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from cli.student.init import carried_course
from cli.ui.here import course_here
from grader.course.course import Course
from grader.course.reference import PUBLISHED
from grader.workspace.init import update_from_installed
from grader.workspace.take_over import TakenModule, is_work, take_over
from grader.workspace.update import Update
from grader.workspace.update import update as take
from grader.workspace.update_bundle import UpdateError
from grader.workspace.update_plan import ModuleUpdate


@click.command()
@click.argument("source", metavar="[FROM]", required=False, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the changes as JSON.")
def update(source: Path | None, as_json: bool) -> None:
    """Take new lessons and modules from a newer bundle. FROM is a folder or a zip. Your own work is kept.

    \b
    attn update ~/Downloads/week2.zip    new lessons and modules
    attn update ~/Downloads/ana.zip      your own work from a web course
    attn update                          from the AttnLab that is installed

    Without FROM, a folder that `attn init` made is updated. Install the newer AttnLab first: `python -m pip install -U
    attnlab`, `uv tool upgrade attnlab` or `pipx upgrade attnlab`. With uvx it is one command: `uvx attnlab@latest
    update`.

    A zip that `attn submit` made, or that you downloaded from a web course, has your own work. Its files take the
    place of yours, and a backup of yours is kept.

    If anything is wrong with the bundle or the zip, nothing is changed.

    Exit status: 0 done, 2 nothing that can be used here, 3 a file could not be written.
    """
    course = course_here()
    try:
        if source is not None and is_work(source):
            taken = take_over(course, source)
            entries = [asdict(one) for one in taken]
            click.echo(json.dumps(entries, indent=1) if as_json else "\n".join(_taken_lines(taken)))
            return
        done = take(course, source) if source is not None else update_from_installed(carried_course(), course)
    except UpdateError as error:
        raise click.UsageError(str(error)) from None
    click.echo(json.dumps(asdict(done), indent=1) if as_json else "\n".join(_lines(course, done)))


def _taken_lines(taken: tuple[TakenModule, ...]) -> list[str]:
    if not taken:
        return ["The zip has no work; nothing was changed."]
    lines = [f"{one.name}: {_taken_words(one)}" for one in taken]
    kept = [one.backup for one in taken if one.backup]
    if kept:
        lines.append(f"Your previous files are in {', '.join(kept)}. To put them back: attn reset MODULE --undo")
    return lines


def _taken_words(one: TakenModule) -> str:
    if not one.is_here:
        return "not a module of this course; skipped"
    return f"your {one.file} is already the same" if one.is_same else f"{one.file} is now the one of the zip"


def _lines(course: Course, done: Update) -> list[str]:
    lines = [f"{one.name}: {_module_words(one)}" for one in done.modules]
    lines += [f"{one.name}: {_new_stub_words(one)}" for one in done.modules if one.beside]
    lines += [f"{name}: not in the bundle; not changed" for name in done.left_alone]
    lines += [f"{name}: {_other_words(name)}" for name in done.others]
    if done.install:
        lines.append(f"\nThe bundle comes with another version of attn. In {course.root} run:\n  {done.install}")
    return lines


def _other_words(name: str) -> str:
    return f"read it with `attn solution {Path(name).stem}`" if name.startswith(PUBLISHED) else "updated"


def _module_words(one: ModuleUpdate) -> str:
    if one.is_new and not one.kept:
        return "new"
    words = [f"updated: {', '.join(one.updated)}" if one.updated else "nothing new"]
    words += [f"{name} was untouched and is the new stub" for name in one.renewed]
    words += [f"your {' and '.join(one.kept)} {'were' if len(one.kept) > 1 else 'was'} kept"] if one.kept else []
    return "; ".join(words)


def _new_stub_words(one: ModuleUpdate) -> str:
    return f"the stub has changed; the new one is {one.beside}, to compare with yours (it is not graded)"
