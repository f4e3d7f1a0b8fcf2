"""The syllabus as Markdown: `python -m cli.author.syllabus > docs/syllabus.md`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import click

from cli.ui.here import course_here
from grader.course.course import Course
from grader.course.lesson import objectives
from grader.course.module import Module

HEAD = """\
# Syllabus

Generated from `modules/` by `make docs`: change a module's `module.toml` or lesson, not this page. Minutes are
the author's estimate. Points are those given automatically, on any machine. [Prerequisites](prerequisites.md) says what
students should know before, with three short self-checks.

| module | | minutes | points | builds on | library |
|---|---|---|---|---|---|
"""
SHORT, LONG = 4, 10  # weeks of the two plans
LIBRARIES = {"numpy": "NumPy", "torch": "PyTorch"}


def syllabus(course: Course) -> str:
    """Return the page: a table of the modules, plans for a term, then the objectives of each module."""
    minutes = sum(module.minutes for module in course.modules)
    points = sum(module.points for module in course.modules)
    hours = f"{len(course.modules)} modules, about {round(minutes / 60)} hours"
    rows = [_row(module) for module in course.modules] + [f"| | {hours} | {minutes} | {points:g} | | |"]
    parts = [line for module in course.modules for line in _part(course, module)]
    return HEAD + "\n".join([*rows, "", *plan_lines(course), *parts]).rstrip() + "\n"


def _row(module: Module) -> str:
    builds_on = ", ".join(f"`{name}`" for name in module.requires) or "–"
    cells = (f"[`{module.name}`]({_lesson(module)})", module.title, str(module.minutes), f"{module.points:g}")
    return f"| {' | '.join((*cells, builds_on, LIBRARIES[module.backend]))} |"


def _part(course: Course, module: Module) -> Iterator[str]:
    api = course.api(module)
    yield from (f"## {module.name[:2]} · {module.title}", "", "After it a student can", "")
    yield from (f"- {entry}" for entry in objectives(module) or ["(the lesson does not say yet)"])
    yield from ("", f"They write {', '.join(f'`{name}`' for name in (*api.functions, *api.classes))}.", "")


def _lesson(module: Module) -> str:
    return f"../modules/{module.name}/{module.lesson.name}"


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


if __name__ == "__main__":
    click.echo(syllabus(course_here()), nl=False)
