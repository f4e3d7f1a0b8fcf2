"""The choice of calls that are followed step by step on the simulated GPU."""

from __future__ import annotations

from typing import Any

from grader.sandbox.session import ONE_IN, TracedCalls

PLAIN = b"def attention(q, k, v):\n    return q\n"
CALLED_BACK = b"class Exp(torch.autograd.Function):\n    pass\n"


def files(cell: bytes) -> dict[str, dict[str, Any]]:
    return {"gpu_path": {"file": "gpu_path.py", "cells": [cell], "notebook": False}}


def choices(cell: bytes, seed: int) -> list[bool]:
    traced = TracedCalls(files(cell), seed)
    return [traced.has_next(owner) for _ in range(200) for owner in ("attention", "move")]


def test_the_first_call_of_every_function_is_traced_and_some_of_the_others() -> None:
    chosen = choices(PLAIN, 1)
    assert chosen[:2] == [True, True]
    assert 0 < sum(chosen[2:]) < 2 * len(chosen) / ONE_IN


def test_the_choice_is_the_same_every_time_but_depends_on_the_seed() -> None:
    assert choices(PLAIN, 1) == choices(PLAIN, 1)
    assert choices(PLAIN, 1) != choices(PLAIN, 2)


def test_code_that_torch_calls_back_is_always_traced() -> None:
    assert all(choices(CALLED_BACK, 1))
