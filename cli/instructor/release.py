"""`attn release`: what students receive."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NoReturn

import click

from cli.ui.arguments import chosen, modules_here
from cli.ui.here import course_here
from cli.ui.progress_line import ProofLine
from cli.ui.report_screens import soundness_lines
from grader.authoring.bundle import BundleError, make_bundle, publish_solutions
from grader.core.times import TimeError, read_time
from grader.course.course import Course
from grader.course.engine import ENGINES
from grader.course.module import Module
from grader.platforms.nbgrader import CourseDirError
from grader.platforms.nbgrader.course_dir import require_nbgrader

DEFAULT = "wheel"


@click.command()
@click.argument("modules", nargs=-1, required=True, shell_complete=modules_here)
@click.option("--bundle", is_flag=True, help="A folder for students to unpack: stubs, lessons, visible checks, attn.")
@click.option("--solutions", is_flag=True, help="Publish the solutions: a folder that students take with attn update.")
@click.option(
    "--web",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The course in a browser, with nothing to install: a new folder for any web server.",
)
@click.option(
    "--runtime",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="For --web: a folder with the packages of npm. What it lacks is fetched and kept there.",
)
@click.option("--to", type=click.Path(path_type=Path), help="A course directory; for a bundle, a new folder.")
@click.option("--due", metavar="WHEN", help="When an assignment is due: 2026-10-01, or 2026-10-01T12:00+02:00.")
@click.option(
    "--engine",
    type=click.Choice(tuple(ENGINES)),
    help="How students get attn: a wheel in the release (the default), or this version from the package index.",
)
@click.option("--force", is_flag=True, help="Release an assignment again although students have handed it in.")
@click.option("--json", "as_json", is_flag=True, help="Print what was made as JSON.")
def release(
    modules: tuple[str, ...],
    bundle: bool,
    solutions: bool,
    web: Path | None,
    runtime: Path | None,
    to: Path | None,
    due: str | None,
    engine: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Make what students receive, without solutions and hidden suites.

    \b
    attn release --bundle warm_up --to ../week1               a folder to unpack
    attn release warm_up --to ../classroom --due 2026-10-01   for nbgrader
    attn release --solutions warm_up --to ../week1-solutions  after the due date
    attn release --web ../site warm_up 2                      a page to open

    With --solutions, students can read the reference with `attn solution`, after `attn update` with this folder or a
    zip of it. Nothing else does: bundles and assignments never contain a solution.

    A bundle or an assignment includes the attn command, as a wheel of what is installed here. For the course directory
    of nbgrader, see `attn course`.

    With --web, students open a page and need nothing else: Python and NumPy run in the browser, from pinned packages of
    npm. PyTorch does not. A course can name the modules that may be released so: `web` in course.toml.

    An assignment is a notebook made from the solution. Each function has an answer cell and, below it, a locked cell
    with the visible checks that carries the function's points. The lesson's open question is graded by hand. nbgrader's
    own generate_assignment makes the students' version, in release/.

    Only sound modules are released. Before the result appears, it is searched for lines of the solutions and for hidden
    checks. If one is found, nothing is released and existing files stay as they were.

    Exit status: 0 made, 2 a wrong folder or option, 3 not sound, or it would leak a solution or a hidden check.
    """
    course = course_here()
    wanted = chosen(course, modules)
    if (bundle or solutions or web) and (due or force):
        raise click.UsageError("--due and --force are for assignments, not for a bundle, a web course or solutions")
    if bool(bundle) + bool(solutions) + bool(web) > 1:
        raise click.UsageError("use only one of --bundle, --solutions and --web; solutions are released on their own")
    if engine and (web or solutions):
        raise click.UsageError("--engine is for bundles and assignments: a page has its own, and solutions need none")
    if runtime and not web:
        raise click.UsageError("--runtime is for --web")
    if web and to:
        raise click.UsageError("--web already names the folder: leave --to out")
    if web:
        _web(course, wanted, web, runtime, as_json=as_json)
    elif to is None:
        raise click.UsageError("Missing option '--to'.")
    elif solutions:
        _publish(course, wanted, to, as_json=as_json)
    elif bundle:
        _bundle(course, wanted, to, engine or DEFAULT, as_json=as_json)
    else:
        _assignments(course, wanted, to, due, engine or DEFAULT, force=force, as_json=as_json)


