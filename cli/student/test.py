"""What a student runs: `attn`, `attn status`, `attn test` and `attn hint`."""

from __future__ import annotations

import gc
import json
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.author.dev import chosen
from cli.ui.arguments import modules_here
from cli.ui.colour import paint

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.core.report import Report
    from grader.course.course import Course
    from grader.course.module import Module
    from grader.workspace.progress import HintGiven, ModuleProgress

WORDS = {
    "untouched": "not started",
    "started": "changed, not tested yet",
    "failing": "{passed} of {total} visible checks pass",
    "passing": "all {total} visible checks pass",
}


def where_am_i() -> None:
    """Print where the student is and what comes next."""
    from grader.course.course import find_course
    from grader.workspace.progress import all_progress

    course = find_course(Path.cwd())
    ahead = next_up(all_progress(course))
    click.echo(f"AttnLab in {course.root}" + (" (a student's bundle)" if course.is_bundle else " (a full course)"))
    if ahead is None:
        click.echo("Every module is complete. Hand in your work: attn submit")
        return
    click.echo(f"Next: {ahead.module.name}, {ahead.module.title} ({ahead.module.minutes} min): {in_words(ahead)}")
    click.echo("\n".join(what_to_do(course, ahead)))


def what_to_do(course: Course, progress: ModuleProgress) -> list[str]:
    """Return the lesson to read, the file to edit and the command to run."""
    from grader.submission.own_file import own_file

    module = progress.module
    command = "complete" if progress.state == "passing" else "test"
    return [
        f"  read   {module.lesson.relative_to(course.root)}",
        f"  edit   {own_file(module).relative_to(course.root)}",
        f"  run    attn {command} {module.slug}",
    ]


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the standing of every module as JSON.")
def status(as_json: bool) -> None:
    """Show how far you are with every module. Nothing is run: `attn test` does that."""
    from grader.course.course import find_course
    from grader.workspace.progress import all_progress

    found = all_progress(find_course(Path.cwd()))
    if as_json:
        entries = [
            {
                "module": one.module.name,
                "title": one.module.title,
                "state": one.state,
                "completed": one.completed,
                "needs": list(one.missing),
            }
            | ({"passed": one.tested.passed, "total": one.tested.total} if one.tested else {})
            for one in found
        ]
        click.echo(json.dumps(entries, indent=1))
        return
    for one in found:
        click.echo(f"{one.module.name:<20} {in_words(one)}")


