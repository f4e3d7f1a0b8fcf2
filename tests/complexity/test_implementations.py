"""Right and wrong costs in many styles: each cell of implementations/ is appended to its module's solution.

`# Expected: ` names the functions that must fail, and the meters that must fail (or `forbidden`, or `inconclusive`).
All other contracts of what the cell defines must pass. A line that the report must name ends with `# <-- here`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from operator import attrgetter

import pytest

from grader.complexity.measurer import CostMeasurer, FunctionCosts, cost_measurer
from grader.course.course import Course, read_course
from grader.course.loading import earlier_solutions, load_reference
from grader.course.module import Backend
from grader.sandbox.jail.limits import Limits
from grader.sandbox.jail.spawner import Spawner
from grader.sandbox.session import Program, Session
from tests.cases import Case, cases
from tests.conftest import ROOT
from tests.quick import sample, sampled, share

PASSES = "passes"
HERE = "# <-- here"


@dataclass(frozen=True)
class Implementation:
    """A case, and the meters that must fail, by function."""

    case: Case
    fails: dict[str, str]

    @property
    def module(self) -> str:
        return self.case.module

    @property
    def defines(self) -> set[str]:
        return {
            node.name for node in ast.parse(self.case.code).body if isinstance(node, ast.FunctionDef | ast.ClassDef)
        }


def fails_of(expected: str) -> dict[str, str]:
    """Read `function: meters; function: meters`."""
    return {} if expected == PASSES else dict(part.split(": ") for part in expected.split("; "))


LONG = ["06_multi_head_attention", "07_gpu_path", "09_kv_cache", "10_flash_attention"]
LONG += ["11_efficient_attention", "12_transformer"]
ALL = [Implementation(case, fails_of(case.expected)) for case in cases("implementations")]
SHORT = [one for one in ALL if one.module not in LONG]
QUICK = sample(SHORT, share(len(SHORT), 4), attrgetter("case.code"), attrgetter("module"))
IMPLEMENTATIONS = [
    *sampled(SHORT, 2, attrgetter("case.code"), attrgetter("module")),  # the quick ones are the first of these
    *sampled([one for one in ALL if one.module in LONG], 3, attrgetter("case.code"), attrgetter("module")),
]


@cache  # so that the reference's results are computed once
def measurer_of(name: str) -> CostMeasurer:
    course = read_course(ROOT)
    return cost_measurer(course.module(name), "a salt", load_reference(course, course.module(name)))


def measured(course: Course, spawner: Spawner, implementation: Implementation) -> tuple[str, dict[str, FunctionCosts]]:
    """Measure what a cell defines. Return the complete source, and the costs by function."""
    module = course.module(implementation.module)
    source = implementation.case.over(course.solution(module).read_text())
    texts = {**earlier_solutions(course, module, source), module.slug: source}
    files = {slug: {"file": f"{slug}.py", "cells": [text.encode()], "notebook": False} for slug, text in texts.items()}
    measurer = measurer_of(module.name)
    # ten times a student's time: what is tested here is what is counted, not how long a busy machine takes to count it
    session = Session(spawner, Program(files, module.slug, ()), Limits().with_cpu(30.0))
    try:
        wanted = [one for one in measurer.contracts if one.target in implementation.defines]
        return source, {contract.function: measurer.of(session, contract) for contract in wanted}
    finally:
        session.close()


@pytest.mark.parametrize(
    "implementation",
    [
        pytest.param(one, id=f"{one.module}-{one.case.name}", marks=() if one in QUICK else pytest.mark.exhaustive)
        for one in IMPLEMENTATIONS
    ],
)
def test_verdict_and_line_are_right(
    course: Course, spawners: dict[Backend, Spawner], implementation: Implementation
) -> None:
    backend = course.module(implementation.module).backend
    source, costs = measured(course, spawners[backend], implementation)
    assert costs
    marked = {number for number, line in enumerate(source.splitlines(), 1) if line.endswith(HERE)}
    for function, found in costs.items():
        said = implementation.fails.get(function, "")
        verdicts = {cost.meter: (cost.verdict, cost.measured, cost.message) for cost in found.costs}
        blamed = {cost.place.line for cost in found.costs if cost.verdict != "pass" and cost.place}
        if said == "forbidden":
            assert {one.event.place.line for one in found.forbidden} == marked, verdicts
            assert all(cost.verdict == "fail" for cost in found.costs), verdicts
        elif said == "inconclusive":
            assert {cost.verdict for cost in found.costs} == {"inconclusive"}, verdicts
            assert blamed == marked, verdicts
        else:
            assert found.forbidden == ()
            assert {cost.meter for cost in found.costs if cost.verdict == "fail"} == set(said.split()), verdicts
            assert not any(cost.verdict == "inconclusive" for cost in found.costs), verdicts
            assert blamed >= marked if said else not blamed, (blamed, marked, verdicts)
