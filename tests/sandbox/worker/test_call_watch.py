"""The watch over calls: what counts as a change of an argument, and which names are noted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from grader.sandbox.worker.call_watch import CallWatch


def changed(function: Callable[..., Any], *args: Any, **kwargs: Any) -> list[list[int | str]]:
    watch = CallWatch()
    with watch.over(args, kwargs):
        function(*args, **kwargs)
    return list(watch.take().get("changed", []))


def replace_item(batch: dict[str, Any]) -> None:
    batch["x"] = batch["x"].clone()


def contain_itself(items: list[Any]) -> None:
    items.append(items)


CHANGES: list[tuple[Callable[..., Any], Any]] = [
    (lambda x: x.fill(3), np.ones((2, 2))),
    (lambda x: np.negative(x, out=x), np.ones(3)),
    (lambda x: x[1:, ::2].fill(0), np.ones((3, 4))),  # through a view of a view
    (lambda x: setattr(x, "shape", (4,)), np.ones((2, 2))),
    (lambda x: x.setflags(write=False), np.ones(2)),
    (lambda x: x.sort(), [3, 1, 2]),
    (lambda x: x.pop("a"), {"a": 1}),
    (lambda x: x["a"].append(2), {"a": [1]}),
    (lambda x: x[1].fill(0), ("kept", np.ones(2))),
    (contain_itself, [1]),
    (lambda x: x.mul_(2), torch.ones(2)),
    (lambda x: x.data.mul_(2), torch.ones(2, requires_grad=True)),
    (lambda x: x.view(-1)[::2].zero_(), torch.ones(2, 2, dtype=torch.bfloat16)),
    (lambda x: x.requires_grad_(), torch.ones(2)),
    (lambda x: x.sum().backward(), torch.ones(2, requires_grad=True)),
    (lambda x: x.logical_not_(), torch.tensor([True, False])),
    (lambda x: x.t_(), torch.ones(2, 3)),
    (lambda x: x.set_(torch.zeros(2)), torch.ones(2)),
    (replace_item, {"x": torch.ones(2)}),  # a copy on another device would have the same numbers
]


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_a_change_is_found(number: int) -> None:
    function, argument = CHANGES[number]
    assert changed(function, argument) == [[0, 0]]


READ_ONLY = np.ones((2, 3))
READ_ONLY.setflags(write=False)
HARMLESS: list[tuple[Callable[..., Any], Any]] = [
    (lambda x: (x + 1, x.T, x.sum(), x.copy().fill(0)), np.ones((2, 2))),
    (lambda x: x.reshape(-1).sum(), READ_ONLY),
    (lambda x: (x * 2).sum(), np.ones((4, 4))[::2, ::3]),  # not contiguous
    (lambda x: (x.fill(3), x.fill(1)), np.ones(2)),  # undone before the call returns
    (lambda x: x, np.array([np.nan, -0.0])),
    (lambda x: (list(reversed(x)), x[0]), [3, float("nan"), None]),
    (lambda x: (x @ x).sum().backward, torch.ones(2, 2, requires_grad=True)),
    (lambda x: x.to("cpu").float(), torch.ones(2, dtype=torch.float16)),
    (lambda x: {key: value.clone() for key, value in x.items()}, {"x": torch.ones(2)}),
    (lambda x: setattr(x, "seen", True), type("Own", (), {})()),  # an object of the student's own may change
]


@pytest.mark.parametrize("number", range(len(HARMLESS)))
def test_anything_else_is_no_change(number: int) -> None:
    function, argument = HARMLESS[number]
    assert changed(function, argument) == []


def test_the_argument_is_named_by_position_or_keyword() -> None:
    def call(a: Any, b: Any, *, mask: Any) -> None:
        b += a
        mask[0] = 0

    assert changed(call, np.ones(2), np.ones(2), mask=np.ones(2)) == [[0, 1], [0, "mask"]]


def test_the_same_array_twice_is_named_twice() -> None:
    x = np.ones(2)
    assert changed(lambda *both: both[0].fill(0), x, x) == [[0, 0], [0, 1]]


def test_a_call_that_raises_is_watched_too() -> None:
    watch = CallWatch()

    def call(x: np.ndarray) -> None:
        x += 1
        raise LookupError

    x = np.ones(2)
    with pytest.raises(LookupError), watch.over([x], {}):
        call(x)
    assert watch.take() == {"changed": [[0, 0]]}
