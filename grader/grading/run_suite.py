"""Runs of a suite, with pytest or without it."""

from __future__ import annotations

from grader.grading.direct_tests import DirectTest, direct_tests
from grader.grading.judge import RunCheck
from grader.grading.suite import Body, Suite, run_tests, visible_rng


def run_suite(suite: Suite, body: Body) -> None:
    """Collect a module's checks once, and call `body` with a judge that runs them against a student.

    A mistake in the suite is a CourseError, never a student's failure. If a student tests their own file, checks run
    without pytest where possible: its imports would take half of the time.
    """
    plain = direct_tests(suite.visible) if suite.hidden is None else None
    if plain is None:
        from grader.grading.pytest_tests import run_with_pytest  # slow to import

        run_with_pytest(suite, body)
    else:
        run_tests(suite, [(one.test, _run_plainly(suite, one)) for one in plain], body)


def _run_plainly(suite: Suite, one: DirectTest) -> RunCheck:
    return lambda student: one.run(student, visible_rng(suite.module.name, one.test.name))
