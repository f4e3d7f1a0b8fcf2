"""`attn test`: the visible checks on a student's own file."""

from __future__ import annotations

import json
import sys

import click

from cli.student.current import course_and_module
from cli.student.own_checks import run_checks, save_progress, tell_which_counts, where_to_paste
from cli.student.warm import Answer, ask, is_wanted, start
from cli.ui.arguments import modules_here
from cli.ui.colour import paint
from cli.ui.course_bar import course_bar
from cli.ui.own_screen import own_screen
from cli.ui.progress_line import Pace


@click.command()
@click.argument("module_name", metavar="[MODULE]", required=False, shell_complete=modules_here)
@click.option("--case", default="", metavar="TEXT", help="Run only the checks with TEXT in their name or property.")
@click.option("--all", "everything", is_flag=True, help="Show every check and everything that is wrong.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def test(module_name: str | None, case: str, everything: bool, as_json: bool) -> None:
    """Run the visible checks on your own file.

    \b
    attn test                       the module you are in, or the next one to do
    attn test warm_up               this one; 01_warm_up and 1 mean the same
    attn test PATH                  the module of this file, from any folder
    attn test warm_up --all         every check, and everything that is wrong
    attn test warm_up --case rows   only the checks about rows

    The first thing to fix is explained from what your code does. `attn hint` says more.

    For a module with PyTorch, a process stays ready for ten minutes, so that the next test is quick. ATTN_WARM=0
    in the environment turns this off.

    Exit status: 0 all pass, 1 some fail, 2 no such module or no GPU for it, 3 a fault of the grader.
    """
    course, module = course_and_module(module_name)
    tell_which_counts(module)
    warm = not case and is_wanted(module)
    with Pace(1) as pace:
        answer = ask(course, module, everything=everything, busy=pace.busy) if warm else "busy"
    if not isinstance(answer, Answer):
        report = run_checks(course, module, case)
        if not case:
            save_progress(course, module, report)
        screen = own_screen(
            report, everything=everything or bool(case), python=where_to_paste(module), bar=course_bar(course)
        )
        if answer == "absent":
            start(course, module)
        answer = Answer(screen, report.as_json(), "")
    click.echo(answer.notes, err=True, nl=bool(answer.notes))
    click.echo(json.dumps(answer.report, indent=1) if as_json else paint(answer.screen))
    if answer.report["score"] is None:
        sys.exit(3)
    sys.exit(0 if all(check["outcome"] == "passed" for check in answer.report["checks"]) else 1)
