"""Checks that call on the simulated GPU: one must look at every value, and what cannot be watched is undecided."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader.core.report import CheckResult
from grader.grading.checks import Check
from grader.grading.judge import judge, raised_by
from grader.sandbox.student import Student
from grader.testing import assert_disciplined
from tests.conftest import StudentOf

CHECK = Check("it", "hidden", "f", 2.0, "it holds", None, oracle=False)
DOUBLE = "def f(x):\n    return x * 2\n"
X = torch.ones(2)


def result_of(student: Student, body: Callable[[Student], object]) -> CheckResult:
    return judge(student, [(lambda one: raised_by(lambda: body(one)), CHECK)]).checks[0]


def compared(student: Student) -> None:
    assert_disciplined(student.f.on_device(X), 2 * X, device="cuda")


def test_check_that_compares_passes(student_of: StudentOf) -> None:
    result = result_of(student_of(DOUBLE, "torch"), compared)
    assert (result.outcome, result.earned, result.undecided) == ("passed", 2.0, "")


def test_check_that_never_looks_at_the_value_is_a_fault(student_of: StudentOf) -> None:
    result = result_of(student_of(DOUBLE, "torch"), lambda student: student.f.on_device(X).devices)
    assert (result.outcome, result.earned) == ("grader_fault", None)
    assert "never looks at the value of a call on a GPU" in result.detail


def test_passed_check_with_an_unwatched_call_is_undecided(student_of: StudentOf) -> None:
    lines = "\n".join(["    x.data_ptr()"] * 7)
    result = result_of(student_of(f"def f(x):\n{lines}\n    return x * 2\n", "torch"), compared)
    assert (result.outcome, result.earned) == ("passed", 2.0)
    listed = "; ".join(f"line {n}: the memory of a tensor is read directly" for n in range(2, 7))
    assert result.undecided == f"An instructor must check. On the simulated GPU, {listed}."


def test_failed_check_is_decided(student_of: StudentOf) -> None:
    result = result_of(student_of("def f(x):\n    x.data_ptr()\n    return x\n", "torch"), compared)
    assert (result.outcome, result.undecided) == ("failed", "")
