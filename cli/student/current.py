"""The module that a student is working on."""

from __future__ import annotations

from pathlib import Path

from cli.ui.arguments import is_path, module_named
from cli.ui.here import course_here
from cli.views import is_in_course
from grader.course.course import Course, find_course
from grader.course.module import Module
from grader.workspace.progress import ModuleProgress, all_progress


def module_or_current(course: Course, name: str | None) -> Module:
    """Return the named module, or without a name the current one."""
    return module_named(course, name) if name else current_module(course)


def course_and_module(name: str | None) -> tuple[Course, Module]:
    """Return the module and its course. A path, unlike a name, may be that of a file in a course elsewhere."""
    if name and is_path(name) and not is_in_course():
        path = Path(name).resolve()
        course = find_course(path if path.is_dir() else path.parent)
    else:
        course = course_here()
    return course, module_or_current(course, name)


def current_module(course: Course) -> Module:
    """Return the module whose folder this is, else the next one to do, else the first."""
    here = Path.cwd().resolve()
    for module in course.modules:
        if here.is_relative_to(module.folder):
            return module
    ahead = next_up(all_progress(course))
    return ahead.module if ahead else course.modules[0]


def next_up(found: list[ModuleProgress]) -> ModuleProgress | None:
    """Return the first module that is not complete, or no longer passes."""
    return next((one for one in found if not one.completed or one.state != "passing"), None)
