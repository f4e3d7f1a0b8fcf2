"""The pytest plugin for a module's checks: `python -m pytest checks.py` tests the student's file in the same folder.

Every pytest run in this environment loads it, so it imports nothing until a check asks for a student.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import numpy as np

    from grader.sandbox.student import Student


MARK = "worth(points, property, target, needs, slow, cpu_s): a check and its points"


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark `worth`."""
    config.addinivalue_line("markers", MARK)


@pytest.fixture(scope="module", name="student")
def student_fixture(request: pytest.FixtureRequest) -> Iterator[Student]:
    """The student's own file, in the folder of the checks."""
    from grader.course.course import find_course
    from grader.grading.argument_checks import change_text
    from grader.grading.load_student import open_student
    from grader.submission.fallbacks import own_with_fallbacks

    folder = Path(request.path).parent
    course = find_course(folder)
    module = course.module(folder.name)
    with open_student(course, module, own_with_fallbacks(course, module)) as student:
        yield student
        session, api = student._session, course.api(module)
        changed = [change_text(change, api) for change in session.record.all_calls.changes.values()]
        if changed:
            pytest.fail(f"a function should leave its arguments as they were: {'; '.join(changed)}", pytrace=False)


@pytest.fixture(name="rng")
def rng_fixture(request: pytest.FixtureRequest) -> np.random.Generator:
    """The random numbers of a visible check, the same as in `attn test` and `attn grade`."""
    from grader.grading.suite import visible_rng

    return visible_rng(Path(request.path).parent.name, request.node.name)
