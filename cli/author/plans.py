"""Plans: the modules of a course over some weeks, as part of the syllabus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from grader.course.course import Course
from grader.course.module import Module

SHORT, LONG = 4, 10  # weeks


def plan_lines(course: Course) -> Iterator[str]:
    """Yield a short plan without PyTorch and a long plan with everything, as far as there are enough modules."""
    numpy = without_torch(course)
    if len(numpy) >= SHORT:
        left_out = [module for module in course.modules if module not in numpy]
        yield from (f"## A plan of {SHORT} weeks, with NumPy only", "")
        if left_out:
            yield f"Optional: {_names(left_out)}. They need PyTorch, and nothing in this plan builds on them."
            yield ""
        yield from _table(numpy, SHORT)
    if len(course.modules) >= LONG:
        yield from (f"## A plan of {LONG} weeks, with everything", "")
        yield from _table(course.modules, LONG)


def without_torch(course: Course) -> tuple[Module, ...]:
    """Return the modules that need no PyTorch, neither themselves nor in what they build on."""
    found: list[Module] = []
    for module in course.modules:  # in their order: what a module requires comes before it
        if module.backend == "numpy" and {*module.requires} <= {one.name for one in found}:
            found.append(module)
    return tuple(found)


@cache
def weeks_of(modules: tuple[Module, ...], weeks: int) -> list[tuple[Module, ...]]:
    """Return the modules of each week: in their order, one or more a week, and as evenly as possible."""
    if weeks == 1:
        return [modules]
    plans = [[*weeks_of(modules[:cut], weeks - 1), modules[cut:]] for cut in range(weeks - 1, len(modules))]
    return min(plans, key=lambda plan: sum(_minutes(week) ** 2 for week in plan))


def _table(modules: tuple[Module, ...], weeks: int) -> Iterator[str]:
    yield from ("| week | modules | minutes |", "|---|---|---|")
    for number, week in enumerate(weeks_of(modules, weeks), 1):
        yield f"| {number} | {_names(week)} | {_minutes(week)} |"
    yield ""


def _names(modules: Sequence[Module]) -> str:
    return ", ".join(f"`{module.name}`" for module in modules)


def _minutes(modules: Sequence[Module]) -> int:
    return sum(module.minutes for module in modules)