@click.command()
@click.argument("module_name", metavar="[MODULE]", required=False, shell_complete=modules_here)
@click.option("--case", default="", metavar="TEXT", help="Run only checks with this in their name or property.")
@click.option("--first", is_flag=True, help="Show only the first check that fails.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def test(module_name: str | None, case: str, first: bool, as_json: bool) -> None:
    """Run the visible checks on your own file.

    \b
    attn test                       the module you are in, or the next one to do
    attn test softmax               this one; 01_softmax and 1 mean the same
    attn test softmax --case rows   only the checks about rows

    The first thing that is wrong is explained below the checks, by what your code does; `attn hint` says more.

    Exit status: 0 all pass, 1 some fail, 2 no such module, 3 a fault of the grader.
    """
    from grader.course.course import find_course

    course = find_course(Path.cwd())
    module = chosen(course, (module_name,))[0] if module_name else current_module(course)
    report = checked(course, module, case)
    from cli.ui.report_screens import own_screen
    from grader.workspace.progress import record_report

    if not case:
        noted(lambda: record_report(course, module, report))
    tell_which_counts(module)
    click.echo(json.dumps(report.as_json(), indent=1) if as_json else paint(own_screen(report, first=first)))
    if report.score is None:
        sys.exit(3)
    sys.exit(0 if all(check.outcome == "passed" for check in report.checks) else 1)


def noted(write: Callable[[], None]) -> None:
    """Note progress; where that cannot be written, the results are still worth showing."""
    try:
        write()
    except OSError as error:
        click.echo(f"attn: your progress could not be noted: {error.strerror or error}", err=True)


def tell_which_counts(module: Module) -> None:
    """Say so where there are two versions of a student's work."""
    from grader.submission.own_file import own_file, stale_twin

    if (older := stale_twin(module)) is not None:
        newer = own_file(module).name
        click.echo(f"attn: {newer} counts: it is newer than {older.name}, and they differ", err=True)


def checked(course: Course, module: Module, case: str = "") -> Report:
    """Run the visible checks; the process they run in starts while this one is still at its imports."""
    from grader.sandbox.jail.tiers import begin_spawner

    begun = begin_spawner(module.backend)
    try:
        gc.disable()  # a tenth of the imports, for garbage that there is none of
        from grader.grading.grade import check_own_file

        gc.enable()
        return check_own_file(course, module, begun, case)
    finally:
        if begun is not None:
            begun.close()


@click.command()
@click.argument("module_name", metavar="[MODULE]", required=False, shell_complete=modules_here)
@click.option("--json", "as_json", is_flag=True, help="Print the hint as JSON.")
def hint(module_name: str | None, as_json: bool) -> None:
    """Get one hint about the first thing that fails: a nudge, then a pointer, then the step worked out.

    \b
    attn test softmax    a hint is about a run that failed,
    attn hint softmax    and the next one comes after an edit and another such run

    Exit status: 0 a hint was given, 1 there is none to give now, 2 no such module.
    """
    from grader.course.course import find_course
    from grader.course.hints import TIERS
    from grader.workspace.progress import next_hint, record_hint

    course = find_course(Path.cwd())
    module = chosen(course, (module_name,))[0] if module_name else current_module(course)
    given = next_hint(course, module)
    if given is None:
        click.echo(f"A hint is about a run that failed. Run `attn test {module.slug}` first.", err=True)
        sys.exit(1)
    told = hint_text(module, given)
    if told is None:
        click.echo(f"There are no hints for {given.function}: the lesson is {module.lesson.name}.", err=True)
        sys.exit(1)
    record_hint(course, module, given)
    function, text = told
    if as_json:
        entry = {"module": module.name, "function": function, "tier": TIERS[given.tier - 1], "hint": text}
        click.echo(json.dumps(entry, indent=1, ensure_ascii=False))
        return
    click.echo("\n".join(hint_lines(module, given, function, text)))


def hint_text(module: Module, given: HintGiven) -> tuple[str, str] | None:
    """Return the function that a hint is about, and the hint."""
    from grader.course.hints import read_hints

    hints = read_hints(module)
    function = given.function if given.function in hints else _stands_for(given.function, tuple(hints))
    return None if function is None else (function, hints[function].tier(given.tier))


def hint_lines(module: Module, given: HintGiven, function: str, text: str) -> list[str]:
    """Return a hint as it is shown."""
    from grader.course.hints import TIERS

    lines = [f"{function}, hint {given.tier} of {len(TIERS)}", ""]
    lines += [click.wrap_text(line, 80, "  ", "  ") for line in text.splitlines()]
    if given.tier < len(TIERS):
        then = f"The next one comes after an edit and another failing `attn test {module.slug}`."
        lines += ["", *textwrap.wrap(then, 78, break_on_hyphens=False)]
    return lines


def _stands_for(target: str, known: tuple[str, ...]) -> str | None:
    """Return the first method with hints of a class that fails as a whole."""
    return next((name for name in known if name.startswith(f"{target}.")), None)


def next_up(found: list[ModuleProgress]) -> ModuleProgress | None:
    """Return the first module that is not complete, or no longer passes."""
    return next((one for one in found if not one.completed or one.state != "passing"), None)


def in_words(progress: ModuleProgress) -> str:
    """Return a standing as a phrase."""
    counts = {} if progress.tested is None else {"passed": progress.tested.passed, "total": progress.tested.total}
    words = WORDS[progress.state].format(**counts)
    if progress.missing and not progress.completed:
        return f"{words}; locked, needs {', '.join(progress.missing)}"
    if progress.completed:
        return f"complete; {words}" if progress.state == "passing" else f"was complete; now {words}"
    return words


def current_module(course: Course) -> Module:
    """Return the module whose folder this is, else the next one to do, else the first."""
    from grader.workspace.progress import all_progress

    here = Path.cwd().resolve()
    for module in course.modules:
        if here.is_relative_to(module.folder):
            return module
    ahead = next_up(all_progress(course))
    return ahead.module if ahead else course.modules[0]
