"""`attn submit`: the zip to hand in."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from cli.ui.here import course_here
from cli.ui.report_screens import wrapped
from grader.course.course import Course
from grader.workspace import submit as handin
from grader.workspace.progress import known_student, record_student
from grader.workspace.submit import ModuleReadiness, checked_student


@click.command()
@click.option("--student", help="Your id in the course; it is remembered.")
@click.option(
    "--to", type=click.Path(path_type=Path), help="Where to write the zip; by default <ID>.zip in this folder."
)
@click.option("--anyway", is_flag=True, help="Write the zip even if something fails.")
@click.option("--json", "as_json", is_flag=True, help="Print the results and the file written as JSON.")
def submit(student: str | None, to: Path | None, anyway: bool, as_json: bool) -> None:
    """Test your modules and put them into one zip to hand in. Only modules that you have begun are in it.

    \b
    attn submit --student ana    writes ana.zip; next time: attn submit

    Exit status: 0 written, 1 not written because something fails, 2 a wrong option, 3 a fault of the grader.
    """
    course = course_here()
    try:
        name = _student(course, student)
        path = handin.checked_target(to or Path(), name)
    except (handin.StudentNameError, handin.TargetError) as error:
        raise click.UsageError(str(error)) from None
    record_student(course, name)
    done: list[ModuleReadiness] = []
    try:
        for one in handin.check_modules(course, name, handin.files_to_submit(course)):
            done.append(one)
            if not as_json:
                click.echo("\n".join(_outcome_lines(one)))
    except handin.NotHandedInError as error:
        click.echo(f"attn: nothing was written: {error}", err=True)
        sys.exit(1)
    written = _go_ahead(done, anyway=anyway)
    manifest = handin.write_zip(path, name, done) if written else handin.manifest_of(name, done)
    if as_json:
        troubles = {one.module.name: one.problem or one.state for one in done if one.is_trouble}
        entry = {"written": str(path) if written else None, "manifest": manifest, "trouble": troubles}
        click.echo(json.dumps(entry, indent=1))
    elif written:
        click.echo(_written_words(path, name, len(manifest["modules"])))
    if not written:
        sys.exit(3 if any(one.state == "fault" for one in done) else 1)


def _student(course: Course, given: str | None) -> str:
    """Return the student's id: as given, as remembered, or as typed now."""
    name = given if given is not None else known_student(course)
    if not name and given is None:
        if not sys.stdin.isatty():
            raise click.UsageError("your id is needed: attn submit --student ID")
        name = click.prompt("Your id in the course", err=True)
    return checked_student(course, name)


def _outcome_lines(one: ModuleReadiness) -> list[str]:
    words = f"{one.passed} of {one.total} visible checks pass"
    if one.state == "untouched":
        words = "not started"
    elif one.problem:
        words = one.problem if one.state != "fault" else f"could not be tested: {one.problem}"
    lines = [f"{one.module.name:<26} {words}"]
    if one.piece is not None and one.piece.behind:
        lines.append(f"  in the zip: {one.piece.file} (newer than {one.piece.behind})")
    return lines + [wrapped(item, "  open: ") for item in one.open_items]


def _go_ahead(done: list[ModuleReadiness], *, anyway: bool) -> bool:
    """Whether there is something to hand in, and the student accepts what fails."""
    if not any(one.piece for one in done):
        click.echo("attn: nothing was written: no module has been started", err=True)
        return False
    trouble = [one.module.name for one in done if one.is_trouble]
    if not trouble or anyway:
        return True
    click.echo(f"Not every visible check passes: {', '.join(trouble)}.", err=True)
    if sys.stdin.isatty() and click.confirm("Hand in anyway?", err=True):
        return True
    click.echo("attn: nothing was written. Fix it (`attn test` says more), or use --anyway", err=True)
    return False


def _written_words(path: Path, student: str, count: int) -> str:
    words = f"\n{path}: {count} module{'s' if count > 1 else ''} of {student}; the zip was read back and is complete.\n"
    words += "Hand in this file where your course tells you to. Do not change it."
    if path.stem != student:
        words += f"\nThe file name should be the student's id, but {path.stem} is not {student}."
        words += "\nAsk before you hand it in under this name."
    return words
