"""Soundness: whether a module is ready for students, and if not, why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.authoring.build import is_current
from grader.authoring.bundle import leaks
from grader.authoring.golden_file import is_fresh
from grader.authoring.lint import lint_problems
from grader.authoring.proof import Proof
from grader.authoring.prover import TellModule, prove
from grader.authoring.soundness_rules import Problem
from grader.course.course import Course
from grader.course.module import CourseError, Module, read_text

REBUILD = "Run `attn dev build`"


@dataclass(frozen=True)
class Soundness:
    """Whether one module is sound: it is if there are no problems."""

    module: Module
    problems: tuple[Problem, ...]
    proof: Proof


def check_module(course: Course, module: Module) -> Soundness:
    """Check one module by every rule."""
    return check_modules(course, [module])[0]


def check_modules(
    course: Course, modules: Sequence[Module], tell: TellModule = lambda *_: None, *, lint: bool = False
) -> list[Soundness]:
    """Check modules by every rule, using the proofs that were kept; with `lint`, also by the settings of ruff."""
    proofs = prove(course, modules, tell)
    return [_check(course, module, proofs[module.name], lint=lint) for module in modules]


def _check(course: Course, module: Module, proof: Proof, *, lint: bool) -> Soundness:
    try:
        style = lint_problems(course, module) if lint else ()
        problems = (*_problems_with_files(course, module, proof), *proof.problems, *style)
    except CourseError as error:
        problems = (Problem(str(error), ""),)
    return Soundness(module, tuple(dict.fromkeys(problems)), proof)


def _problems_with_files(course: Course, module: Module, proof: Proof) -> Iterator[Problem]:
    """Yield what is wrong with the files that students receive."""
    if not is_current(module.stub, course.stub_text(module)):
        yield Problem(f"{module.stub.name} is not what the solution generates", REBUILD)
    if not module.lesson.is_file() or not read_text(module.lesson).strip():
        yield Problem("there is no lesson", "Write README.md")
    if proof.golden is not None and not is_fresh(module, proof.golden):
        yield Problem("golden.json is stale", REBUILD)
    if proof.golden is not None:
        yield from (Problem(leak, "Remove it from the files for students") for leak in leaks(course, module))
