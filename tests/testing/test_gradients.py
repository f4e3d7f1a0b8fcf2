"""Assertions about gradients: right ones pass; wrong ones and cut graphs give different messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from grader.core.errors import StudentError, StudentRaisedError
from grader.testing.gradients import (
    assert_gradients,
    assert_gradients_match_differences,
    assert_parameter_gradients,
    half_dtypes,
)
from tests.conftest import StudentOf

SOURCE = """
import torch
from torch import nn

def weigh(q, k, mask=None):
    scores = q @ k.T
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ k, weights

def cut(q, k, mask=None):
    return weigh(q, k.detach(), mask)

class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x
    @staticmethod
    def backward(ctx, grad):
        return grad

def lying(q, k, mask=None):
    return weigh(Doubled.apply(q), k, mask)

def spoilt(q, k, mask=None):
    weights = torch.softmax(q @ k.T, dim=-1)
    output = weights @ k
    weights.mul_(1)
    return output, weights

def odd(q, k, mask=None):
    return "text"

class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2, 2))
        self.unused = nn.Parameter(torch.ones(2))
        self.register_buffer("scale", torch.ones(()))
    def forward(self, x):
        return x @ self.weight * self.scale
"""


@pytest.fixture
def inputs() -> tuple[torch.Tensor, torch.Tensor, tuple[torch.Tensor, None]]:
    rng = np.random.default_rng(0)
    q, k = (torch.from_numpy(rng.normal(size=shape)) for shape in ((2, 3), (4, 3)))
    return q, k, (torch.from_numpy(rng.normal(size=(2, 3))), None)


def by_differences(function: Any, inputs: Any, **kwargs: Any) -> None:
    q, k, cotangent = inputs
    rng = np.random.default_rng(1)
    assert_gradients_match_differences(function, (q, k), cotangent, rng, of=("q", "k"), kwargs=kwargs)


def test_right_gradients_pass(student_of: StudentOf, inputs: Any) -> None:
    student = student_of(SOURCE, "torch")
    by_differences(student.weigh, inputs)
    by_differences(student.weigh, inputs, mask=torch.tensor([[1, 1, 0, 1]]))
    q, k, cotangent = inputs
    found = student.weigh.vjp(q, k, cotangent=cotangent)
    assert_gradients(found, [found.grads[0].clone(), None], ("q", "k"))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cut", r"no gradient reaches k: the graph is cut between k and the result"),
        ("lying", r"the gradient of q does not match finite differences"),
        ("spoilt", r"spoilt raised RuntimeError: one of the variables needed for gradient computation"),
        ("odd", r"no gradient reaches q"),
    ],
)
def test_wrong_gradients_fail_with_a_message(student_of: StudentOf, inputs: Any, name: str, said: str) -> None:
    with pytest.raises(Exception, match=said):
        by_differences(getattr(student_of(SOURCE, "torch"), name), inputs)


def test_gradients_are_compared_with_expected_ones(student_of: StudentOf, inputs: Any) -> None:
    q, k, cotangent = inputs
    student = student_of(SOURCE, "torch")
    right = student.weigh.vjp(q, k, cotangent=cotangent)
    with pytest.raises(AssertionError, match=r"the gradient of q: .* values are off"):
        assert_gradients(student.lying.vjp(q, k, cotangent=cotangent), right.grads, ("q", "k"))
    with pytest.raises(AssertionError, match="no gradient reaches argument 2"):
        assert_gradients(student.cut.vjp(q, k, cotangent=cotangent), [None, right.grads[1]])


def test_parameters_can_be_set_and_have_gradients(student_of: StudentOf) -> None:
    layer = student_of(SOURCE, "torch").Linear()
    layer.load_state_dict({"weight": torch.tensor([[1.0, 2.0], [3.0, 4.0]])})  # the buffer keeps its value
    found = layer.vjp(torch.eye(2), cotangent=torch.ones(2, 2))
    assert found.value.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert_parameter_gradients(found, {"weight": torch.ones(2, 2)})
    with pytest.raises(AssertionError, match="no gradient reaches unused"):
        assert_parameter_gradients(found, {"unused": torch.ones(2)})
    with pytest.raises(AssertionError, match="there is no parameter other"):
        assert_parameter_gradients(found, {"other": torch.ones(2)})
    layer.load_state_dict({"q_proj": torch.ones(2)})
    with pytest.raises(StudentRaisedError, match="there is no parameter q_proj: there are weight, unused"):
        layer(torch.eye(2))
    layer.load_state_dict({"weight": torch.ones(2)})
    with pytest.raises(StudentRaisedError, match=r"weight has the shape \(2, 2\), not \(2,\)"):
        layer(torch.eye(2))


def test_an_object_is_created_at_its_first_call(student_of: StudentOf) -> None:
    source = (
        SOURCE
        + """
def same(one, other):
    return one is other

class Picky(Linear):
    def __init__(self, size=1):
        if size < 1:
            raise ValueError(f"{size} is too small")
        super().__init__()
"""
    )
    student = student_of(source, "torch")
    state = {"weight": torch.tensor([[1.0, 2.0], [3.0, 4.0]])}
    layers = [student.Picky.made(1, state=state), student.Picky.made(2, state={"weight": torch.zeros(2, 2)})]
    assert [layer(torch.eye(2)).sum().item() for layer in layers] == [10.0, 0.0]
    assert layers[0].training is False
    assert student.same(layers[0], layers[0])
    assert not student.same(*layers)
    assert student.Picky.made(3, training=True).training is True
    small = student.Picky.made(0)
    with pytest.raises(StudentRaisedError, match="0 is too small"):
        small(torch.eye(2))
    with pytest.raises(StudentError):  # it was never created
        small(torch.eye(2))
    assert layers[0](torch.eye(2)).sum().item() == 10.0


def test_eval_sets_the_mode(student_of: StudentOf) -> None:
    source = "from torch import nn\nclass Layer(nn.Module):\n    def forward(self):\n        return self.training\n"
    layer = student_of(source, "torch").Layer()
    assert layer() is True
    layer.eval()
    assert layer() is False


def test_half_precisions_work_on_this_machine() -> None:
    for dtype in half_dtypes():
        one = torch.ones(2, 2, dtype=dtype)
        assert (one @ one).dtype == dtype
