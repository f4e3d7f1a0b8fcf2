"""The proxy for a student's functions, classes and constants, as the trusted side uses it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from grader.core.errors import StudentEndedError, StudentMissingError, StudentRaisedError, StudentReturnedError
from grader.sandbox.student import arguments
from tests.conftest import StudentOf

FUNCTIONS = """
import numpy as np

def echo(*args, **kwargs):
    return args, kwargs

def double(x):
    return 2 * x

def fill(x, value=0.0):
    x[...] = value
    return x.sum()

def fail(kind):
    raise kind_of(kind)("no " + kind)

def kind_of(kind):
    return {"value": ValueError, "exit": SystemExit, "break": KeyboardInterrupt}[kind]

def shout():
    print("hello from the student")

CONSTANT = {"answer": (42, None)}
"""

CLASSES = """
class Counter:
    def __init__(self, start=0):
        self.total = start
        self.child = object()

    def add(self, amount, times=1):
        self.total += amount * times
        return self.total

    def me(self):
        return self

    def same(self, other):
        return other is self

from typing import NamedTuple

class Pair(NamedTuple):
    width: int

    def twice(self, x):
        return 2 * self.width * x

def pair():
    return Pair(3)
"""

TORCH = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, 2)

    def forward(self, x, scale=1.0):
        return self.proj(x) * scale, x.sum()

def square(x, mask=None):
    return x * x if mask is None else x * x * mask

def cut(x, y):
    return x * y.detach()

def detached(x):
    return (x * x).detach()
"""


def test_values_of_every_kind_pass_through_a_call(student_of: StudentOf) -> None:
    student = student_of(FUNCTIONS)
    array = np.arange(6.0, dtype=np.float32).reshape(2, 3).T
    args, kwargs = student.echo(array, None, (1, [2.5]), flag=True, names={"a": "b"})
    np.testing.assert_array_equal(args[0], array)
    assert args[0].dtype == np.float32
    assert args[1:] == (None, (1, [2.5]))
    assert kwargs == {"flag": True, "names": {"a": "b"}}


def test_constants_are_values_and_missing_names_fail_the_student(student_of: StudentOf) -> None:
    student = student_of(FUNCTIONS)
    assert student.CONSTANT == {"answer": (42, None)}
    with pytest.raises(StudentMissingError, match="REFLECT_X is not defined"):
        _ = student.REFLECT_X


def test_many_calls_take_one_round_trip(student_of: StudentOf) -> None:
    student = student_of(FUNCTIONS)
    before = student._session._serial
    results = student.double.call_many([arguments(i) for i in range(50)])
    assert results == [2 * i for i in range(50)]
    assert student._session._serial == before + 1


def test_the_first_failing_call_of_many_raises(student_of: StudentOf) -> None:
    with pytest.raises(StudentRaisedError, match="double raised TypeError"):
        student_of(FUNCTIONS).double.call_many([arguments(1), arguments(None), arguments(2)])


def test_inputs_after_the_call_show_what_it_modified(student_of: StudentOf) -> None:
    x = np.ones((2, 2))
    call = student_of(FUNCTIONS).fill.call(x, value=3.0)
    assert call.value == 12.0
    np.testing.assert_array_equal(call.args[0], np.full((2, 2), 3.0))
    assert call.kwargs == {"value": 3.0}
    np.testing.assert_array_equal(x, np.ones((2, 2)))  # the trusted side's own array never changes


@pytest.mark.parametrize(
    ("kind", "name"), [("value", "ValueError"), ("exit", "SystemExit"), ("break", "KeyboardInterrupt")]
)
def test_exception_has_its_types_message_and_line(student_of: StudentOf, kind: str, name: str) -> None:
    student = student_of(FUNCTIONS)
    with pytest.raises(StudentRaisedError) as caught:
        student.fail(kind)
    assert caught.value.types[0] == name
    assert caught.value.message == f"no {kind}"
    assert (caught.value.file, caught.value.line) == ("work.py", 15)
    assert "grader" not in caught.value.traceback
    assert student.double(2) == 4  # the worker still works


