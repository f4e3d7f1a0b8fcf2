"""Building a module: the files that are generated from its solution and suites."""

from __future__ import annotations

from pathlib import Path

from grader.course import Course
from grader.evidence import gather
from grader.files import write_atomically
from grader.golden import golden_text
from grader.module import CourseError, Module
from grader.stubs import StubError, make_stub


def stub_text(course: Course, module: Module) -> str:
    """Return the stub that a module's solution gives."""
    path = course.solution(module)
    try:
        return make_stub(path.read_bytes().decode("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(path, "", f"cannot be read: {error}", "Every module needs its solution") from None
    except StubError as error:
        raise CourseError(path, f"line {error.line}", error.problem, "Pair every BEGIN with one END") from None


def build_module(course: Course, module: Module) -> list[Path]:
    """Write a module's stub and golden file anew; return those that changed."""
    stub = stub_text(course, module)
    changed = [module.stub] if _update(module.stub, stub) else []
    golden = golden_text(module, gather(course, module), stub)
    return changed + ([module.golden] if _update(module.golden, golden) else [])


def is_current(path: Path, text: str) -> bool:
    """Whether a file holds just this text."""
    return path.is_file() and path.read_bytes() == text.encode()


def _update(path: Path, text: str) -> bool:
    if is_current(path, text):
        return False
    write_atomically(path, text)
    return True
