"""`attn solution`: the reference, after the student's own solution is complete."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.student.current import module_or_current
from cli.ui.arguments import modules_here
from cli.ui.here import course_here
from grader.complexity.meter_words import in_words
from grader.core.errors import StudentError
from grader.core.safe_text import printable, visible
from grader.course.course import Course
from grader.course.module import Module
from grader.course.reference import read_reference
from grader.workspace.progress import progress_of

if TYPE_CHECKING:
    from grader.workspace.own_costs import OwnCost


@click.command()
@click.argument("module_name", metavar="[MODULE]", required=False, shell_complete=modules_here)
@click.option("--anyway", is_flag=True, help="Even if you have not completed the module. It must be published.")
@click.option("--no-costs", is_flag=True, help="Do not measure how your own code differs in cost.")
def solution(module_name: str | None, anyway: bool, no_costs: bool) -> None:
    """Show the reference of a completed module beside your costs.

    \b
    attn solution warm_up    its code with comments, then the costs side by side

    A bundle has no solutions. Your instructor publishes them, and `attn update` takes them. The reference is one way to
    do it, not the only one.

    Exit status: 0 shown, 2 no such module, not complete, or not published yet, 3 a fault of the grader.
    """
    course = course_here()
    module = module_or_current(course, module_name)
    if not progress_of(course, module).completed and not (anyway and course.is_bundle):
        also = " Or use --anyway, if it is published" if course.is_bundle else ""
        raise click.UsageError(f"first finish it yourself: attn complete {module.slug}.{also}")
    text = read_reference(course, module)
    if text is None:
        raise click.UsageError(
            f"the solution of {module.name} is not published yet.\n"
            "When your instructor publishes it, take it with `attn update`"
        )
    click.echo(f"{module.name}: the reference. It is one right way, not the only one.\n")
    click.echo(visible(text).rstrip())
    if module.complexity and not no_costs:
        click.echo("\n".join(["", *_cost_lines(course, module)]))


def _cost_lines(course: Course, module: Module) -> list[str]:
    """Return the costs of the student's functions beside those of the reference."""
    from grader.workspace.own_costs import own_costs  # it imports NumPy: `--help` must not wait for it

    lines = ["What yours costs, and what the reference costs:"]
    try:
        for cost in own_costs(course, module):
            lines += ["", f"  {cost.contract.function}", *_of_function(cost)]
    except StudentError as error:
        lines.append(f"  not measured: {printable(str(error))}")
    return [*lines, "", f"`attn profile {module.slug}` shows how each of them grows."]


def _of_function(cost: OwnCost) -> list[str]:
    lines = []
    for one in cost.measured.costs:
        yours, reference = one.measured or "not measured", str(cost.reference.get(one.meter, "not measured"))
        counted = in_words(one.meter)
        if yours == reference:
            lines.append(f"    {counted}: {yours}, the same")
        else:
            lines += [f"    {counted}", f"      yours      {yours}", f"      reference  {reference}"]
    return lines
