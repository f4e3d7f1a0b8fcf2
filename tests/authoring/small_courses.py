"""Small complete courses in tests/data/courses/, copied to a folder that a test may change, and built there."""

from __future__ import annotations

import shutil
from pathlib import Path

from grader.authoring.build import build_modules
from grader.authoring.soundness import check_modules
from grader.course.course import Course, read_course

COURSES = Path(__file__).parent.parent / "data" / "courses"


def copied(name: str, to: Path) -> Course:
    """Copy a small course, without its generated files."""
    return read_course(shutil.copytree(COURSES / name, to / name))


def built(name: str, to: Path) -> Course:
    """Copy a small course and write its generated files."""
    course = copied(name, to)
    assert not any(one.error for one in build_modules(course, course.modules).values())
    return course


def problems(course: Course, module: str) -> str:
    """Return all problems of a module as one text."""
    (result,) = check_modules(course, [course.module(module)])
    return "\n".join(f"{problem.what} | {problem.fix}" for problem in result.problems)


def edit(path: Path, old: str, new: str) -> None:
    """Replace a text in a file, which must be there."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
