"""What students receive of a course: its modules without solutions and hidden suites, and the files beside them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from grader.course.bundle_texts import agents, readme, tasks
from grader.course.course import Course
from grader.course.course_file import COURSE_FILE, read_course_file, student_side
from grader.course.golden import read_golden
from grader.course.module import CourseError, Module

CONSTRAINTS = "constraints.txt"


def released_files(module: Module) -> list[Path]:
    """Return the files of a module that students receive."""
    named = (module.lesson, module.stub, module.checks, module.probes, module.hints, module.golden)
    return [module.folder / "module.toml", *named, *module.beside_lesson, *module.fallbacks.values()]


def module_files(modules: Iterable[Module]) -> dict[str, bytes]:
    """Return the files of some modules by their path in a bundle. Each stub is the generated one."""
    files: dict[str, bytes] = {}
    for module in modules:
        stub = read_golden(module).stub.encode()
        for path in released_files(module):
            files[f"modules/{module.name}/{path.name}"] = stub if path == module.stub else _content(path)
    return files


def files_beside(course: Course, modules: tuple[Module, ...], wheel: str) -> dict[str, bytes]:
    """Return what is beside the modules: names, exact versions, texts. Without a wheel, `attn` is installed already."""
    file, constraints = read_course_file(course.root), _content(course.root / CONSTRAINTS)
    texts = {
        COURSE_FILE: student_side(file),
        "README.md": readme(file.about, modules, wheel, constraints.decode("utf-8")),
        "AGENTS.md": agents(file),
        ".vscode/tasks.json": tasks(),
    }
    return {CONSTRAINTS: constraints, **{name: text.encode() for name, text in texts.items()}}


def carried_files(course: Course) -> dict[str, bytes]:
    """Return what an installed package carries of a course: all modules, its name, and the exact versions."""
    beside = {
        CONSTRAINTS: _content(course.root / CONSTRAINTS),
        COURSE_FILE: student_side(read_course_file(course.root)).encode(),
    }
    return beside | module_files(course.all_modules)


def _content(path: Path) -> bytes:
    if not path.is_file():
        raise CourseError(path, "", "is missing", "Run `attn dev build` and `attn dev check`")
    return path.read_bytes()
