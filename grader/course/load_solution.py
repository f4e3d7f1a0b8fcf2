"""Import of the reference solution into the trusted process."""

from __future__ import annotations

from types import ModuleType

from grader.course.course import Course
from grader.course.earlier import earlier_solutions, importable
from grader.course.load_python import load_python
from grader.course.module import Module, read_text


def load_reference(course: Course, module: Module) -> ModuleType:
    """Import a module's solution, on top of earlier ones. If that fails, it is a CourseError."""
    path, name = course.solution(module), f"_reference_{module.name}"
    sources = earlier_solutions(course, module, read_text(path)) if path.is_file() else {}
    with importable(sources):
        return load_python(path, name, verb="imported", missing="Every module needs a solution", fix="Fix the solution")
