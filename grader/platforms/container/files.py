"""The files that an autograder carries: the engine, what grading reads of a course, and what pip installs."""

from __future__ import annotations

from pathlib import Path

import grader
from grader.course.course import Course
from grader.course.engine import CONSTRAINTS, versions_for
from grader.course.loading import earlier_solutions
from grader.course.module import CourseError, Module, read_text
from grader.course.seeds import secret_salt

COURSE = "course"
REQUIRED = "requirements.txt"
# The packages that the grader imports. pyproject.toml has them too, with those that the command needs.
REQUIREMENTS = ("numpy>=2.0", "psutil>=5.9.6", "pytest>=8.4")
TORCH = "torch>=2.6"


def grading_files(course: Course, module: Module) -> dict[str, bytes]:
    """Return the engine and what grading reads of a course. The same course gives the same bytes."""
    files: dict[str, bytes] = {}
    package = Path(grader.__file__).parent
    for path in sorted(package.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            files[f"grader/{path.relative_to(package).as_posix()}"] = path.read_bytes()
    for path in _course_files(course, module):
        files[f"{COURSE}/{path.relative_to(course.root).as_posix()}"] = content(path)
    files[f"{COURSE}/.attnlab/salt"] = f"{secret_salt(course)}\n".encode()  # hidden inputs as in `attn grade`
    return files


def package_lists(course: Course, module: Module) -> dict[str, bytes]:
    """Return what pip installs for a module, and the exact versions."""
    torch = [TORCH] if module.backend == "torch" else []
    return {
        REQUIRED: "\n".join([*REQUIREMENTS, *torch, ""]).encode(),
        CONSTRAINTS: versions_for(course.root).encode(),
    }


def content(path: Path) -> bytes:
    """Return the bytes of a file of the course; CourseError if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        fix = "An autograder needs the complete course. Run `attn dev build`, or restore the file"
        raise CourseError(path, "", f"cannot be read ({error.strerror})", fix) from None


def _course_files(course: Course, module: Module) -> list[Path]:
    """Return the files that grading reads: all of the module, and what identifies the other modules."""
    named = [
        (one.folder / "module.toml", one.golden, *one.fallbacks.values()) for one in course.modules
    ]  # a course is read only if its fallbacks are there
    others = [path for paths in named for path in paths if path.is_file()]
    own = [module.folder / "module.toml", module.stub, module.checks, module.probes, module.golden]
    own += [*module.fallbacks.values(), course.solution(module), course.hidden_suite(module)]
    imported = earlier_solutions(course, module, read_text(course.solution(module)))
    for earlier in course.modules:
        if earlier.slug in {*imported, *module.fallback}:
            own.append(course.solution(earlier))
        if earlier.slug in module.fallback:  # its own checks decide whether the fallback stands in
            own += [earlier.stub, earlier.checks, earlier.probes, course.hidden_suite(earlier)]
    return list(dict.fromkeys([*others, *own]))
