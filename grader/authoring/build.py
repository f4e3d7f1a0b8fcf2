"""Building modules: the files that are generated from their solutions and suites."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grader.authoring.golden_file import golden_text, is_fresh
from grader.authoring.proof import Proof
from grader.authoring.prover import TellModule, prove
from grader.core.atomic_file import write_atomically
from grader.course.course import Course
from grader.course.module import CourseError, Module


def build_module(course: Course, module: Module) -> list[Path]:
    """Write a module's stub and golden file; return those that changed."""
    return build_modules(course, [module])[module.name]


def build_modules(
    course: Course, modules: Sequence[Module], tell: TellModule = lambda *_: None
) -> dict[str, list[Path]]:
    """Write the stubs and golden files of modules; return the files that changed, by module."""
    changed = {module.name: _write_stub(course, module) for module in modules}
    proofs = prove(course, modules, tell)
    for module in modules:
        changed[module.name] += _write_golden(module, proofs[module.name])
    return changed


def is_current(path: Path, text: str) -> bool:
    """Whether a file holds exactly this text."""
    return path.is_file() and path.read_bytes() == text.encode()


def _write_stub(course: Course, module: Module) -> list[Path]:
    text = course.stub_text(module)
    if is_current(module.stub, text):
        return []
    write_atomically(module.stub, text)
    return [module.stub]


def _write_golden(module: Module, proof: Proof) -> list[Path]:
    if proof.error is not None:
        file, key, problem, fix, usage = proof.error
        raise CourseError(Path(file), key, problem, fix, usage=usage)
    if proof.golden is None or is_fresh(module, proof.golden):
        return []
    write_atomically(module.golden, golden_text(proof.golden))
    return [module.golden]
