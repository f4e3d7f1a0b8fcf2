"""`attn course`: a course of one's own, and nbgrader's course directory for it."""

from __future__ import annotations

import json
from pathlib import Path

import click

from cli.instructor.nbgrader import init
from grader.authoring.examples import EXAMPLES, WORDS
from grader.core.new_folder import FolderError
from grader.course.course_file import About


@click.group()
def course() -> None:
    """Make a course of your own, or a course directory for nbgrader.

    \b
    attn course new signals                   a course of my own, on any subject
    attn course init ../classroom             make nbgrader's course directory
    attn release warm_up --to ../classroom    make an assignment in it
    cd ../classroom
    nbgrader autograde 01_warm_up             AttnLab grades, in its jail
    nbgrader generate_feedback 01_warm_up     without any hidden test
    nbgrader export                           grades.csv

    Formgrader's button grades in the same way. Or grade with `attn grade --to reports`, and copy the results with
    `attn gradebook sync reports --nbgrader ../classroom`.
    """


@course.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--title", default="", help="What students read at the top; by default made from the name of the folder.")
@click.option("--sentence", default=About.sentence, help="One sentence about the course, for its README and its help.")
@click.option("--example", type=click.Choice(EXAMPLES), default=WORDS, help="The first module, to replace: see below.")
@click.option("--json", "as_json", is_flag=True, help="Print what was made as JSON.")
def new(folder: Path, title: str, sentence: str, example: str, as_json: bool) -> None:
    """Make a course of your own in a new or empty folder, on any subject.

    \b
    attn course new signals --title "Signals and systems"
    attn course new . --example numbers

    The course has one small sound module, which counts words (or doubles numbers, with --example numbers): a solution,
    known mistakes, checks and a lesson, all yours to replace. Everything works at once: `attn dev check`, every form of
    `attn release`, `attn grade`. It needs no clone of AttnLab and no network.

    A folder that already has files is not changed; only what git, uv and a virtual environment keep there may be in
    it.

    Exit status: 0 made, 2 the folder is not empty or an option cannot be used, 3 a file could not be written.
    """
    from grader.authoring.new_course import make_course  # with NumPy and pytest: `--help` must not wait for them

    title = title or folder.resolve().name.replace("-", " ").replace("_", " ").capitalize()
    for option, text in (("--title", title), ("--sentence", sentence)):
        if not text.strip() or not text.isprintable():
            raise click.UsageError(f"{option} must be one line of text, not {text!r}")
    try:
        made = make_course(folder, title, sentence, example)
    except FolderError as error:
        raise click.UsageError(str(error)) from None
    module = made.modules[0]
    if as_json:
        click.echo(json.dumps({"folder": str(made.root.resolve()), "title": title, "module": module.name}, indent=1))
        return
    click.echo(f"{folder}: {title}, with one small module to replace, {module.name}. Next:\n")
    if folder.resolve() != Path.cwd():
        click.echo(f"  cd {folder}")
    click.echo("  attn dev check")
    click.echo(f"  attn release --bundle {module.slug} --to ../week1")
    click.echo("\nThe README there says what else you can run, and what is secret.")


course.add_command(init)
