"""Building a module: what is generated from its solution, and whether it is up to date."""

from __future__ import annotations

from grader.course import Course
from grader.files import write_atomically
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
        raise CourseError(path, f"line {error.line}", str(error), "Pair every BEGIN with one END") from None


def build_module(course: Course, module: Module) -> bool:
    """Write a module's stub anew; return whether that changed it."""
    text = stub_text(course, module)
    if module.stub.is_file() and module.stub.read_bytes().decode("utf-8", "replace") == text:
        return False
    write_atomically(module.stub, text)
    return True
