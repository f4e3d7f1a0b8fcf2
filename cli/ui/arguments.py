"""Arguments of commands: modules by name, completed by the Tab key, and files to draw into."""

from __future__ import annotations

import os
from pathlib import Path

import click

from cli.ui.here import course_here
from grader.course.course import Course
from grader.course.module import CourseError, Module


def chosen(course: Course, names: tuple[str, ...]) -> tuple[Module, ...]:
    """Return the named modules, each once, or all of them; an unknown name is a usage mistake."""
    return tuple(dict.fromkeys(module_named(course, name) for name in names)) or course.modules


def module_named(course: Course, name: str) -> Module:
    """Return a module by its name, slug or number, or by the path of its file; an unknown one is a usage mistake."""
    if is_path(name):
        path = Path(name).resolve()
        for module in course.all_modules:
            if path.is_relative_to(module.folder.resolve()):
                return module
        raise click.UsageError(f"{name} is not in the folder of a module. Your files are in {course.root / 'modules'}")
    if "/" in name:
        raise click.UsageError(f"there is no file {name}")
    try:
        return course.module(name)
    except CourseError as error:
        raise click.UsageError(f"{error.problem}. {error.fix}") from None  # without the path: it is not at fault


def is_path(name: str) -> bool:
    """Whether an argument names a file or folder that exists, and not just a word."""
    return ("/" in name or os.sep in name or Path(name).suffix in (".py", ".ipynb")) and Path(name).exists()


def modules_here(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the modules of the course in this folder that begin as typed."""
    del context, parameter
    try:
        course = course_here()
    except CourseError:
        return []
    names = [name for module in (*course.modules, *course.optional) for name in (module.slug, module.name)]
    return [name for name in names if name.startswith(incomplete)]


def functions_here(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the functions with a contract, of the module that was typed before, that begin as typed."""
    del parameter
    try:
        module = course_here().module(str(context.params.get("module_name", "")))
    except CourseError:
        return []
    return [name for name in module.complexity if name.startswith(incomplete)]


def svg_file(context: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    """Refuse to overwrite anything that is not a drawing."""
    del context
    if path is None:
        return None
    if path.suffix.lower() != ".svg":
        raise click.BadParameter(f"{path} must end in .svg", param=parameter)
    if not path.parent.is_dir():
        raise click.BadParameter(f"there is no folder {path.parent}", param=parameter)
    if path.exists() and not path.read_bytes()[:200].lstrip().startswith((b"<svg", b"<?xml")):
        raise click.BadParameter(f"{path} already exists and is not a drawing", param=parameter)
    return path
