"""Names that are typed: modules, for the Tab key, and files that may be drawn into."""

from __future__ import annotations

from pathlib import Path

import click


def svg_file(context: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    """Refuse to draw over anything that is not a drawing."""
    del context
    if path is None:
        return None
    if path.suffix.lower() != ".svg":
        raise click.BadParameter(f"{path} is no name of a drawing; it should end in .svg", param=parameter)
    if not path.parent.is_dir():
        raise click.BadParameter(f"there is no folder {path.parent}", param=parameter)
    if path.exists() and not path.read_bytes()[:200].lstrip().startswith((b"<svg", b"<?xml")):
        raise click.BadParameter(f"{path} is there already, and is no drawing", param=parameter)
    return path


def modules_here(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the modules of the course one is in that begin as typed."""
    del context, parameter
    from grader.course.course import find_course
    from grader.course.module import CourseError

    try:
        modules = find_course(Path.cwd()).modules
    except CourseError:
        return []
    names = [name for module in modules for name in (module.slug, module.name)]
    return [name for name in names if name.startswith(incomplete)]
