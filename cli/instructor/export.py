"""`attn export`: grades handed on to other platforms."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.author.dev import chosen
from cli.instructor.export_github import github
from cli.instructor.export_options import FILE, FOLDER, NEW, NEW_FOLDER, class_of, json_option, leave, modules_option
from cli.ui.arguments import modules_here

if TYPE_CHECKING:
    from grader.platforms.canvas import IdColumn
    from grader.platforms.gradescope.results import HiddenVisibility


@click.group()
def export() -> None:
    """Hand grades on to other platforms (for instructors).

    \b
    attn export gradescope softmax --out softmax.zip    an autograder to upload
    attn grade class/ --to reports --roster class.csv
    attn export canvas reports --out canvas.csv         grades to import
    attn export csv reports --out grades.csv            one line a student
    attn export junit reports --out reports.xml         for anything that reads test results
    attn export github results reports --out results    GitHub Classroom's runner results
    attn export jplag class/ --out similar              folders for a similarity check

    What was not graded has no score anywhere, never a 0; the exit status is 3 then, and who it is is said.
    """


export.add_command(github)


@export.command()
@click.argument("module_name", metavar="MODULE", shell_complete=modules_here)
@click.option("--out", required=True, type=NEW, help="The zip to write.")
@click.option(
    "--hidden",
    type=click.Choice(["after_published", "after_due_date", "hidden"]),
    default="after_published",
    show_default=True,
    help="When students see the hidden checks: with the grades, after the due date, or never.",
)
@click.option("--leaderboard/--no-leaderboard", default=True, help="Whether counts go to Gradescope's leaderboard.")
@click.option(
    "--minutes",
    type=click.FloatRange(2, 40),
    default=10,
    show_default=True,
    help="The time limit of the assignment in Gradescope; we stop before it.",
)
@click.option("--try/--no-try", "tried", default=True, help="Whether the zip first has to grade the solution here.")
@json_option
def gradescope(
    module_name: str,
    out: Path,
    hidden: HiddenVisibility,
    leaderboard: bool,
    minutes: float,
    tried: bool,
    as_json: bool,
) -> None:
    """Make an autograder for Gradescope: a zip to upload.

    \b
    attn export gradescope softmax --out softmax.zip
    attn export gradescope 5 --out torch.zip --hidden hidden --minutes 20

    It grades as `attn grade` does, with the same checks and the same hidden inputs, in the jail of tier `contained`
    that a container gives. Students see visible checks, costs and the diagnosis at once. If grading fails, or there is
    no jail, the results have no score and say so. Lateness is Gradescope's own to reckon.

    The zip holds the solution, the hidden suite and the course's salt: it is for you and Gradescope alone.

    Exit status: 0 made, 2 a module or an option that cannot be used, 3 it does not give the solution full marks here.
    """
    from grader.course.course import find_course
    from grader.platforms.gradescope.autograder import Settings
    from grader.platforms.gradescope.package import AutograderError, make_autograder, try_autograder, write_autograder
    from grader.platforms.gradescope.results import GradescopeOptions

    course = find_course(Path.cwd())
    module = chosen(course, (module_name,))[0]
    if course.is_bundle:
        raise click.UsageError("this is a student's bundle; an autograder is made from the full course")
    data = make_autograder(course, Settings(module.name, minutes, GradescopeOptions(hidden, leaderboard)))
    if tried:
        click.echo("trying it on the solution ...", err=True)
        try:
            try_autograder(data, course, module)
        except AutograderError as error:
            click.echo(f"attn: nothing was written: {error}", err=True)
            click.echo("attn: if it is this machine that cannot run it, --no-try writes it untried", err=True)
            sys.exit(3)
    write_autograder(data, out)
    made: dict[str, Any] = {"module": module.name, "file": str(out), "bytes": len(data), "points": module.points}
    if as_json:
        click.echo(json.dumps(made, indent=1))
    else:
        click.echo(f"{out}: {module.points:g} points, {len(data) / 1e6:.1f} MB. Keep it secret: the solution is in it.")


@export.command()
@click.argument("reports", type=FOLDER)
@click.option("--out", required=True, type=NEW, help="The file to write.")
@modules_option
@click.option("--roster", type=FILE, help="Canvas's own export of the gradebook; else the roster that was graded by.")
@click.option(
    "--id-column",
    type=click.Choice(["ID", "SIS User ID", "SIS Login ID"]),
    default="SIS Login ID",
    show_default=True,
    help="What the ids of the class are to Canvas, where the roster is not Canvas's own.",
)
@click.option("--assignment", "-a", multiple=True, metavar="MODULE=NAME", help='Such as softmax="Softmax (1234)".')
@json_option
def canvas(
    reports: Path,
    out: Path,
    modules: tuple[str, ...],
    roster: Path | None,
    id_column: IdColumn,
    assignment: tuple[str, ...],
    as_json: bool,
) -> None:
    """Write a file that Canvas's gradebook imports.

    REPORTS is what `attn grade class/ --to REPORTS` wrote; the marks are the final ones, after lateness.

    \b
    attn export canvas reports --out canvas.csv --roster gradebook.csv
    attn export canvas reports --out canvas.csv -m softmax -a softmax="Softmax (1234)"

    Export the gradebook from Canvas first and give it as --roster: it has the ids by which Canvas knows everybody, and
    the names of the assignments with their numbers. Without a number, Canvas asks whether to make a new assignment.
    Whoever has no score has an empty cell, never a 0.

    Exit status: 0 written, 2 something that cannot be used, 3 written, but somebody was not graded or is not on the
    roster.
    """
    from grader.core.atomic_file import write_atomically
    from grader.platforms.canvas import canvas_file
    from grader.platforms.class_list import ExportError

    try:
        found = class_of(reports, modules)
        made = canvas_file(found, _names(assignment), roster or _roster_of(reports), id_column)
    except ExportError as error:
        raise click.UsageError(str(error)) from None
    write_atomically(out, made.text)
    leave({"file": str(out), "modules": list(found.modules), "grades": made.grades}, made.problems, as_json=as_json)


@export.command()
@click.argument("reports", type=FOLDER)
@click.option("--out", required=True, type=NEW, help="The file to write.")
@modules_option
@click.option("--checks", is_flag=True, help="One line a check in place of one line a student.")
@json_option
def csv(reports: Path, out: Path, modules: tuple[str, ...], checks: bool, as_json: bool) -> None:
    """Write a table for a spreadsheet: one line a student, all modules side by side.

    \b
    attn export csv reports --out class.csv
    attn export csv reports --out checks.csv --checks    one line a check, for your own statistics

    `reports/grades.csv` has more of each grade, one line a student and module. What has no score is empty and in no
    sum. Texts that a spreadsheet would run stand behind an apostrophe.

    Exit status: 0 written, 2 something that cannot be used, 3 written, but somebody was not graded.
    """
    from grader.core.atomic_file import write_atomically
    from grader.platforms.class_list import ExportError
    from grader.platforms.csv_tables import checks_table, students_table

    try:
        found = class_of(reports, modules)
        text = checks_table(found) if checks else students_table(found)
    except ExportError as error:
        raise click.UsageError(str(error)) from None
    write_atomically(out, text)
    made = {"file": str(out), "modules": list(found.modules), "students": len(found.by_person())}
    leave(made, found.problems(), as_json=as_json)


@export.command()
@click.argument("reports", type=FOLDER)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The file to write; with --each, a folder.")
@modules_option
@click.option("--each", is_flag=True, help="A file for each student and module, in a new folder.")
@json_option
def junit(reports: Path, out: Path, modules: tuple[str, ...], each: bool, as_json: bool) -> None:
    """Write JUnit's XML, which most of what shows test results can read.

    \b
    attn export junit reports --out class.xml
    attn export junit reports --out xml --each      xml/01_softmax/ana.xml and so on

    A suite is a submission, a case is a check or a cost. A failure is the student's, an error is the grader's, and what
    was not run is skipped. The texts are those that students may read.

    Exit status: 0 written, 2 something that cannot be used, 3 written, but somebody was not graded.
    """
    from grader.core.atomic_file import write_bytes_atomically
    from grader.core.report import file_name
    from grader.platforms.class_list import ExportError
    from grader.platforms.junit import junit_bytes, junit_text
    from grader.platforms.output_folder import new_folder

    try:
        found = class_of(reports, modules)
        if not each:
            if out.is_dir():
                raise ExportError(f"{out} is a folder: name a file, or say --each")
            write_bytes_atomically(out, junit_bytes(junit_text(found.reports())))
        else:
            with new_folder(out) as folder:
                for mark, report in found.reports():
                    path = folder / mark.module / f"{file_name(mark.submission)}.xml"
                    write_bytes_atomically(path, junit_bytes(junit_text([(mark, report)])))
    except ExportError as error:
        raise click.UsageError(str(error)) from None
    count = sum(1 for _ in found.reports())
    leave({"file": str(out), "modules": list(found.modules), "reports": count}, found.problems(), as_json=as_json)


@export.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--out", required=True, type=NEW_FOLDER, help="A new folder.")
@click.option("--module", "-m", "module_name", help="Which module the files are for: 01_softmax, softmax or 1.")
@json_option
def jplag(paths: tuple[Path, ...], out: Path, module_name: str | None, as_json: bool) -> None:
    """Lay submissions out for JPlag, which looks for similar ones.

    PATHS are what `attn grade` takes: scripts, notebooks, zips, or folders <student>/<module>/<file>.

    \b
    attn export jplag class/ --out similar -m softmax
    java -jar jplag.jar -l python3 -bc similar/01_softmax/base-code similar/01_softmax/submissions

    One folder a student, plain Python in it; of a notebook the cells that the student wrote. What everybody was given
    is in base-code, and JPlag leaves it out. The latest attempt counts. Nothing is run, and nothing is sent anywhere.

    Exit status: 0 all are laid out, 2 nothing to lay out, 3 some could not be read, or are no Python.
    """
    import tempfile

    from grader.course.course import find_course
    from grader.platforms.class_list import ExportError
    from grader.platforms.jplag import lay_out
    from grader.platforms.output_folder import new_folder

    course = find_course(Path.cwd())
    module = chosen(course, (module_name,))[0] if module_name else None
    try:
        with new_folder(out) as folder, tempfile.TemporaryDirectory(prefix="attn-") as scratch:
            laid = lay_out(course, paths, module, folder, Path(scratch))
            if not laid.files:
                raise ExportError("there is nothing to lay out at " + ", ".join(map(str, paths)))
    except ExportError as error:
        raise click.UsageError(str(error)) from None
    leave({"file": str(out), "files": laid.files}, laid.problems, as_json=as_json)


def _roster_of(reports: Path) -> Path | None:
    """Return the roster that a class was graded by, if it is still there."""
    from grader.classroom.rules import read_rules

    said = read_rules(reports).roster
    if said is None or not Path(said).is_file():
        return None
    click.echo(f"roster: {said}, as graded by", err=True)
    return Path(said)


def _names(assignment: tuple[str, ...]) -> dict[str, str]:
    """Return what assignments are called, by module."""
    from grader.course.course import find_course

    names: dict[str, str] = {}
    for text in assignment:
        module, equals, name = text.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f"--assignment {text}: say it like softmax='Softmax (1234)'")
        names[chosen(find_course(Path.cwd()), (module,))[0].name] = name.strip()
    return names
