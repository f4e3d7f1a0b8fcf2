"""`attn reset`, `attn update` and `attn submit`: begin again, take what is new, hand in."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.author.dev import chosen

if TYPE_CHECKING:
    from grader.course.course import Course
    from grader.course.module import Module
    from grader.workspace.backup import FileChange
    from grader.workspace.submit import ModuleReadiness
    from grader.workspace.update import Update
    from grader.workspace.update_plan import ModuleUpdate


@click.command()
@click.argument("module_name", metavar="MODULE")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--undo", "undoing", is_flag=True, help="Put back what the last reset, or undo, took away.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
def reset(module_name: str, yes: bool, undoing: bool, as_json: bool) -> None:
    """Begin a module again with the stub as it was given out. What you have is kept in a backup.

    \b
    attn reset softmax           asks first
    attn reset softmax --undo    puts your files back; a second time takes that back

    Exit status: 0 done, or nothing to do; 1 you said no; 2 no such module, no backup, or nobody to ask.
    """
    from grader.course.course import find_course
    from grader.workspace import backup

    course = find_course(Path.cwd())
    module = chosen(course, (module_name,))[0]
    if undoing:
        try:
            change = backup.undo(course, module)
        except backup.NoBackupError as error:
            raise click.UsageError(str(error)) from None
        words = "is already as in its newest backup; nothing was done"
    elif backup.is_pristine(module):
        change, words = backup.FileChange((), (), None), "is untouched; there is nothing to reset"
    else:
        if backup.has_files(module) and not yes:
            _ask(f"Put the empty stub of {module.name} back? What you have is kept in a backup.", "--yes")
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
    what = f"back from {change.restored.relative_to(course.root)}" if change.restored else "the empty stub again"
    why = "" if change.restored else ", so that the stub counts"
    lines = [f"{folder / name} is {what}." for name in change.written]
    lines += [f"{folder / name} is removed{why}." for name in change.removed]
    if change.kept:
        lines.append(f"What was there before is kept in {change.kept.relative_to(course.root)}.")
        lines.append(f"To have it back: attn reset {module.slug} --undo")
    return lines


@click.command()
@click.argument("source", metavar="FROM", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
def update(source: Path, as_json: bool) -> None:
    """Take lessons, checks and new modules from a newer bundle, a folder or a zip. Your own work is kept.

    \b
    attn update ~/Downloads/week2.zip

    All of it is taken or, if anything is wrong with it, nothing.

    Exit status: 0 done, 2 not a bundle that can be used here, 3 a file could not be written.
    """
    from dataclasses import asdict

    from grader.course.course import find_course
    from grader.workspace.update import update as take
    from grader.workspace.update_bundle import UpdateError

    course = find_course(Path.cwd())
    try:
        done = take(course, source)
    except UpdateError as error:
        raise click.UsageError(str(error)) from None
    click.echo(json.dumps(asdict(done), indent=1) if as_json else "\n".join(_update_lines(course, done)))


def _update_lines(course: Course, done: Update) -> list[str]:
    lines = [f"{one.name}: {_module_words(one)}" for one in done.modules]
    lines += [f"{one.name}: {_beside_words(one)}" for one in done.modules if one.beside]
    lines += [f"{name}: not in it; left as it is" for name in done.left_alone]
    lines += [f"{name}: updated" for name in done.others]
    if done.install:
        lines.append(f"\nIt comes with another version of attn. In {course.root} run:\n  {done.install}")
    return lines


def _module_words(one: ModuleUpdate) -> str:
    if one.is_new and not one.kept:
        return "new"
    words = [f"updated: {', '.join(one.updated)}" if one.updated else "nothing new"]
    words += [f"{name} was untouched and is the new stub" for name in one.renewed]
    words += [f"your {' and '.join(one.kept)} {'were' if len(one.kept) > 1 else 'was'} kept"] if one.kept else []
    return "; ".join(words)


def _beside_words(one: ModuleUpdate) -> str:
    return f"the stub itself has changed; the new one is {one.beside}, to compare with yours (it is not graded)"


@click.command()
@click.option("--student", help="Your id, as your course knows you; remembered.")
@click.option("--to", type=click.Path(path_type=Path), help="Where to write it, instead of <ID>.zip in this folder.")
@click.option("--anyway", is_flag=True, help="Hand in even if something fails.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found and written as JSON.")
def submit(student: str | None, to: Path | None, anyway: bool, as_json: bool) -> None:
    """Test every module you have worked on, and put them into one zip to hand in.

    \b
    attn submit --student ana    writes ana.zip; the next time `attn submit` will do

    Exit status: 0 written, 1 not written as something fails, 2 a wrong option, 3 a fault of the grader.
    """
    from grader.course.course import find_course
    from grader.workspace import submit as handin
    from grader.workspace.progress import record_student

    course = find_course(Path.cwd())
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
    """Return whose work it is: as said, as remembered, or as asked."""
    from grader.workspace.progress import known_student
    from grader.workspace.submit import checked_student

    name = given if given is not None else known_student(course)
    if not name and given is None:
        if not sys.stdin.isatty():
            raise click.UsageError("say whose work this is: attn submit --student ID")
        name = click.prompt("Your id, as your course knows you", err=True)
    return checked_student(course, name)


def _outcome_lines(one: ModuleReadiness) -> list[str]:
    words = f"{one.passed} of {one.total} visible checks pass"
    if one.state == "untouched":
        words = "not started"
    elif one.problem:
        words = one.problem if one.state != "fault" else f"could not be tested: {one.problem}"
    lines = [f"{one.module.name:<26} {words}"]
    if one.piece is not None and one.piece.behind:
        lines.append(f"  {one.piece.file} is handed in, as it was changed last; {one.piece.behind} is not")
    return lines


def _go_ahead(done: list[ModuleReadiness], *, anyway: bool) -> bool:
    """Whether there is something to hand in, and the student knows what is wrong with it."""
    if not any(one.piece for one in done):
        click.echo("attn: nothing was written: no module has been started", err=True)
        return False
    trouble = [one.module.name for one in done if one.is_trouble]
    if not trouble or anyway:
        return True
    click.echo(f"Not every visible check passes: {', '.join(trouble)}.", err=True)
    if sys.stdin.isatty() and click.confirm("Hand in anyway?", err=True):
        return True
    click.echo("attn: nothing was written; mend it (`attn test` says more), or say --anyway", err=True)
    return False


def _written_words(path: Path, student: str, count: int) -> str:
    words = f"\n{path}: {count} module{'s' if count > 1 else ''} of {student}, read back and found whole.\n"
    words += "Hand in this file as it is, where your course tells you to."
    if path.stem != student:
        words += f"\nIts name says whose it is, and {path.stem} is not {student}: ask before you hand it in so."
    return words


def _ask(question: str, option: str) -> None:
    """Go on only if the student says yes; where there is nobody to ask, that is a usage mistake."""
    if not sys.stdin.isatty():
        raise click.UsageError(f"there is no terminal to ask in: say {option}. Nothing was changed")
    if not click.confirm(question, err=True):
        click.echo("Nothing was changed.", err=True)
        sys.exit(1)
