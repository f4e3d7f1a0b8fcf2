"""Import of a course's Python files by path."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from grader.course.module import CourseError


def load_python(path: Path, name: str, *, verb: str, missing: str, fix: str) -> ModuleType:
    """Import a file under a name of its own. A missing file, or one that raises, is a CourseError."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise CourseError(path, "", "is missing", missing)
    module = importlib.util.module_from_spec(spec)
    # No .pyc: after an edit within the same second, Python would load the old one.
    previous, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise CourseError(path, "", f"cannot be {verb}: {type(error).__name__}: {error}", fix) from error
    finally:
        sys.dont_write_bytecode = previous
    return module
