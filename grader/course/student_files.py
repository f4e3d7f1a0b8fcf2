"""What students receive of a course: its modules without solutions and hidden suites, and the files beside them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from grader.course.bundle_texts import agents, readme, tasks
from grader.course.course import Course
from grader.course.course_file import COURSE_FILE, read_course_file, student_side
from grader.course.engine import CONSTRAINTS, versions_for
from grader.course.golden import read_golden
from grader.course.module import CourseError, Module


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


def files_beside(course: Course, modules: tuple[Module, ...], engine: str) -> dict[str, bytes]:
    """Return what is beside the modules: names, exact versions, texts.

    `engine` is what pip installs as `attn`: a wheel, or a name with a version. If it is empty, `attn` is there already.
    """
    file, constraints = read_course_file(course.root), versions_for(course.root)
    texts = {
        CONSTRAINTS: constraints,
        COURSE_FILE: student_side(file),
        "README.md": readme(file.about, modules, engine, constraints),
        "AGENTS.md": agents(file),
        ".vscode/tasks.json": tasks(),
    }
    return {name: text.encode() for name, text in texts.items()}


def carried_files(course: Course) -> dict[str, bytes]:
    """Return what an installed package carries of a course: all modules, its name, and the exact versions."""
    beside = {CONSTRAINTS: versions_for(course.root), COURSE_FILE: student_side(read_course_file(course.root))}
    return {name: text.encode() for name, text in beside.items()} | module_files(course.all_modules)


def _content(path: Path) -> bytes:
    if not path.is_file():
        raise CourseError(path, "", "is missing", "Run `attn dev build` and `attn dev check`")
    return path.read_bytes()
