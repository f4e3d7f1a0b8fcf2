"""Python files of a course, imported by their path under a name of their own."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from grader.course.module import CourseError


def load_python(path: Path, name: str, *, verb: str, missing: str, fix: str) -> ModuleType:
    """Run a file and return it as a module; one that is not there, or raises, is a mistake in the course."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise CourseError(path, "", "is missing", missing)
    module = importlib.util.module_from_spec(spec)
    # No .pyc: an edit within the same second would leave the old file in force.
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise CourseError(path, "", f"cannot be {verb}: {type(error).__name__}: {error}", fix) from error
    finally:
        sys.dont_write_bytecode = bytecode
    return module
