"""The time and memory of a student's own functions on this machine's GPU, as the input grows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from grader.complexity.contract import Contract
from grader.complexity.contract_reader import read_contracts
from grader.complexity.gpu_costs import REPEATS, arguments_at, built_in_cost
from grader.core.errors import StudentError
from grader.course.course import Course
from grader.course.module import CourseError, Module
from grader.grading.load_student import load, program_of, require_backend
from grader.grading.workers import NoGpuError
from grader.sandbox.jail.limits import GPU_LIMITS
from grader.sandbox.jail.spawner import JailError
from grader.sandbox.jail.tiers import open_gpu_spawner
from grader.sandbox.jail.view import gpu_devices
from grader.sandbox.protocol.device_findings import GpuCost
from grader.sandbox.session import Session, SessionOptions
from grader.sandbox.student import Student, gpu_cost
from grader.submission.fallbacks import own_with_fallbacks

SIZES = (512, 1024, 2048, 4096, 8192)
BUILT_IN = "the built-in"


@dataclass(frozen=True)
class GpuMeasurement:
    """One function at one size. `problem` says why it could not be measured."""

    function: str
    n: int
    ms: float | None = None
    peak_bytes: int | None = None
    problem: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def gpu_measurements(course: Course, module: Module, function: str | None = None) -> Iterator[GpuMeasurement]:
    """Measure the functions of a student's own file at each size, beside PyTorch's own attention."""
    if not gpu_devices():
        raise NoGpuError("there is no NVIDIA device")
    require_backend(module)
    contracts = [one for one in read_contracts(module.folder, module.gpu) if function in (None, one.function, one.path)]
    if not contracts:
        file = module.folder / "module.toml"
        known = ", ".join(module.gpu) or "none in this module"
        raise CourseError(file, "gpu", "has nothing to measure", f"There are GPU contracts for: {known}", usage=True)
    submission = own_with_fallbacks(course, module)
    if submission.problem:
        raise StudentError(submission.problem)
    try:
        spawner = open_gpu_spawner(compiles=module.needs_gpu)
    except JailError as error:
        raise NoGpuError(str(error)) from None
    with spawner:
        program = program_of(submission, module, course.api(module))
        session = Session(spawner, program, GPU_LIMITS.with_cpu(module.cpu_s), SessionOptions(is_on_gpu=True))
        try:
            load(session, module)
            student = Student(session, course.api(module))
            for n in SIZES:
                for contract in contracts:
                    yield _measure(student, contract, n)
                yield _measurement(BUILT_IN, n, built_in_cost(student, arguments_at(contracts[0], (n,))))
        finally:
            session.close()


def _measure(student: Student, contract: Contract, n: int) -> GpuMeasurement:
    try:
        found = gpu_cost(getattr(student, contract.path), *arguments_at(contract, (n,)), repeats=REPEATS)
    except StudentError as error:
        short = "out of memory" if "out of memory" in str(error) else str(error)
        return GpuMeasurement(contract.function, n, problem=short)
    return _measurement(contract.function, n, found)


def _measurement(function: str, n: int, found: GpuCost) -> GpuMeasurement:
    return GpuMeasurement(function, n, round(found.ms, 5), found.peak_bytes)
