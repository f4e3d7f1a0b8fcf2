"""What students receive of a course: its modules without solutions and hidden suites, and the files beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from grader.course.bundle_texts import AGENTS, readme, tasks
from grader.course.course import Course
from grader.course.golden import read_golden
from grader.course.module import CourseError, Module, read_text

CONSTRAINTS = "constraints.txt"


def released_files(module: Module) -> list[Path]:
    """Return the files of a module that students receive."""
    named = (module.lesson, module.stub, module.checks, module.probes, module.hints, module.golden)
    return [module.folder / "module.toml", *named, *module.beside_lesson, *module.fallbacks.values()]


def module_files(modules: Iterable[Module]) -> dict[str, bytes]:
    """Return the files of some modules by their path in a bundle. A stub is the generated one, whatever is in its file."""
    files: dict[str, bytes] = {}
    for module in modules:
        stub = read_golden(module).stub.encode()
        for path in released_files(module):
            files[f"modules/{module.name}/{path.name}"] = stub if path == module.stub else _content(path)
    return files


def carried_files(course: Course) -> dict[str, bytes]:
    """Return what an installed package carries of a course: all modules, and the exact versions."""
    return {CONSTRAINTS: _content(course.root / CONSTRAINTS), **module_files(course.all_modules)}


def texts_beside(modules: tuple[Module, ...], wheel: str, constraints: str) -> Mapping[str, str]:
    """Return the README, and the files for editors and assistants. Without a wheel, `attn` is installed already."""
    return {
        "README.md": readme(modules, wheel, constraints),
        "AGENTS.md": AGENTS,
        ".vscode/tasks.json": tasks(),
    }


def _content(path: Path) -> bytes:
    if not path.is_file():
        raise CourseError(path, "", "is missing", "Run `attn dev build` and `attn dev check`")
    return path.read_bytes()
