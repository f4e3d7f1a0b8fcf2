"""Sessions of code that leaves nothing behind: it keeps its worker, which forgets everything but the program."""

from __future__ import annotations

import pytest

from grader.core.errors import StudentMissingError
from grader.sandbox.session import Session, SessionOptions
from tests.conftest import StudentOf

WARNS = """
import numpy as np

class Kept:
    pass

def keeps():
    return Kept()

def warns(x):
    return np.log(x)
"""


def pid_of(session: Session) -> int | None:
    """Return the process that runs the student's code; None if there is none."""
    return None if session.worker.live is None else session.worker.live.process.pid


def test_code_that_leaves_nothing_keeps_its_worker_but_nothing_else(student_of: StudentOf) -> None:
    student = student_of(WARNS, options=SessionOptions(leaves_nothing=lambda: True))
    session = student._session
    kept, pid = student.keeps(), pid_of(session)
    with session.checking("first"):
        student.warns(0.0)
    assert "RuntimeWarning" in session.record.printed
    with session.checking("second"):
        student.warns(0.0)
        assert session.record.printed.count("RuntimeWarning") == 1  # Python shows a warning once for each line
        assert session.start_afresh()
        assert (pid_of(session), session.worker.generation) == (pid, 1)
        assert not session.worker.owners
        student.warns(0.0)
    assert session.record.printed.count("RuntimeWarning") == 2  # as in a new worker
    with pytest.raises(StudentMissingError, match="its process has ended"):
        kept.get()
    assert student.keeps()._ref[0] == 1  # handles start again


def test_other_code_gets_a_new_worker(student_of: StudentOf) -> None:
    student = student_of(WARNS)
    student.keeps()
    pid = pid_of(student._session)
    student._session.worker.renew()
    student.keeps()
    assert pid_of(student._session) not in (None, pid)


@pytest.mark.parametrize(("leaves_nothing", "returning"), [(True, True), (True, False), (False, True)])
def test_a_plain_worker_waits_while_others_are_metered(
    student_of: StudentOf, leaves_nothing: bool, returning: bool
) -> None:
    student = student_of(WARNS, options=SessionOptions(leaves_nothing=lambda: leaves_nothing))
    session = student._session
    kept, pid = student.keeps(), pid_of(session)
    with session.worker.metered(returning=returning):
        student.warns(1.0)
        assert pid_of(session) not in (None, pid)
    assert not session.worker.owners
    student.warns(1.0)
    assert (pid_of(session) == pid) == (leaves_nothing and returning)
    with pytest.raises(StudentMissingError, match="its process has ended"):
        kept.get()
