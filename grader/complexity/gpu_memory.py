"""Peaks: what functions take of a real GPU, its memory as an exact polynomial, and their speed beside the built-in."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from grader.complexity.contract import Contract, read_contracts
from grader.complexity.cost import Cost, CostVerdict
from grader.complexity.gpu_speed import Speed
from grader.complexity.measurer import at_secret_sizes
from grader.complexity.polynomial import Polynomial, Sizes
from grader.complexity.profile import FAILS_ABOVE
from grader.complexity.samples import argument
from grader.core.compare import Tolerance, difference
from grader.core.errors import StudentError
from grader.course.module import Module
from grader.course.seeds import seed_of
from grader.sandbox.jail.limits import GPU_LIMITS
from grader.sandbox.protocol.device_findings import GpuCost
from grader.sandbox.session import Program, Session
from grader.sandbox.student import Handle, Student

METER = "gpu_mem"
REPEATS = 20
# One that is right in half precision is this near; the checks have looked closer.
NEAR = Tolerance(0.03, 0.03)
_BUILT_IN = b"""
import torch

def built_in(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)
"""


@dataclass
class GpuMeasurer:
    """How the functions of a module are measured on a GPU, by the `gpu` tables of its `module.toml`."""

    module: Module
    salt: str
    reference: ModuleType | None
    _built_in: dict[str, float]  # by function, measured once in a run

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return read_contracts(self.module.folder, self.module.gpu)

    @property
    def points(self) -> float:
        """What all of them together are worth, where there is a GPU."""
        return sum(contract.points for contract in self.contracts)

    def costs(self, student: Student, not_worth_measuring: Collection[str]) -> tuple[Cost, ...]:
        """Hold the memory of every function against its law; those that pass nothing are not worth it."""
        return tuple(
            _failed(contract, "its checks do not pass")
            if contract.target in not_worth_measuring
            else self._cost(student, contract)
            for contract in self.contracts
        )

    def speeds(self, student: Student, costs: tuple[Cost, ...]) -> tuple[Speed, ...]:
        """Time every function that gives the right results."""
        right = {cost.function for cost in costs if cost.measured}
        return tuple(self._speed(student, contract) for contract in self.contracts if contract.function in right)

    def _cost(self, student: Student, contract: Contract) -> Cost:
        (law,) = contract.limits
        hidden = at_secret_sizes(contract, seed_of(self.salt, self.module.name, f"gpu.{contract.function}"))
        function = getattr(student, contract.function)
        try:
            counts = {sizes: self._peak(function, contract, sizes) for sizes in contract.lattice.points().values()}
            points = contract.lattice.points()
            found = contract.lattice.interpolate(lambda index: counts[points[index]])
            large = {sizes: self._peak(function, contract, sizes) for sizes in hidden.large}
        except (StudentError, WrongError) as error:
            return _failed(contract, str(error))
        if any(found.at(sizes) != peak for sizes, peak in large.items()):
            if (power := _power(counts | large)) > law.bound.degree + FAILS_ABOVE:  # a few odd bytes hide nothing
                return _failed(contract, f"no polynomial, and grows like n to the {power:.1f}; {law.text} is allowed")
            message = "its memory on the GPU is no polynomial of the size: somebody has to look"
            return Cost(contract.function, METER, law.text, "", "inconclusive", law.points, None, message)
        return _judged(contract, found)

    def _peak(self, function: Handle, contract: Contract, sizes: Sizes) -> int:
        """Return the bytes of one call, if it gives the right result."""
        args = arguments_at(contract, sizes)
        cost = function.gpu_cost(*args, keep=True)
        if self.reference is not None:
            expected = getattr(self.reference, contract.function)(*args)
            if (found := difference(cost.value, expected, NEAR)) is not None:
                raise WrongError(f"on the GPU, {found}")
        return cost.peak_bytes

    def _speed(self, student: Student, contract: Contract) -> Speed:
        args = arguments_at(contract, contract.large[-1])
        name = contract.function
        if name not in self._built_in:
            self._built_in[name] = built_in_cost(student, args).ms
        return Speed(name, getattr(student, name).gpu_cost(*args, repeats=REPEATS).ms, self._built_in[name])


class WrongError(Exception):
    """A result that is not the reference's: what it costs means nothing."""


def gpu_measurer(module: Module, salt: str, reference: ModuleType | None) -> GpuMeasurer:
    """Return how a module's functions are measured on a GPU."""
    return GpuMeasurer(module, salt, reference, {})


def arguments_at(contract: Contract, sizes: Sizes) -> list[Any]:
    """Return arguments of these sizes, the same in every run."""
    names = dict(zip(contract.lattice.names, sizes, strict=True))
    rng = np.random.default_rng(0)
    return [argument(spec, names, rng) for spec in contract.args]


def built_in_cost(student: Student, args: list[Any]) -> GpuCost:
    """Return what PyTorch's own attention takes, in a worker that no student's code has been in."""
    here = student._session.gpu
    assert here is not None
    files = {"built_in": {"file": "built_in.py", "cells": [_BUILT_IN], "notebook": False}}
    session = Session(here.spawner, Program(files, "built_in", ("built_in",)), GPU_LIMITS)
    session.gpu = session
    try:
        return Handle(session, (0, ("built_in",)), "built_in", "built_in").gpu_cost(*args, repeats=REPEATS)
    finally:
        session.close()


def _power(measured: Mapping[Sizes, int]) -> float:
    """Return with which power of the size bytes grow, from the smallest to the largest."""
    first, last = min(measured), max(measured)
    return math.log(max(measured[last], 1) / max(measured[first], 1)) / math.log(last[0] / first[0])


def _failed(contract: Contract, why: str) -> Cost:
    (law,) = contract.limits
    return Cost(contract.function, METER, law.text, "", "fail", law.points, None, f"not measured: {why}")


def _judged(contract: Contract, found: Polynomial) -> Cost:
    (law,) = contract.limits
    beyond = found.beyond(law.bound)
    message = ""
    if beyond:
        worst = found.monomial(max(beyond, key=sum))
        message = f"its memory on the GPU grows like {worst}; {law.text} is allowed"
    verdict: CostVerdict = "fail" if beyond else "pass"
    return Cost(contract.function, METER, law.text, f"{found} bytes", verdict, law.points, None, message)
