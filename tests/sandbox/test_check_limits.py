"""A check may have its own limit of CPU time."""

from __future__ import annotations

import pytest

from grader.core.errors import StudentEndedError, StudentGoneError
from grader.sandbox.jail.limits import Limits
from tests.conftest import StudentOf

BUSY = """\
import time


def busy(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return seconds
"""


@pytest.mark.exhaustive
def test_a_check_may_have_more_time_than_the_others(student_of: StudentOf) -> None:
    student = student_of(BUSY, limits=Limits(cpu_s=0.3, endings=5))
    session = student._session
    with session.checking("a", cpu_s=20):
        assert student.busy(0.9) == 0.9
    with session.checking("b"), pytest.raises(StudentEndedError, match="busy did not return in the time allowed"):
        student.busy(0.9)
    assert session._limits.cpu_s == 0.3


def test_its_time_does_not_count_for_the_other_checks(student_of: StudentOf) -> None:
    student = student_of(BUSY, limits=Limits(cpu_s=1.0))
    session = student._session
    session._allowance.take_time(session._limits.with_cpu(100), 10**9)  # as after a very long run
    with session.checking("a", cpu_s=100), pytest.raises(StudentGoneError, match="more than 30000 s in total"):
        student.busy(0.1)
    assert student.busy(0.1) == 0.1


def test_the_limits_of_a_waiting_worker_grow_with_the_cpu_time() -> None:
    assert Limits().with_cpu(30) == Limits(cpu_s=30, wall_s=200, session_s=3000)
    assert Limits().with_cpu(1) == Limits(cpu_s=1)
    assert Limits().with_cpu(None) == Limits()
