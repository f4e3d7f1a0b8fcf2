"""Names of modules, for the shell's Tab key."""

from __future__ import annotations

from pathlib import Path

import click


def modules_here(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the modules of the course one is in that begin as typed."""
    del context, parameter
    from grader.course import find_course
    from grader.module import CourseError

    try:
        modules = find_course(Path.cwd()).modules
    except CourseError:
        return []
    names = [name for module in modules for name in (module.slug, module.name)]
    return [name for name in names if name.startswith(incomplete)]
