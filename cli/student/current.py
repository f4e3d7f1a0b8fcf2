"""The module that a student is working on."""

from __future__ import annotations

from pathlib import Path

from cli.ui.arguments import module_named
from grader.course.course import Course
from grader.course.module import Module
from grader.workspace.progress import ModuleProgress, all_progress


def module_or_current(course: Course, name: str | None) -> Module:
    """Return the named module, or without a name the current one."""
    return module_named(course, name) if name else current_module(course)


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
