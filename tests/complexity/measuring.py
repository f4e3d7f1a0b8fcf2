"""Contracts measured in tests: a table as in `module.toml`, a solution, and a submission."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from grader.complexity.contract_reader import read_contracts
from grader.complexity.cost import Cost
from grader.complexity.measurer import CostMeasurer, FunctionCosts
from grader.course.module import ForbiddenRule
from grader.sandbox.jail.limits import Limits
from grader.sandbox.jail.spawner import Spawner
from grader.sandbox.session import Program, Session, SessionOptions

NOTHING_FORBIDDEN: Mapping[str, ForbiddenRule] = {}


def measure(
    spawner: Spawner,
    table: Mapping[str, Any],
    solution: str,
    change: str = "",
    forbidden: Mapping[str, ForbiddenRule] = NOTHING_FORBIDDEN,
    salt: str = "a salt",
) -> dict[str, FunctionCosts]:
    """Measure a solution with some of its code replaced, by function. The solution itself is the reference."""
    reference = ModuleType("reference")
    exec(solution, vars(reference))
    measurer = CostMeasurer(read_contracts(Path("m"), table), forbidden, "00_test", salt, reference)
    source = f"{solution}\n\n{change}"
    files = {"work": {"file": "work.py", "cells": [source.encode()], "notebook": False}}
    session = Session(spawner, Program(files, "work", ()), Limits(), SessionOptions(loading="metered"))
    try:
        return {contract.function: measurer.of(session, contract) for contract in measurer.contracts}
    finally:
        session.close()


def failed(found: FunctionCosts) -> dict[str, Cost]:
    """Return the costs that do not pass, by meter."""
    return {cost.meter: cost for cost in found.costs if cost.verdict != "pass"}


def verdicts(found: FunctionCosts) -> dict[str, str]:
    """Return why each cost does not pass."""
    return {cost.meter: f"{cost.verdict}: {cost.measured}: {cost.message}" for cost in failed(found).values()}


def line_of(text: str, *sources: str) -> int:
    """Return the number of the only line with a text, in sources that are joined as `measure` does."""
    (number,) = (at for at, line in enumerate("\n\n".join(sources).splitlines(), 1) if text in line)
    return number