def test_student_prints_are_captured(student_of: StudentOf) -> None:
    student = student_of(FUNCTIONS)
    student.shout()
    assert student._session.record.printed == "hello from the student\n"


def test_objects_stay_in_the_worker_and_are_used_by_handle(student_of: StudentOf) -> None:
    student = student_of(CLASSES)
    counter = student.Counter(start=10)
    other = student.Counter()
    assert counter.add(5, times=2) == 20
    assert (counter.total, other.total) == (20, 0)
    assert repr(counter) == "<the student's Counter>"
    assert counter.me().add(1) == 21
    assert counter.same(counter) is True
    assert counter.same(other) is False
    assert repr(counter.child) == "<the student's object>"


def test_a_part_of_a_result_stays_in_the_worker(student_of: StudentOf) -> None:
    student = student_of("""
from typing import NamedTuple

class State(NamedTuple):
    numbers: list

def step(state, number):
    numbers = [] if state is None else state.numbers
    numbers.append(number)
    return State(numbers), sum(numbers)

def alone():
    return 3
""")
    state, total = student.step.call_keeping(0, None, 2)
    assert total == 2
    assert student.step.call_keeping(0, state, number=5)[1] == 7  # a plain tuple would have no `numbers`
    assert student.alone.call_keeping(0) == 3


def test_missing_method_fails_the_student(student_of: StudentOf) -> None:
    counter = student_of(CLASSES).Counter()
    with pytest.raises(StudentMissingError, match="subtract is not defined"):
        counter.subtract(1)
    with pytest.raises(StudentRaisedError, match="not callable"):
        counter.child()


def test_numpy_and_pytest_cannot_reach_the_worker_through_a_handle(student_of: StudentOf) -> None:
    counter = student_of(CLASSES).Counter()
    array = np.asarray(counter, dtype=object)
    assert array.shape == ()
    assert counter != 3
    with pytest.raises(AttributeError):
        counter.__array__()


def test_handle_ends_with_its_worker(student_of: StudentOf) -> None:
    student = student_of(CLASSES + "\nimport os\ndef die():\n    os._exit(3)\n")
    counter = student.Counter()
    with pytest.raises(StudentEndedError):
        student.die()
    with pytest.raises(StudentMissingError, match="is gone"):
        counter.add(1)
    assert student.Counter().total == 0  # in a new worker, which may use the same handle again
    with pytest.raises(StudentMissingError, match="is gone"):
        counter.add(1)


def test_name_cannot_be_passed_as_an_object(student_of: StudentOf) -> None:
    student = student_of(FUNCTIONS)
    with pytest.raises(TypeError, match="a name"):
        student.double(student.echo)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("(lambda x: (x.append(x), x)[1])([])", "contains itself"),
        ("np.lib.stride_tricks.as_strided(np.ones(1), (2**38, 12), (0, 0))", "24 TiB"),
        ("10**200000", "bits"),
        ("list(range(10**5))", "parts"),
        ("'x' * 10**7", "bytes"),
    ],
)
def test_results_that_cannot_be_sent_fail_the_student(student_of: StudentOf, expression: str, reason: str) -> None:
    student = student_of(f"import numpy as np\ndef f():\n    return {expression}\ndef ok():\n    return 1\n")
    with pytest.raises(StudentReturnedError, match=reason):
        student.f()
    assert student.ok() == 1


def test_function_replaced_by_a_number(student_of: StudentOf) -> None:
    student = student_of("def f():\n    pass\nf = 3\n")
    with pytest.raises(StudentRaisedError, match="not callable"):
        student.f()


def test_tuple_instance_keeps_its_methods(student_of: StudentOf) -> None:
    student = student_of(CLASSES)
    made = student.Pair(4)
    assert made.twice(10) == 80
    assert repr(made) == "<the student's Pair>"  # and not mylab.work.Pair
    assert student.pair() == (3,)  # as a result, it is sent as a plain tuple


