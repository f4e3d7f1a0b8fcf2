"""The reference solution, loaded into the trusted process as data: by path, under a name of its own."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from grader.course import Course
from grader.module import CourseError, Module


def load_reference(course: Course, module: Module) -> ModuleType:
    """Import a module's solution; one that cannot be imported is a mistake in the course."""
    path = course.solution(module)
    spec = importlib.util.spec_from_file_location(f"_reference_{module.name}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise CourseError(path, "", "is missing", "Every module needs its solution")
    reference = importlib.util.module_from_spec(spec)
    # No .pyc: an edit within the same second would leave the old solution in force.
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(reference)
    except Exception as error:
        problem = f"cannot be imported: {type(error).__name__}: {error}"
        raise CourseError(path, "", problem, "Mend the solution") from error
    finally:
        sys.dont_write_bytecode = bytecode
    return reference