def _publish(course: Course, modules: tuple[Module, ...], to: Path, *, as_json: bool) -> None:
    _require_new_folder(course, to)
    try:
        files = publish_solutions(course, modules, to)
    except BundleError as error:
        _give_up(str(error))
    if as_json:
        entries = zip(modules, files, strict=True)
        click.echo(json.dumps([{"module": module.name, "file": str(file)} for module, file in entries], indent=1))
        return
    names = ", ".join(module.name for module in modules)
    click.echo(f"{to}: the solutions of {names}. Students run: attn update {to.name} (or a zip of it)")


def _web(course: Course, modules: tuple[Module, ...], to: Path, runtime: Path | None, *, as_json: bool) -> None:
    from cli.web.build import WebError, make_web, require_possible  # few need it

    try:
        require_possible(course, modules)  # before anything slow
    except WebError as error:
        raise click.UsageError(str(error)) from None
    _require_new_folder(course, to)
    _require_sound(course, modules)
    click.echo("making the web course ...", err=True)
    try:
        make_web(course, modules, to, runtime)
    except WebError as error:
        _give_up(str(error))
    if as_json:
        click.echo(json.dumps([{"module": module.name, "folder": str(to)} for module in modules], indent=1))
        return
    size = sum(path.stat().st_size for path in to.rglob("*") if path.is_file()) / 1e6
    click.echo(
        f"{to}: {len(modules)} module(s), {size:.1f} MB, no solution, no hidden suite. Put it on any web server."
    )
    click.echo(f"To try it: python -m http.server -d {to}, then open http://localhost:8000")


def _bundle(course: Course, modules: tuple[Module, ...], to: Path, engine: str, *, as_json: bool) -> None:
    _require_new_folder(course, to)
    _require_sound(course, modules)
    try:
        make_bundle(course, modules, to, engine)
    except BundleError as error:
        _give_up(str(error))
    if as_json:
        click.echo(json.dumps([{"module": module.name, "folder": str(to)} for module in modules], indent=1))
        return
    click.echo(f"{to}: {len(modules)} module(s), no solution, no hidden suite. Students start with its README.md.")


def _require_new_folder(course: Course, to: Path) -> None:
    kept = [course.root / name for name in ("modules", "solutions", "tests", "grader", "cli")]
    if any(to.resolve().is_relative_to(folder) for folder in kept):
        raise click.UsageError(f"{to} is inside the course itself; name a folder elsewhere")
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise click.UsageError(f"{to} already exists; name a new folder, or remove it first")


def _assignments(
    course: Course, modules: tuple[Module, ...], to: Path, due: str | None, engine: str, *, force: bool, as_json: bool
) -> None:
    if optional := [one.name for one in modules if one.needs_gpu]:
        raise click.UsageError(f"{', '.join(optional)}: nbgrader has no GPU here. Release it with --bundle")
    try:
        when = read_time(due) if due else None
        require_nbgrader()
        from grader.platforms.nbgrader.release import ReleaseError, release_modules, require_place  # imports nbgrader

        require_place(course, modules, to, force=force)  # before anything slow
        _require_sound(course, modules)
        made = release_modules(course, modules, to, due=when, force=force, engine=engine)
    except (CourseDirError, TimeError) as error:
        raise click.UsageError(str(error)) from None
    except (BundleError, ReleaseError) as error:
        _give_up(str(error))
    if as_json:
        found = [
            {"module": one.module.name, "folder": str(one.folder), "points": one.points, "open_points": one.open_points}
            for one in made
        ]
        click.echo(json.dumps(found, indent=1))
        return
    for one in made:
        points = f"{one.points:g} points, and {one.open_points:g} to be graded by hand"
        click.echo(f"{one.folder}: {points}; no solution, no hidden suite")


def _require_sound(course: Course, modules: tuple[Module, ...]) -> None:
    from grader.authoring.soundness import check_modules  # with NumPy and pytest: `--help` must not wait for them

    with ProofLine() as line:
        results = check_modules(course, modules, line.tell)
    problems = [text for result in results if result.problems for text in soundness_lines(result)]
    for result in results:
        if result.proof.not_run and not result.problems:
            click.echo(f"attn: {result.module.name} was not proved: {result.proof.not_run}", err=True)
    if problems:
        click.echo("\n".join(problems), err=True)
        _give_up("nothing was released: a module that is not sound is not for students")


def _give_up(problem: str) -> NoReturn:
    click.echo(f"attn: {problem}", err=True)
    sys.exit(3)
