"""Costs over a sequence of calls: a step after many others, and all steps together, in NumPy and in torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.complexity.contract_reader import read_contracts
from grader.complexity.polynomial import parse_polynomial
from grader.complexity.witness import FAR, MEMORY, doubt
from grader.course.module import Backend, ForbiddenRule
from grader.sandbox.jail.limits import Limits
from grader.sandbox.jail.spawner import Spawner
from grader.sandbox.session import Program, Session
from tests.complexity.measuring import failed, line_of, measure, verdicts

SIZES = {"n": [2, 1], "d": [2, 1]}
LARGE = [{"n": 50, "d": 3}, {"n": 3, "d": 40}, {"n": 20, "d": 15}]

# NumPy -----------------------------------------------------------------------------------------------------

STEP = """
import numpy as np

def step(state, k, v):
    state = np.zeros((len(k), len(v))) if state is None else state
    state = state + np.outer(k, v)
    return state, state.sum(axis=0)
"""
STEP_TABLE: dict[str, Any] = {
    "step": {
        "before": [["step", "last 0", "array d", "array d", "n times"]],
        "args": ["last 0", "array d", "array d"],
        "compare": 1,
        "sizes": SIZES,
        "large": LARGE,
        "points": 3,
        "steps": "1",
        "work": "d^2",
        "mem": "d^2",
    }
}
KEEPS_ALL = """
def step(state, k, v):
    state = (state or []) + [(k, v)]
    return state, sum(k.sum() * v for k, v in state)
"""
WRITES_IN_PLACE = """
class State:
    def __init__(self, rows, columns):
        self.total = np.zeros((rows, columns))

def step(state, k, v):
    state = state or State(len(k), len(v))
    state.total += k[:, None] * v
    return state, state.total.sum(axis=0)
"""


def test_the_result_of_a_call_is_an_argument_of_the_next(spawners: dict[Backend, Spawner]) -> None:
    assert verdicts(measure(spawners["numpy"], STEP_TABLE, STEP)["step"]) == {}


def test_a_state_of_the_students_own_is_not_compared(spawners: dict[Backend, Spawner]) -> None:
    assert verdicts(measure(spawners["numpy"], STEP_TABLE, STEP, WRITES_IN_PLACE)["step"]) == {}


def test_a_state_that_grows_costs_more_at_each_step(spawners: dict[Backend, Spawner]) -> None:
    found = failed(measure(spawners["numpy"], STEP_TABLE, STEP, KEEPS_ALL)["step"])
    assert found["steps"].verdict == "fail"
    assert "n" in found["steps"].measured
    place = found["steps"].place
    assert place is not None
    assert place.line == line_of("sum(k.sum() * v", STEP, KEEPS_ALL)


def test_wrong_results_after_many_calls_earn_nothing(spawners: dict[Backend, Spawner]) -> None:
    forgets = STEP.replace("state = np.zeros((len(k), len(v))) if state is None else state", "state = 0.0")
    found = measure(spawners["numpy"], STEP_TABLE, STEP, forgets)["step"]
    assert {cost.message for cost in found.costs} == {"the results are wrong, so the cost does not count"}


def test_all_calls_of_a_loop_are_measured_together(spawners: dict[Backend, Spawner]) -> None:
    table = {"step": STEP_TABLE["step"] | {"times": "n", "steps": "n", "work": "n*d^2"}}
    del table["step"]["before"]
    assert verdicts(measure(spawners["numpy"], table, STEP)["step"]) == {}
    found = measure(spawners["numpy"], table, STEP, KEEPS_ALL)["step"]
    assert "n²" in failed(found)["steps"].measured


# torch -----------------------------------------------------------------------------------------------------

ATTENTION = """
import torch
from torch import nn


