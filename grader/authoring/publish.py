"""Published solutions: the only release that contains them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from grader.authoring.bundle import BundleError
from grader.core.atomic_file import write_atomically
from grader.course.course import Course
from grader.course.module import Module, read_text
from grader.course.reference import published_name, reference_code


def publish_solutions(course: Course, modules: Iterable[Module], to: Path) -> list[Path]:
    """Write the references of some modules into a new folder, in the form that `attn update` takes."""
    if course.is_bundle:
        raise BundleError("this is a bundle: it has no solutions to publish")
    files = []
    for module in modules:
        path = to / published_name(module)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, reference_code(read_text(course.solution(module))))
        files.append(path)
    return files
