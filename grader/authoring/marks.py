"""Marks: everything in a module that can cost a student points, by name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.authoring.evidence import ModuleEvidence
from grader.complexity.contract_reader import read_contracts
from grader.complexity.gpu_costs import GPU_MEMORY
from grader.core.report import cost_name
from grader.core.syntax import parse
from grader.course.course import Course
from grader.course.module import Module, read_text
from grader.grading.argument_checks import argument_check
from grader.grading.checks import check_name


@dataclass(frozen=True)
class Mark:
    """A check, a limit on a cost or a forbidden kind of call."""

    name: str  # `sort_is_stable`, `sort steps` or `forbidden products`
    is_proved: bool = True  # whether a misconception must break it; not what only a GPU can show


def read_marks(course: Course, module: Module) -> tuple[Mark, ...]:
    """Return what can cost points in a module. Its suites are read, and not run."""
    return tuple(_marks(course, module))


def _marks(course: Course, module: Module) -> Iterator[Mark]:
    on_gpu = course.gpu_suite(module)
    yield from (Mark(name, not module.needs_gpu) for name in _checks(module.checks))
    yield from (Mark(name, not module.needs_gpu) for name in _checks(course.hidden_suite(module)))
    yield from (Mark(name, False) for name in (_checks(on_gpu) if on_gpu else ()))
    for target, points in module.unchanged.items():
        yield Mark(argument_check(target, points, "hidden").name, not module.needs_gpu)
    for contract in read_contracts(module.folder, module.complexity):
        for limit in contract.limits:
            yield Mark(cost_name(contract.function, limit.meter), limit.meter not in contract.unguarded)
    for contract in read_contracts(module.folder, module.gpu):
        yield Mark(cost_name(contract.function, GPU_MEMORY), False)
    yield from (Mark(_forbidden(kind), False) for kind in module.forbidden)


def broken_limits(module: Module, evidence: ModuleEvidence) -> dict[str, list[str]]:
    """Return the names of the limits and rules that each costly misconception breaks."""
    found: dict[str, list[str]] = {}
    for wrong, measured in evidence.wrong_costs.items():
        costs = [
            cost_name(name, cost.meter)
            for name, one in measured.items()
            for cost in one.profile.costs
            if cost.breaks_limit
        ]
        reasons = {call.why for one in measured.values() for call in one.forbidden}
        rules = [_forbidden(kind) for kind, rule in module.forbidden.items() if rule.why in reasons]
        found[wrong] = [*costs, *rules]
    return found


def _forbidden(kind: str) -> str:
    return f"forbidden {kind}"


def _checks(suite: Path) -> Iterator[str]:
    """Yield the names of a suite's checks."""
    for node in parse(read_text(suite), str(suite)).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield check_name(node.name)