class KVCache:
    def __init__(self, max_len, width):
        self.k = torch.zeros(1, max_len, width)
        self.v = torch.zeros(1, max_len, width)
        self.length = 0

    def update(self, k, v):
        end = self.length + k.shape[1]
        self.k[:, self.length : end] = k
        self.v[:, self.length : end] = v
        self.length = end
        return self.k[:, :end], self.v[:, :end]


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)

    def forward(self, x, cache):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        k, v = cache.update(k, v)
        weights = torch.softmax(q @ k.transpose(1, 2) / k.shape[-1] ** 0.5, dim=-1)
        return weights @ v


def decode(attention, x, cache):
    with torch.no_grad():
        return torch.cat([attention(x[:, i : i + 1], cache) for i in range(x.shape[1])], dim=1)
"""
OBJECTS = {"attention": ["Attention", "size d"], "cache": ["KVCache", "size n+1", "size d"]}
UPDATE = {
    "init": ["size n+1", "size d"],
    "before": [["update", "tensor 1 1 d", "tensor 1 1 d", "n times"]],
    "args": ["tensor 1 1 d", "tensor 1 1 d"],
    "sizes": SIZES,
    "large": LARGE,
    "points": 3,
    "steps": "1",
    "work": "d",
    "mem": "d",
}
FORWARD = {
    "init": ["size d"],
    "objects": {"cache": OBJECTS["cache"]},
    "before": [["cache.update", "tensor 1 n d", "tensor 1 n d"]],
    "args": ["tensor 1 1 d", "cache=object cache"],
    "sizes": SIZES,
    "large": LARGE,
    "points": 3,
    "steps": "1",
    "flops": {"law": "6*d^2 + 4*n*d", "exact": 1},
    "mem": "n + d",
}
DECODE = {
    "objects": OBJECTS,
    "args": ["object attention", "tensor 1 n d", "object cache"],
    "sizes": SIZES,
    "large": LARGE,
    "points": 3,
    "steps": "n",
    "flops": {"law": "6*n*d^2 + 2*n^2*d", "exact": 1},
    "mem": "n*d",
}
TABLE: dict[str, Any] = {"KVCache.update": UPDATE, "Attention.forward": FORWARD, "decode": DECODE}
CONCATENATES = """
class KVCache:
    def __init__(self, max_len, width):
        self.k = self.v = torch.zeros(1, 0, width)
        self.length = 0

    def update(self, k, v):
        self.k = torch.cat([self.k, k], dim=1)  # <-- here
        self.v = torch.cat([self.v, v], dim=1)
        self.length = self.k.shape[1]
        return self.k, self.v
"""
GROWS_BY_DOUBLING = """
class KVCache:
    def __init__(self, max_len, width):
        self.k = torch.zeros(1, 1, width)
        self.v = torch.zeros(1, 1, width)
        self.length = 0

    def update(self, k, v):
        end = self.length + k.shape[1]
        while end > self.k.shape[1]:
            self.k = torch.cat([self.k, torch.zeros_like(self.k)], dim=1)  # <-- here
            self.v = torch.cat([self.v, torch.zeros_like(self.v)], dim=1)
        self.k[:, self.length : end] = k
        self.v[:, self.length : end] = v
        self.length = end
        return self.k[:, :end], self.v[:, :end]
"""
PROJECTS_ALL_AGAIN = """
class Attention(Attention):
    def forward(self, x, cache):
        if not hasattr(cache, "seen"):
            cache.seen = []
        cache.seen.append(x)
        q = self.qkv(x).chunk(3, dim=-1)[0]
        _, k, v = self.qkv(torch.cat(cache.seen, dim=1)).chunk(3, dim=-1)  # <-- here
        weights = torch.softmax(q @ k.transpose(1, 2) / k.shape[-1] ** 0.5, dim=-1)
        return weights @ v
"""
READY_MADE = """
class Attention(Attention):
    def forward(self, x, cache):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        first = cache.length == 0
        k, v = cache.update(k, v)
        if first:
            return nn.functional.scaled_dot_product_attention(q, k, v)
        weights = torch.softmax(q @ k.transpose(1, 2) / k.shape[-1] ** 0.5, dim=-1)
        return weights @ v
