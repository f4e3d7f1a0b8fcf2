"""The bar over the course: how many of its modules are complete."""

from __future__ import annotations

from grader.course.course import Course
from grader.workspace.progress import completed_modules

WIDTH, CELLS = 80, 12  # characters


def course_bar(course: Course) -> str:
    """Return how far the student is in the course; empty in a course of one module."""
    total = len(course.modules)
    if total < 2:
        return ""
    done, cells = len(completed_modules(course)), min(total, CELLS)
    full = cells * done // total
    return f"course {'#' * full}{'-' * (cells - full)} {done} of {total}"


def with_bar(line: str, bar: str) -> str:
    """Return a line with the bar at its right end, if there is room for it."""
    room = WIDTH - len(line) - len(bar)
    return f"{line}{' ' * room}{bar}" if bar and room >= 2 else line


def bar_lines(line: str, bar: str) -> list[str]:
    """Return a line with the bar at its right end; without room for it, the bar has the line above."""
    beside = with_bar(line, bar)
    return [beside] if beside != line or not bar else [bar, line]
