"""Building a module: the files that are generated from its solution and suites."""

from __future__ import annotations

from pathlib import Path

from grader.authoring.evidence import gather
from grader.authoring.golden_file import golden_data, golden_text, is_fresh
from grader.core.atomic_file import write_atomically
from grader.course.course import Course
from grader.course.module import Module


def build_module(course: Course, module: Module) -> list[Path]:
    """Write a module's stub and golden file anew; return those that changed."""
    stub = course.stub_text(module)
    changed = [module.stub] if _update(module.stub, stub) else []
    golden = golden_data(module, gather(course, module), stub)
    if is_fresh(module, golden):
        return changed
    write_atomically(module.golden, golden_text(golden))
    return [*changed, module.golden]


def is_current(path: Path, text: str) -> bool:
    """Whether a file holds just this text."""
    return path.is_file() and path.read_bytes() == text.encode()


def _update(path: Path, text: str) -> bool:
    if is_current(path, text):
        return False
    write_atomically(path, text)
    return True
