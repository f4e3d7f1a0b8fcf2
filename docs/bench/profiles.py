"""The cost of measuring: CPU time of the worker for the profile of each function."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from docs.bench.row import Row, costs
from grader.complexity.measurer import cost_measurer
from grader.course.course import Course, read_course
from grader.course.loading import load_reference
from grader.course.module import Module
from grader.sandbox.jail.limits import Limits
from grader.sandbox.jail.tiers import open_spawner
from grader.sandbox.session import Program, Session

ROOT = Path(__file__).parent.parent.parent
PART = "profiles of the references, CPU of the worker"
FUNCTION_SECONDS, MODULE_SECONDS = 0.25, 1.0


def profiles() -> Iterator[Row]:
    """Yield the CPU time of every module's profiles in a warm worker, and of its slowest function."""
    course = read_course(ROOT)
    for module in course.modules:
        seconds = _profiled(course, module)
        slowest = max(seconds, key=lambda name: seconds[name])
        yield costs(PART, module.name, sum(seconds.values()), ("allowed", MODULE_SECONDS), most=1)
        yield costs(PART, f"the most of it for {slowest}", seconds[slowest], ("allowed", FUNCTION_SECONDS), most=1)


def _profiled(course: Course, module: Module) -> dict[str, float]:
    """Return the seconds of each function's profile."""
    source = course.solution(module).read_text().encode()
    files = {module.slug: {"file": f"{module.slug}.py", "cells": [source], "notebook": False}}
    measurer = cost_measurer(module, "bench", load_reference(course, module))
    seconds = {}
    with open_spawner(module.backend) as spawner:
        for contract in measurer.contracts:
            session = Session(spawner, Program(files, module.slug, ()), Limits())
            measured = measurer.of(session, contract)
            session.close()
            assert all(cost.verdict == "pass" for cost in measured.costs), measured.costs
            seconds[contract.function] = session.worker.cpu_s or 0.0
    return seconds
