"""A suite run against submissions, by pytest or directly."""

from __future__ import annotations

from grader.grading.direct_tests import DirectTest, direct_tests
from grader.grading.judge import RunCheck
from grader.grading.suite import Body, Suite, run_tests, visible_rng


def run_suite(suite: Suite, body: Body) -> None:
    """Collect a module's checks once and hand `body` a judge that runs them against a student.

    A mistake in the suite itself is a CourseError: it is the grader's, whatever the students did. A student's own
    checks are run without pytest where they do not need it: half of their wait would be its imports.
    """
    plain = direct_tests(suite.visible) if suite.hidden is None else None
    if plain is None:
        from grader.grading.pytest_tests import run_with_pytest  # pytest takes a student half of their wait

        run_with_pytest(suite, body)
    else:
        run_tests(suite, [(one.test, _run_plainly(suite, one)) for one in plain], body)


def _run_plainly(suite: Suite, one: DirectTest) -> RunCheck:
    return lambda student: one.run(student, visible_rng(suite.module.name, one.test.name))
