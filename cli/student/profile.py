"""`attn profile`: what a student's code costs, and where."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from cli.ui import cost_screens, gpu_screens
from cli.ui.arguments import functions_here, module_named, modules_here, svg_file
from cli.ui.colour import paint
from cli.ui.course_bar import course_bar, with_bar
from cli.ui.here import course_here
from cli.ui.profile_screen import profile_screen
from cli.ui.progress_line import Pace
from grader.complexity.curves import svg_plot
from grader.core.atomic_file import write_atomically
from grader.core.errors import StudentError
from grader.core.json_record import json_text
from grader.core.machine import environment, gpu_name
from grader.core.safe_text import printable
from grader.course.course import Course
from grader.course.module import Module
from grader.grading.workers import NoGpuError
from grader.submission.own_file import own_file
from grader.workspace.own_costs import OwnCost, own_costs
from grader.workspace.own_gpu import SIZES, GpuMeasurement, gpu_measurements


@click.command()
@click.argument("module_name", metavar="MODULE", shell_complete=modules_here)
@click.argument("function", metavar="[FUNCTION]", required=False, shell_complete=functions_here)
@click.option(
    "--svg",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=svg_file,
    help="Also draw the plot into this file.",
)
@click.option("--all", "everything", is_flag=True, help="Show every number, with plots and tables.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", help="cuda: time and memory on a GPU.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def profile(
    module_name: str, function: str | None, svg: Path | None, device: str, everything: bool, as_json: bool
) -> None:
    """Count what your code does, and show how that grows. No clock is used.

    \b
    attn profile warm_up                    every function
    attn profile warm_up --svg cost.svg     with a picture
    attn profile warm_up --device cuda      time and memory on a GPU
    attn profile warm_up --all              every number, with plots

    Your functions run at many small sizes, and everything they do is counted: rounds of Python loops, multiplications,
    entries that are computed, and memory. Counts are whole numbers, so the formula behind them is exact: 2·n²·d is the
    same on every machine.

    Exit status: 0 every cost is OK, 1 one is not, 2 no such module or function, 3 a fault of the grader.
    """
    course = course_here()
    module = module_named(course, module_name)
    if device == "cuda":
        _on_gpu(course, module, function, svg, as_json=as_json)
        return
    found = []
    in_full = everything and not as_json
    try:
        with Pace(1) as pace:
            for cost in own_costs(course, module, function, pace.busy):
                pace.clear()
                found.append(cost)
                if in_full and len(found) == 1:
                    click.echo(f"{cost_screens.HOW_TO_READ}\n")
                if in_full:
                    click.echo("\n".join(cost_screens.cost_lines(cost)) + "\n")
    except StudentError as error:
        _not_loaded(error)
    if not everything and not as_json:
        head, command = f"{module.name} · {own_file(module).name}", f"attn profile {module.slug}"
        head = with_bar(head, course_bar(course))
        alone = f"{command} {function}"
        lines = cost_screens.short_lines(found[0], alone) if function and len(found) == 1 else None
        click.echo(paint("\n".join(lines) if lines else profile_screen(found, head, command)))
    if as_json:
        click.echo(json_text([_as_json(cost) for cost in found]))
    if svg is not None:
        _draw(found, svg)
    sys.exit(0 if all(one.verdict == "pass" for cost in found for one in cost.measured.costs) else 1)


def _on_gpu(course: Course, module: Module, function: str | None, svg: Path | None, *, as_json: bool) -> None:
    """Measure on the GPU of this machine; these numbers are shown, not judged."""
    points: list[GpuMeasurement] = []
    try:
        for point in gpu_measurements(course, module, function):
            if not points or points[-1].n != point.n:
                click.echo(f"n = {point.n} of {SIZES[-1]}", err=True)
            points.append(point)
    except StudentError as error:
        _not_loaded(error)
    except NoGpuError as error:
        raise click.UsageError(f"no worker can use a GPU here: {error}") from None
    machine = f"{gpu_name() or 'a GPU'}, torch {environment()['torch']}"
    if as_json:
        found = {"machine": machine, "points": [point.as_json() for point in points]}
        click.echo(json_text(found))
    else:
        click.echo(printable("\n".join(gpu_screens.gpu_lines(points, machine))))
    if svg is not None:
        drawn = gpu_screens.curves(points, lambda one: one.peak_bytes)
        write_atomically(svg, svg_plot(drawn, "n", "bytes", f"{module.name}: memory on {machine}"))
        click.echo(f"drew the memory into {svg}", err=True)


def _not_loaded(error: StudentError) -> NoReturn:
    click.echo(f"Your file could not be loaded: {printable(str(error))}\nFix this first.", err=True)
    sys.exit(1)


def _as_json(own: OwnCost) -> dict[str, Any]:
    return {
        "function": own.contract.function,
        "likely": own.likely or None,
        "costs": [
            {
                "meter": cost.meter,
                "law": cost.law,
                "measured": cost.measured,
                "reference": str(own.reference[cost.meter]) if cost.meter in own.reference else None,
                "verdict": cost.verdict,
                "line": cost.place.line if cost.place else None,
                "message": cost.message,
            }
            for cost in own.measured.costs
        ],
        "forbidden": [
            {"call": one.event.call, "line": one.event.place.line, "why": one.why} for one in own.measured.forbidden
        ],
    }


def _draw(found: list[OwnCost], path: Path) -> None:
    drawn = [(own, *one) for own in found[-1:] for one in cost_screens.curves(own)]
    if not drawn:
        click.echo("attn: there is no polynomial to draw", err=True)
        return
    own, meter, grows, lines = drawn[0]
    title = f"{own.contract.function}: {meter}"
    write_atomically(path, svg_plot(lines, ", ".join(grows), meter, title))
    click.echo(f"drew {title} into {path}", err=True)
