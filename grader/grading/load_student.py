"""Loading of a submission into a worker."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator

from grader.core.errors import StudentEndedError
from grader.core.safe_text import plain_name
from grader.course.api import Api
from grader.course.course import Course
from grader.course.module import CourseError, Module
from grader.sandbox.jail.limits import Limits
from grader.sandbox.jail.tiers import open_spawner
from grader.sandbox.session import Program, Session
from grader.sandbox.student import Student
from grader.submission.submission import Source, Submission

INSTALL = (
    "Run in the folder of the course: python -m pip install -c constraints.txt {name} "
    "(with uvx: uvx --with {name} attnlab; with pipx: pipx inject attnlab {name})"
)


@contextlib.contextmanager
def open_student(course: Course, module: Module, submission: Submission) -> Iterator[Student]:
    """Load one submission outside any suite, for plain pytest."""
    require_backend(module)
    api = course.api(module)
    with open_spawner(module.backend) as spawner:
        session = Session(spawner, program_of(submission, module, api), Limits().with_cpu(module.cpu_s))
        try:
            load(session, module)
            yield Student(session, api)
        finally:
            session.close()


def require_backend(module: Module) -> None:
    """Raise a CourseError if what a module's code imports is not installed. No student is to blame for that."""
    for name in (module.backend, "triton") if module.needs_gpu else (module.backend,):
        if importlib.util.find_spec(name) is None:
            file = module.folder / "module.toml"
            raise CourseError(file, "backend", f"{name} is not installed", INSTALL.format(name=name))


def program_of(submission: Submission, module: Module, api: Api) -> Program:
    """Return what a worker loads for a submission."""
    files = {slug: as_data(source) for slug, source in submission.sources.items()}
    return Program(files, module.slug, api.names)


def load(session: Session, module: Module) -> None:
    """Load a submission. A script that raises is an error. A notebook is one only if it then defines nothing.

    If loading only waited, it is tried once more: the machine may have caused the wait.
    """
    try:
        loaded = session.load()
    except StudentEndedError as error:
        if not error.waited:
            raise
        loaded = session.load()
    tolerant = session.program.files[module.slug]["notebook"] and loaded.defined
    if loaded.errors and not tolerant:
        raise loaded.errors[0]


def as_data(source: Source) -> dict[str, object]:
    """Return a source as a worker loads it."""
    # Bytes, not text: sources belong in a frame's body, whose limit is larger than its header's.
    cells = [cell.encode("utf-8", "surrogatepass") for cell in source.cells]
    data: dict[str, object] = {"file": plain_name(source.file), "cells": cells, "notebook": source.notebook}
    return data | ({"given": True} if source.given else {})
