"""Plain pytest on a module's checks: `python -m pytest checks.py` tests the student's file beside them.

Loaded into every pytest run in this environment, so it imports nothing until a check asks for a student.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import numpy as np

    from grader.student import Student


def pytest_configure(config: pytest.Config) -> None:
    """Make `worth` a mark that pytest knows."""
    config.addinivalue_line("markers", "worth(points, property, target, needs): a check and its points")


@pytest.fixture(scope="module", name="student")
def student_fixture(request: pytest.FixtureRequest) -> Iterator[Student]:
    """The student's own file, beside the checks."""
    from grader.course import find_course
    from grader.grading import open_student
    from grader.submission import find_submissions

    folder = Path(request.path).parent
    course = find_course(folder)
    module = course.module(folder.name)
    (submission,) = find_submissions(course, [module.stub], module).submissions
    with open_student(module, submission) as student:
        yield student


@pytest.fixture(name="rng")
def rng_fixture(request: pytest.FixtureRequest) -> np.random.Generator:
    """The random numbers of a visible check, as `attn test` and `attn grade` draw them."""
    from grader.suite import visible_rng

    return visible_rng(Path(request.path).parent.name, request.node.name)


def pytest_exception_interact(call: pytest.CallInfo[Any]) -> None:
    """Show a failure in student code as one sentence; the traceback of our proxy teaches nobody."""
    from grader.errors import StudentError

    if call.excinfo is not None and isinstance(call.excinfo.value, StudentError):
        call.excinfo.traceback = call.excinfo.traceback[:1]
