"""A proof: the problems of a module and its golden data. It is valid until something it depends on changes."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import grader
from grader.authoring.evidence import gather
from grader.authoring.golden_file import golden_data
from grader.authoring.gpu_trials import try_on_gpu
from grader.authoring.marks import broken_limits
from grader.authoring.register import register_file
from grader.authoring.soundness_rules import RULES, Problem
from grader.authoring.trials import TellStep
from grader.core.atomic_file import write_atomically
from grader.core.machine import environment
from grader.core.report import Report
from grader.course.course import Course
from grader.course.module import CourseError, Module
from grader.course.seeds import secret_salt
from grader.grading.load_student import require_backend
from grader.grading.workers import Workers
from grader.sandbox.jail.view import gpu_devices

_FOLDER = Path(".attnlab", "proofs")
_GENERATED = {".ipynb", ".pyc"}
_ONE_CHECKOUT = 300.0  # seconds in which git or a copy writes all files of a course


@dataclass(frozen=True)
class Proof:
    """The result of proving one module; `error` is the mistake that stopped the proof, if one did."""

    module: str
    key: str  # of everything the proof depends on
    problems: tuple[Problem, ...]
    golden: dict[str, Any] | None
    checks: int = 0
    misconceptions: int = 0
    error: dict[str, Any] | None = None  # a CourseError
    not_run: str = ""  # why nothing was run, if nothing was
    not_passed: dict[str, dict[str, str]] = field(default_factory=dict)  # by misconception and check: its outcome
    broken_limits: dict[str, list[str]] = field(default_factory=dict)  # by misconception that is costly

    def as_json(self) -> dict[str, Any]:
        """Return the proof as plain data."""
        return asdict(self)


def proof_from(data: dict[str, Any]) -> Proof:
    """Return the proof that plain data describes; ValueError if it is not a proof."""
    try:
        problems = tuple(Problem(**problem) for problem in data["problems"])
        return Proof(**{**data, "problems": problems})
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a proof: {error!r}") from None


def prove_module(course: Course, module: Module, workers: Workers, tell: TellStep = lambda _: None) -> Proof:
    """Gather the evidence for a module and apply every rule to it."""
    key = proof_key(course, module)
    try:
        if module.needs_gpu:
            found = try_on_gpu(course, module, tell)
            return Proof(
                module.name, key, found.problems, found.golden, found.checks, found.wrong, not_run=found.not_run
            )
        require_backend(module)
        evidence = gather(course, module, workers, tell)
        golden = golden_data(module, evidence, course.stub_text(module), course.hidden_suite(module))
        problems = tuple(problem for rule in RULES for problem in rule(evidence))
    except CourseError as error:
        return Proof(module.name, key, (Problem(str(error), ""),), None, error=error.as_data())
    return Proof(
        module.name,
        key,
        problems,
        golden,
        len(evidence.checks),
        len(evidence.misconceptions),
        not_passed={way.name: _not_passed(report) for way, report in evidence.misconceptions},
        broken_limits=broken_limits(module, evidence),
    )


def _not_passed(report: Report) -> dict[str, str]:
    """Return the outcome of every check that a submission does not pass."""
    return {check.name: check.outcome for check in report.checks if check.outcome != "passed"}


def read_proof(course: Course, module: Module) -> Proof | None:
    """Return the proof that was kept for a module, unless something that it depends on has changed."""
    with contextlib.suppress(OSError, ValueError):
        proof = proof_from(json.loads(_path(course, module).read_text(encoding="utf-8")))
        if proof.key == proof_key(course, module):
            return proof
    return None


def keep_proof(course: Course, proof: Proof) -> None:
    """Keep a proof for the next command. If it cannot be written, the next command makes it again."""
    with contextlib.suppress(OSError):
        write_atomically(_path(course, course.module(proof.module)), json.dumps(proof.as_json()) + "\n")


def proof_key(course: Course, module: Module) -> str:
    """Return the hash of everything a proof depends on: the author's files, the grader, the versions and the salt."""
    # The register is compared with the proof, so it is no part of it.
    left_out = {module.stub, module.golden, module.notebook, register_file(course, module)}
    own = [path for folder in (module.folder, course.solution(module).parent) for path in _files(folder)]
    suites = [course.hidden_suite(module), course.gpu_suite(module)]
    for one in course.modules:
        if one.slug in module.fallback:  # it is tried by the checks of that module
            suites += [course.hidden_suite(one), one.checks, one.probes, one.folder / "module.toml"]
    solutions = [course.solution(one) for one in course.modules if one.order < module.order]  # it may build on them
    package = Path(grader.__file__).parent
    gpu = gpu_devices() if module.needs_gpu else ()
    digest = hashlib.sha256(json.dumps([environment(), secret_salt(course), gpu]).encode())
    for root, paths in ((course.root, [*own, *filter(None, suites), *solutions]), (package, _files(package))):
        for path in paths:
            if path not in left_out:
                data = path.read_bytes() if path.is_file() else b"missing"
                digest.update(f"{path.relative_to(root).as_posix()}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def changed_since_proof(course: Course, module: Module) -> Path | None:
    """Return a file of a module's author that is newer than its golden file and its last proof; None if none is.

    It is a hint for people who grade: the times of files can be wrong, and only `read_proof` knows for certain.
    """
    hidden = course.hidden_suite(module)
    if not hidden.is_file() or read_proof(course, module) is not None:
        return None
    proved = max(_written(module.golden), _written(_path(course, module))) + _ONE_CHECKOUT
    own = [hidden, module.checks, module.probes, module.folder / "module.toml", course.solution(module)]
    return next((path for path in own if _written(path) > proved), None)


def _written(path: Path) -> float:
    return path.stat().st_mtime if path.is_file() else 0.0


def _files(folder: Path) -> Iterable[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix not in _GENERATED)


def _path(course: Course, module: Module) -> Path:
    return course.root / _FOLDER / f"{module.name}.json"