"""


def test_a_cache_and_a_layer_on_it_keep_their_contracts(spawners: dict[Backend, Spawner]) -> None:
    found = measure(spawners["torch"], TABLE, ATTENTION)
    assert {function: verdicts(one) for function, one in found.items()} == {function: {} for function in TABLE}
    assert str(found["decode"].profile.exact["flops"]).startswith("2·n²·d + 6·n·d²")


def test_a_concatenating_cache_moves_all_keys_at_each_step(spawners: dict[Backend, Spawner]) -> None:
    found = failed(measure(spawners["torch"], {"KVCache.update": UPDATE}, ATTENTION, CONCATENATES)["KVCache.update"])
    assert set(found) == {"work", "mem"}
    assert {cost.verdict for cost in found.values()} == {"fail"}
    assert "n·d" in found["work"].message
    place = found["work"].place
    assert place is not None
    assert place.line in (
        line_of("# <-- here", ATTENTION, CONCATENATES),
        line_of("# <-- here", ATTENTION, CONCATENATES) + 1,
    )


def test_a_cache_that_grows_by_doubling_moves_all_keys_at_some_steps(spawners: dict[Backend, Spawner]) -> None:
    found = failed(
        measure(spawners["torch"], {"KVCache.update": UPDATE}, ATTENTION, GROWS_BY_DOUBLING)["KVCache.update"]
    )
    assert {meter: cost.verdict for meter, cost in found.items()} == {"work": "fail", "mem": "fail"}
    assert "some steps of a sequence cost many times what the others do" in found["work"].message
    place = found["work"].place
    assert place is not None
    assert place.line in (
        line_of("# <-- here", ATTENTION, GROWS_BY_DOUBLING),
        line_of("# <-- here", ATTENTION, GROWS_BY_DOUBLING) + 1,
    )


def test_a_decode_that_projects_all_tokens_again_is_found(spawners: dict[Backend, Spawner]) -> None:
    found = failed(measure(spawners["torch"], {"decode": DECODE}, ATTENTION, PROJECTS_ALL_AGAIN)["decode"])
    assert "n²·d²" in found["flops"].message
    place = found["flops"].place
    assert place is not None
    assert place.line == line_of("# <-- here", ATTENTION, PROJECTS_ALL_AGAIN)


@pytest.mark.parametrize(("before", "caught"), [(True, True), (False, False)])
def test_a_forbidden_call_in_a_call_that_comes_first_is_found(
    spawners: dict[Backend, Spawner], before: bool, caught: bool
) -> None:
    forbidden = {"attention": ForbiddenRule("write it yourself", ("Attention",))}
    first = [["forward", "tensor 1 1 d", "object cache", "n times"]] if before else FORWARD["before"]
    table = {"Attention.forward": FORWARD | {"before": first}}
    found = measure(spawners["torch"], table, ATTENTION, READY_MADE, forbidden)["Attention.forward"]
    assert bool(found.forbidden) == caught


# the kernel as witness -------------------------------------------------------------------------------------

ALLOCATES = """
class KVCache(KVCache):
    def update(self, k, v):
        if WHEN:
            torch.ones(200 << 20, dtype=torch.uint8).add_(1)
        return super().update(k, v)
"""


@pytest.mark.parametrize(("when", "why"), [("self.length == 5", ""), ("self.length == N", MEMORY)])
def test_the_kernel_watches_only_the_measured_call(spawners: dict[Backend, Spawner], when: str, why: str) -> None:
    (contract,) = read_contracts(Path("m"), {"KVCache.update": UPDATE})
    most = max(max(sizes) for sizes in contract.large) * FAR
    source = ATTENTION + ALLOCATES.replace("WHEN", when.replace("N", str(most)))
    files = {"work": {"file": "work.py", "cells": [source.encode()], "notebook": False}}
    session = Session(spawners["torch"], Program(files, "work", ()), Limits())
    free = dict.fromkeys(("steps", "work", "mul"), parse_polynomial("1000*n*d", contract.lattice.names))
    try:
        session.load()
        assert doubt(session, contract, 1, None, free) == why
    finally:
        session.close()
