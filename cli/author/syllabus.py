"""The syllabus as Markdown: `python -m cli.author.syllabus > docs/syllabus.md`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from cli.author.plans import plan_lines
from grader.course.course import Course, find_course
from grader.course.module import Module
from grader.course.objectives import objectives

HEAD = """\
# Syllabus

Generated from `modules/` by `make docs`: change a module's `module.toml` or lesson, not this page. Minutes are
the author's estimate. Points are those given automatically, on any machine. [Prerequisites](prerequisites.md) says what
students should know before, with three short self-checks.

| module | | minutes | points | builds on | library |
|---|---|---|---|---|---|
"""
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


if __name__ == "__main__":
    click.echo(syllabus(find_course(Path.cwd())), nl=False)
