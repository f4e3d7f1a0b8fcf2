"""The files of a module that are made: new ones from templates, the others from its solution and suites."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from grader.authoring.examples import NUMBERS, fill_template
from grader.authoring.golden_file import golden_text, is_fresh
from grader.authoring.proof import Proof
from grader.authoring.prover import TellModule, prove
from grader.core.atomic_file import write_atomically
from grader.course.course import Course
from grader.course.module import CourseError, Module, course_error_from

_SLUG = re.compile(r"[a-z][a-z0-9_]*")


def new_module(course: Course, slug: str, title: str, example: str = NUMBERS) -> list[Path]:
    """Create the files of a new module after the last one, from one of the EXAMPLES, and return their paths."""
    if course.is_bundle and course.modules:
        _refuse(course.root, "", "is a student's bundle", "Write modules in the course itself, which has solutions")
    if not _SLUG.fullmatch(slug) or keyword.iskeyword(slug):
        _refuse(course.root / "modules", slug, "is not a valid module name", "Use lowercase letters, as in `rope`")
    if any(module.slug == slug for module in course.all_modules):
        _refuse(course.root / "modules", slug, "already exists", "Choose another name")
    order = max((module.order for module in course.all_modules), default=0) + 1
    number = f"{order:02d}"
    name = f"{number}_{slug}"
    files = {
        f"modules/{name}/module.toml": "module.toml",
        f"modules/{name}/README.md": "README.md",
        f"modules/{name}/checks.py": "checks.py",
        f"modules/{name}/probes.py": "probes.py",
        f"modules/{name}/hints.toml": "hints.toml",
        f"solutions/{name}/{slug}.py": "solution.py",
        f"solutions/{name}/misconceptions.py": "misconceptions.py",
        f"tests/hidden/test_{name}.py": "hidden_suite.py",
    }
    words = {"name": name, "slug": slug, "number": number, "order": str(order), "title": title}
    words["quoted"] = json.dumps(title)  # a JSON string is a TOML string
    for path, template in files.items():
        write_atomically(course.root / path, fill_template(f"{example}/{template}", words))
    return [course.root / path for path in files]


def _refuse(path: Path, key: str, problem: str, fix: str) -> NoReturn:
    raise CourseError(path, key, problem, fix, usage=True)


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