class TestTorch:
    """Tensors, modules, parameters and gradients through the proxy."""

    def test_tensors_and_modules(self, student_of: StudentOf) -> None:
        net = student_of(TORCH, "torch").Net(3)
        parameters = net.parameters()
        assert {name: tuple(p.shape) for name, p in parameters.items()} == {
            "proj.weight": (2, 3),
            "proj.bias": (2,),
        }
        x = torch.arange(6.0).reshape(2, 3)
        output, total = net(x, scale=2.0)
        expected = 2 * (x @ parameters["proj.weight"].T + parameters["proj.bias"])
        torch.testing.assert_close(output, expected)
        assert total.item() == 15.0
        assert output.requires_grad
        net.load_state_dict({"proj.weight": torch.zeros(2, 3), "proj.bias": torch.ones(2)})
        assert net(x)[0].tolist() == [[1.0, 1.0], [1.0, 1.0]]

    def test_vjp_of_a_function(self, student_of: StudentOf) -> None:
        student = student_of(TORCH, "torch")
        x, cotangent = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])
        result = student.square.vjp(x, mask=torch.tensor([1.0, 0.5]), cotangent=cotangent)
        assert result.value.tolist() == [1.0, 2.0]
        assert result.grads[0].tolist() == [2.0, 20.0]

    def test_vjp_reaches_parameters(self, student_of: StudentOf) -> None:
        x = torch.ones(4, 3)
        result = student_of(TORCH, "torch").Net(3).vjp(x, cotangent=(torch.ones(4, 2), None))
        assert result.parameters["proj.bias"].tolist() == [4.0, 4.0]
        assert result.grads[0].shape == x.shape

    def test_detached_graph_gives_no_gradient(self, student_of: StudentOf) -> None:
        student = student_of(TORCH, "torch")
        x = torch.ones(2)
        assert [grad is None for grad in student.cut.vjp(x, x, cotangent=x).grads] == [False, True]
        assert student.detached.vjp(x, cotangent=x).grads == (None,)

    def test_cotangent_of_the_wrong_shape_fails_the_student(self, student_of: StudentOf) -> None:
        with pytest.raises(StudentRaisedError, match="square raised RuntimeError"):
            student_of(TORCH, "torch").square.vjp(torch.ones(2), cotangent=torch.ones(3))


class TestMylab:
    """A student's earlier modules, and no others, can be imported as mylab.<slug>."""

    def test_earlier_module_is_the_students_own(self, student_of: StudentOf) -> None:
        source = (
            "from mylab.softmax import softmax\nimport mylab.softmax as m\ndef f(x):\n    return softmax(x), m.NAME\n"
        )
        student = student_of(source, mylab={"softmax": "NAME = 'ana'\ndef softmax(x):\n    return -x\n"})
        assert student.f(3) == (-3, "ana")

    def test_module_that_was_not_submitted_is_missing(self, student_of: StudentOf) -> None:
        student = student_of("def f():\n    import mylab.softmax\n")
        with pytest.raises(StudentRaisedError, match=r"No module named 'mylab\.softmax'"):
            student.f()

    def test_one_student_never_sees_another(self, student_of: StudentOf) -> None:
        ask = "def f():\n    from mylab.softmax import WHO\n    return WHO\n"
        students = [student_of(ask, mylab={"softmax": f"WHO = {name!r}"}) for name in ("ana", "ben")]
        assert [student.f() for student in students] == ["ana", "ben"]


def test_randomness_in_student_code_repeats(student_of: StudentOf) -> None:
    source = "import random\nimport numpy as np\ndef f():\n    return random.random(), np.random.rand(), hash('x')\n"
    first, second = (student_of(source).f() for _ in range(2))
    assert first == second
    student = student_of(source)
    student.f()
    student.seed(0)
    assert student.f() == first


def test_a_fresh_seed_of_torch_repeats(student_of: StudentOf) -> None:
    source = "import torch\ndef f():\n    return torch.seed(), torch.rand(1).item(), torch.initial_seed()\n"
    first, second = (student_of(source, "torch").f() for _ in range(2))
    assert first == second
    assert first[0] == first[2]


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.0, 2**70, 1 + 2j, b"raw", "naïve"])
def test_scalars_of_every_kind(student_of: StudentOf, value: Any) -> None:
    (back,), _ = student_of(FUNCTIONS).echo(value)
    assert repr(back) == repr(value)
