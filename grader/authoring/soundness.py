"""Soundness: whether a module is ready for students, and if not, why."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.authoring.build import is_current
from grader.authoring.bundle import leaks
from grader.authoring.golden_file import is_fresh
from grader.authoring.proof import Proof
from grader.authoring.prover import TellModule, prove
from grader.authoring.register_rules import register_problems
from grader.authoring.soundness_rules import Problem
from grader.course.course import Course
from grader.course.module import CourseError, Module, read_text

NO_RUFF = "ruff is not installed, so the style of the files was not checked: python -m pip install ruff"
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
        register = register_problems(course, module, proof)
        problems = (*_problems_with_files(course, module, proof), *proof.problems, *register, *style)
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


def is_linted(course: Course) -> bool:
    """Whether the course has settings for ruff."""
    try:
        settings = tomllib.loads((course.root / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return "ruff" in settings.get("tool", {})


def has_ruff() -> bool:
    """Whether ruff can run here."""
    return importlib.util.find_spec("ruff") is not None


def lint_problems(course: Course, module: Module) -> Iterator[Problem]:
    """Yield what ruff finds in the Python files of a module that an author wrote."""
    folders = (module.folder, course.solution(module).parent)
    files = [path for folder in folders for path in sorted(folder.glob("*.py"))]
    suites = (course.hidden_suite(module), course.gpu_suite(module))
    files += [path for path in suites if path is not None and path.is_file()]
    names = [path.relative_to(course.root).as_posix() for path in files]
    for one in json.loads(_ruff(course.root, "check", "--output-format=json", *names).stdout or "[]"):
        place = f"{Path(one['filename']).relative_to(course.root.resolve()).as_posix()}, line {one['location']['row']}"
        yield Problem(f"{place}: {one['message']} ({one['code'] or 'syntax'})", "Fix that line")
    for name in names:  # one by one: what ruff prints differs between its versions
        if _ruff(course.root, "format", "--check", name).returncode == 1:
            yield Problem(f"{name} is not formatted", f"Run: ruff format {name}")


def _ruff(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ruff", *arguments, "--force-exclude", "--no-cache"]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
