"""`attn profile`: what a student's code costs, as the polynomial it really has, and where."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.author.dev import chosen
from cli.ui.arguments import svg_file

if TYPE_CHECKING:
    from grader.course.course import Course
    from grader.course.module import Module
    from grader.workspace.own_costs import OwnCost
    from grader.workspace.own_gpu import GpuMeasurement


@click.command()
@click.argument("module_name", metavar="MODULE")
@click.argument("function", metavar="[FUNCTION]", required=False)
@click.option(
    "--svg",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=svg_file,
    help="Also draw the plot into this file.",
)
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", help="cuda: time and memory on a GPU.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def profile(module_name: str, function: str | None, svg: Path | None, device: str, as_json: bool) -> None:
    """Count what your code does, without a clock, and show how that grows.

    \b
    attn profile loop_attention                       every function
    attn profile 2 attention_scores --svg cost.svg    one of them, with a picture
    attn profile gpu_path --device cuda               milliseconds and bytes on the GPU of this machine

    Your functions are run at many small sizes and every step, multiplication and byte is counted. Counts are whole
    numbers, so the polynomial behind them is exact: 2·n²·d is that, on every machine.

    \b
    steps   what Python itself does: loop bodies, calls, elements gone through
    smul    multiplications of single numbers, made by Python
    mul     all multiplications, those inside NumPy included
    flops   two for each multiplication with an addition in a product, one for each entry of other arithmetic
    work    entries of arrays that were read or written
    mem     the most bytes of arrays alive at one time

    Exit status: 0 every cost is within its law, 1 one is not, 2 no such module or function, 3 a fault of the grader.
    """
    from cli.ui.cost_screens import cost_lines
    from grader.core.errors import StudentError
    from grader.core.safe_text import printable
    from grader.course.course import find_course
    from grader.workspace.own_costs import own_costs

    course = find_course(Path.cwd())
    if device == "cuda":
        _on_gpu(course, chosen(course, (module_name,))[0], function, svg, as_json=as_json)
        return
    found = []
    try:
        for cost in own_costs(course, chosen(course, (module_name,))[0], function):
            found.append(cost)
            if not as_json:
                click.echo("\n".join(cost_lines(cost)) + "\n")
    except StudentError as error:
        click.echo(f"Your file could not be loaded: {printable(str(error))}\nMend this first.", err=True)
        sys.exit(1)
    if as_json:
        click.echo(json.dumps([_as_json(cost) for cost in found], indent=1, ensure_ascii=False))
    if svg is not None:
        _draw(found, svg)
    sys.exit(0 if all(one.verdict == "pass" for cost in found for one in cost.measured.costs) else 1)


def _on_gpu(course: Course, module: Module, function: str | None, svg: Path | None, *, as_json: bool) -> None:
    """Measure on the GPU of this machine: nothing there is within or beyond a law, so there is no verdict."""
    from cli.ui.gpu_screens import curves, gpu_lines
    from grader.complexity.plot import svg_plot
    from grader.core.atomic_file import write_atomically
    from grader.core.errors import StudentError
    from grader.core.safe_text import printable
    from grader.core.versions import environment, gpu_name
    from grader.grading.workers import NoGpuError
    from grader.workspace.own_gpu import SIZES, gpu_measurements

    points: list[GpuMeasurement] = []
    try:
        for point in gpu_measurements(course, module, function):
            if not points or points[-1].n != point.n:
                click.echo(f"n = {point.n} of {SIZES[-1]}", err=True)
            points.append(point)
    except StudentError as error:
        click.echo(f"Your file could not be loaded: {printable(str(error))}\nMend this first.", err=True)
        sys.exit(1)
    except NoGpuError as error:
        raise click.UsageError(f"there is no GPU that a worker could use here: {error}") from None
    machine = f"{gpu_name() or 'a GPU'}, torch {environment()['torch']}"
    if as_json:
        found = {"machine": machine, "points": [point.as_json() for point in points]}
        click.echo(json.dumps(found, indent=1, ensure_ascii=False))
    else:
        click.echo(printable("\n".join(gpu_lines(points, machine))))
    if svg is not None:
        drawn = curves(points, lambda one: one.peak_bytes)
        write_atomically(svg, svg_plot(drawn, "n", "bytes", f"{module.name}: memory on {machine}"))
        click.echo(f"drew the memory into {svg}", err=True)


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
    from cli.ui.cost_screens import curves
    from grader.complexity.curves import growing
    from grader.complexity.plot import svg_plot
    from grader.core.atomic_file import write_atomically

    drawn = [(own, meter, lines) for own in found[-1:] for meter, lines in curves(own)]
    if not drawn:
        click.echo("attn: there is no polynomial to draw", err=True)
        return
    own, meter, lines = drawn[0]
    title = f"{own.contract.function}: {meter}"
    write_atomically(path, svg_plot(lines, ", ".join(growing(own.contract)), meter, title))
    click.echo(f"drew {title} into {path}", err=True)
