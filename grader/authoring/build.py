"""Building modules: the files that are generated from their solutions and suites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.authoring.golden_file import golden_text, is_fresh
from grader.authoring.proof import Proof
from grader.authoring.prover import TellModule, prove
from grader.core.atomic_file import write_atomically
from grader.course.course import Course
from grader.course.module import CourseError, Module, course_error_from


@dataclass
class Built:
    """The files of a module that were written, and the mistake that stopped the others, if there is one."""

    written: list[Path]
    error: CourseError | None = None


def build_module(course: Course, module: Module) -> list[Path]:
    """Write a module's stub and golden file; return those that changed, or raise the mistake that stopped it."""
    built = build_modules(course, [module])[module.name]
    if built.error is not None:
        raise built.error
    return built.written


def build_modules(course: Course, modules: Sequence[Module], tell: TellModule = lambda *_: None) -> dict[str, Built]:
    """Write the stubs and golden files of modules; return what was written, by module."""
    built = {module.name: _stub_written(course, module) for module in modules}
    sound = [module for module in modules if built[module.name].error is None]
    proofs = prove(course, sound, tell)
    for module in sound:
        one, proof = built[module.name], proofs[module.name]
        if proof.error is not None:
            one.error = course_error_from(proof.error)
        else:
            one.written += _write_golden(module, proof)
    return built


def is_current(path: Path, text: str) -> bool:
    """Whether a file holds exactly this text."""
    return path.is_file() and path.read_bytes() == text.encode()


def _stub_written(course: Course, module: Module) -> Built:
    try:
        text = course.stub_text(module)
    except CourseError as error:
        return Built([], error)
    if is_current(module.stub, text):
        return Built([])
    write_atomically(module.stub, text)
    return Built([module.stub])


def _write_golden(module: Module, proof: Proof) -> list[Path]:
    if proof.golden is None or is_fresh(module, proof.golden):
        return []
    write_atomically(module.golden, golden_text(proof.golden))
    return [module.golden]
