"""`attn update`: a newer bundle of the course."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from grader.course.course import Course, find_course
from grader.course.reference import PUBLISHED
from grader.workspace.update import Update
from grader.workspace.update import update as take
from grader.workspace.update_bundle import UpdateError
from grader.workspace.update_plan import ModuleUpdate


@click.command()
@click.argument("source", metavar="FROM", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the changes as JSON.")
def update(source: Path, as_json: bool) -> None:
    """Take new lessons and modules from a newer bundle. FROM is a folder or a zip. Your own work is kept.

    \b
    attn update ~/Downloads/week2.zip

    If anything is wrong with the bundle, nothing is changed.

    Exit status: 0 done, 2 not a bundle that can be used here, 3 a file could not be written.
    """
    course = find_course(Path.cwd())
    try:
        done = take(course, source)
    except UpdateError as error:
        raise click.UsageError(str(error)) from None
    click.echo(json.dumps(asdict(done), indent=1) if as_json else "\n".join(_lines(course, done)))


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
