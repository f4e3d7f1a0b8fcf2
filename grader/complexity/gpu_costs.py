"""The GPU measurer: measures functions on a real GPU."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from grader.complexity.arguments import argument
from grader.complexity.contract import Contract
from grader.complexity.contract_reader import read_contracts
from grader.complexity.cost import Cost, CostVerdict, Speed
from grader.complexity.judging import FAILS_ABOVE
from grader.complexity.polynomial import Polynomial, Sizes
from grader.complexity.secret_sizes import at_secret_sizes
from grader.core.compare import Tolerance, difference
from grader.core.errors import StudentError
from grader.course.module import Module
from grader.course.seeds import seed_of
from grader.sandbox.jail.limits import GPU_LIMITS
from grader.sandbox.protocol.device_findings import GpuCost
from grader.sandbox.session import Program, Session, SessionOptions
from grader.sandbox.student import Handle, Student, gpu_cost

GPU_MEMORY = "gpu_mem"
REPEATS = 20
# A right result in half precision is at least this close. The checks compare more strictly.
NEAR = Tolerance(0.03, 0.03)
_BUILT_IN = b"""
import torch

def built_in(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)
"""


@dataclass(frozen=True)
class GpuCall:
    """A measured call: its arguments, and its result by the reference (None without one)."""

    args: list[Any]
    expected: Any


@dataclass
class GpuMeasurer:
    """Measures the functions that have a `gpu` table in their `module.toml`."""

    module: Module
    salt: str
    reference: ModuleType | None
    # Each is found once in a run.
    _built_in: dict[str, float] = field(default_factory=dict)  # ms, by function
    _calls: dict[tuple[str, Sizes], GpuCall] = field(default_factory=dict)

    @property
    def contracts(self) -> tuple[Contract, ...]:
        return read_contracts(self.module.folder, self.module.gpu)

    @property
    def points(self) -> float:
        """The points of all contracts together, where there is a GPU."""
        return sum(contract.points for contract in self.contracts)

    def costs(self, student: Student, not_worth_measuring: Collection[str]) -> tuple[Cost, ...]:
        """Compare the memory of every function with its limit. A function that passes no check is not measured."""
        return tuple(
            _not_measured(contract, "its checks fail")
            if contract.target in not_worth_measuring
            else self._cost(student, contract)
            for contract in self.contracts
        )

    def speeds(self, student: Student, costs: tuple[Cost, ...]) -> tuple[Speed, ...]:
        """Return the speed of every function that gives the right results."""
        right = {cost.function for cost in costs if cost.measured}
        return tuple(self._speed(student, contract) for contract in self.contracts if contract.function in right)

    def _cost(self, student: Student, contract: Contract) -> Cost:
        (limit,) = contract.limits
        hidden = at_secret_sizes(contract, seed_of(self.salt, self.module.name, f"gpu.{contract.function}"))
        function = getattr(student, contract.path)
        try:
            counts = {sizes: self._peak(function, contract, sizes) for sizes in contract.lattice.points().values()}
            points = contract.lattice.points()
            found = contract.lattice.interpolate(lambda index: counts[points[index]])
            large = {sizes: self._peak(function, contract, sizes) for sizes in hidden.large}
        except StudentError as error:
            return _not_measured(contract, error.public)
        except WrongError as error:
            return _not_measured(contract, str(error))
        if any(found.at(sizes) != peak for sizes, peak in large.items()):
            if (power := _power(counts | large)) > limit.bound.degree + FAILS_ABOVE:  # a few extra bytes hide nothing
                return _cost(contract, "", "fail", f"GPU memory grows like n^{power:.1f}; {limit.text} is allowed")
            message = "GPU memory is not a polynomial of the sizes: an instructor must check"
            return _cost(contract, "", "inconclusive", message)
        return _judged(contract, found)

    def _peak(self, function: Handle, contract: Contract, sizes: Sizes) -> int:
        """Return the peak memory of one call in bytes; WrongError if its result is wrong."""
        call = self._call(contract, sizes)
        cost = gpu_cost(function, *call.args, keep=True)
        if call.expected is not None and difference(cost.value, call.expected, NEAR) is not None:
            raise WrongError("wrong result on the GPU")
        return cost.peak_bytes

    def _call(self, contract: Contract, sizes: Sizes) -> GpuCall:
        key = contract.function, sizes
        if key not in self._calls:
            args = arguments_at(contract, sizes)
            expected = None
            if self.reference is not None:
                expected = getattr(self.reference, contract.path)(*args)
            elif self.module.needs_gpu:  # there is no reference in this process: PyTorch's own attention is right, too
                expected = _attention()(*args)
            self._calls[key] = GpuCall(args, expected)
        return self._calls[key]

    def _speed(self, student: Student, contract: Contract) -> Speed:
        args = arguments_at(contract, contract.large[-1])
        name = contract.function
        if name not in self._built_in:
            self._built_in[name] = built_in_cost(student, args).ms
        return Speed(name, gpu_cost(getattr(student, contract.path), *args, repeats=REPEATS).ms, self._built_in[name])


def _attention() -> Any:
    import torch  # not at the top: modules for NumPy need no torch

    return torch.nn.functional.scaled_dot_product_attention


class WrongError(Exception):
    """A result that differs from the reference's, so that its cost does not count."""


def arguments_at(contract: Contract, sizes: Sizes) -> list[Any]:
    """Return arguments of these sizes, the same in every run."""
    names = contract.named(sizes)
    rng = np.random.default_rng(0)
    return [argument(spec, names, rng) for spec in contract.args]


def built_in_cost(student: Student, args: list[Any]) -> GpuCost:
    """Measure PyTorch's own attention, in a worker that has never run student code."""
    here = student._session.gpu
    assert here is not None
    files = {"built_in": {"file": "built_in.py", "cells": [_BUILT_IN], "notebook": False}}
    program = Program(files, "built_in", ("built_in",))
    session = Session(here.worker.spawner, program, GPU_LIMITS, SessionOptions(is_on_gpu=True))
    try:
        return gpu_cost(Handle(session, (0, ("built_in",)), "built_in", "built_in"), *args, repeats=REPEATS)
    finally:
        session.close()


def _power(measured: Mapping[Sizes, int]) -> float:
    """Return the power of the size that memory grows with, from the smallest size to the largest."""
    first, last = min(measured), max(measured)
    return math.log(max(measured[last], 1) / max(measured[first], 1)) / math.log(last[0] / first[0])


def _cost(contract: Contract, measured: str, verdict: CostVerdict, message: str) -> Cost:
    (limit,) = contract.limits
    return Cost(contract.function, GPU_MEMORY, limit.text, measured, verdict, limit.points, None, message)


def _not_measured(contract: Contract, why: str) -> Cost:
    return _cost(contract, "", "fail", f"NOT MEASURED: {why}")


def _judged(contract: Contract, found: Polynomial) -> Cost:
    (limit,) = contract.limits
    beyond = found.beyond(limit.bound)
    if not beyond:
        return _cost(contract, f"{found} bytes", "pass", "")
    worst = found.monomial(max(beyond, key=sum))
    return _cost(contract, f"{found} bytes", "fail", f"GPU memory grows like {worst}; {limit.text} is allowed")
