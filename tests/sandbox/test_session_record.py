"""The record of calls: changed arguments, as a worker reports them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from grader.core.errors import StudentError
from grader.sandbox.protocol.replies import MalformedError
from grader.sandbox.session_record import CallRecord, Change
from grader.sandbox.student import Student, arguments
from tests.conftest import StudentOf

SOURCE = """
import numpy as np

def right(x, mask=None):
    return x + 1

def wrong(x, mask=None):
    if mask is not None:
        mask[0] = 0
    return x + 1

def raises(x):
    x += 1
    raise ValueError("no")

class Head:
    def __init__(self, sizes):
        sizes.append(1)

    def step(self, x):
        x += 1
        return x
"""
TORCH = """
import torch

def scale(x, factor=None):
    x.data.mul_(2)
    return x * 1

class Layer(torch.nn.Module):
    def forward(self, x):
        with torch.no_grad():
            x.zero_()
        return x * 1
"""


def changes(student: Student) -> dict[str, Change]:
    return student._session.record.all_calls.changes


def test_changes_of_every_kind_of_call(student_of: StudentOf) -> None:
    student = student_of(SOURCE)
    x = np.ones(2)
    student.right(x)
    student.wrong(x)
    assert changes(student) == {}
    with student._session.checking("a_check"):
        student.wrong.call_many([arguments(x), arguments(x, np.ones(2)), arguments(x)])
    assert changes(student) == {"wrong": Change("wrong", 1, "a_check")}
    with pytest.raises(StudentError):
        student.raises(x)
    student.Head.made([2]).step(x)
    assert changes(student)["raises"] == Change("raises", 0, "a_check")
    assert changes(student)["Head"] == Change("Head", 0, "a_check")  # the constructor came first
    assert student._session.record.calls.returned == {"right", "wrong", "Head"}


def test_changes_of_torch_calls(student_of: StudentOf) -> None:
    student = student_of(TORCH, "torch")
    student.scale.vjp(torch.ones(2), cotangent=torch.ones(2))
    assert changes(student) == {"scale": Change("scale", 0, "")}
    student = student_of(TORCH, "torch")
    student.scale.on_device(torch.ones(2), factor=None)
    assert changes(student) == {"scale": Change("scale", 0, "")}
    student = student_of(TORCH, "torch")
    student.Layer.made()(torch.ones(2))
    assert changes(student) == {"Layer": Change("Layer.__call__", 0, "")}


def test_a_fresh_start_forgets_the_changes_of_its_check(student_of: StudentOf) -> None:
    student = student_of(SOURCE)
    student.right(np.ones(2))
    session = student._session
    with session.checking("a_check"):
        student.wrong(np.ones(2), mask=np.ones(2))
        assert session.record.has_new_change
        assert session.start_afresh()
    assert changes(student) == {}


CALL = {"op": "call", "ref": [0, ["f"]], "calls": [[[1, 2], {"mask": 3}]]}
MALFORMED: list[Any] = [
    None,
    {},
    [1],
    [[0]],
    [[0, 2]],
    [[0, "x"]],
    [[1, 0]],
    [[-1, 0]],
    [[0, True]],
    [[0, 0.0]],
    [[0, 0]] * 101,
]


@pytest.mark.parametrize("changed", MALFORMED)
def test_a_worker_can_name_only_what_it_was_sent(changed: Any) -> None:
    with pytest.raises(MalformedError):
        CallRecord().note(changed, [CALL], "f", "")


def test_requests_that_are_not_watched_change_nothing() -> None:
    for request in ({"op": "probe", "calls": [[0, [], {}, None, None]]}, {"op": "load", "files": {}}):
        with pytest.raises(MalformedError):
            CallRecord().note([[0, 0]], [request], "f", "")
