"""The reference solution, loaded into the trusted process as data: by path, under a name of its own."""

from __future__ import annotations

from types import ModuleType

from grader.course.course import Course
from grader.course.load_python import load_python
from grader.course.module import Module


def load_reference(course: Course, module: Module) -> ModuleType:
    """Import a module's solution; one that cannot be imported is a mistake in the course."""
    path, name = course.solution(module), f"_reference_{module.name}"
    return load_python(path, name, verb="imported", missing="Every module needs its solution", fix="Mend the solution")
