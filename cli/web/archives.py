"""The archives that the page's Python unpacks: the engine, the modules, and NumPy."""

from __future__ import annotations

import gzip
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import click

from grader.course.course import Course
from grader.course.course_file import COURSE_FILE, read_course_file, student_side
from grader.course.engine import engine_files
from grader.course.module import Module
from grader.course.student_files import released_files

# What the page never runs: grading of classes, and the making of courses.
LEFT_OUT = (
    "cli/author",
    "cli/instructor",
    "grader/authoring",
    "grader/classroom",
    "grader/pages",
    "grader/platforms",
)
# Parts of NumPy that are for its own tests and for compilers.
NUMPY_LEFT_OUT = ("/tests/", "/f2py/", "/distutils/", "/_pyinstaller/", "/doc/", "/_simd.")
NUMPY_TESTS = ("_operand_flag_tests.", "_rational_tests.", "_struct_ufunc_tests.", "_umath_tests.")
COMPILED = ".so"
_OLDEST = (1980, 1, 1, 0, 0, 0)  # the same time in every archive, so that two releases have the same bytes


def page_engine_files(course: Course) -> dict[str, Path]:
    """Return the files of the engine that the page needs, by their paths in its archive."""
    left_out = tuple(f"{name}/" for name in LEFT_OUT)
    own = engine_files(course.root)
    return {name: path for name, path in own.items() if path.suffix == ".py" and not name.startswith(left_out)}


def library_files() -> dict[str, Path]:
    """Return the files of the library for commands, from this Python."""
    folder = Path(click.__file__).parent
    return {f"click/{path.relative_to(folder).as_posix()}": path for path in sorted(folder.rglob("*.py"))}


def course_files(course: Course, modules: Iterable[Module]) -> dict[str, bytes]:
    """Return what a student's bundle has of some modules, without the figures, which the page shows."""
    found = {COURSE_FILE: student_side(read_course_file(course.root)).encode()}
    for module in modules:
        files = {path.name: path.read_bytes() for path in released_files(module) if path.suffix != ".svg"}
        files[module.stub.name] = course.stub_text(module).encode()
        found |= {f"modules/{module.name}/{name}": data for name, data in files.items()}
    return found


def numpy_files(package: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of NumPy in the unpacked package of npm, by their paths in a folder of packages."""
    (inner,) = (package / "pkg").glob("numpy-*.tar.gz")
    with tarfile.open(inner) as archive:
        for member in archive:
            _, found, name = member.name.partition("/site-packages/")
            is_version = name.endswith("dist-info/METADATA")
            left_out = any(part in f"/{name}" for part in (*NUMPY_LEFT_OUT, *NUMPY_TESTS))
            wanted = name.endswith((".py", COMPILED)) and not left_out
            if found and member.isfile() and (wanted or is_version):
                content = archive.extractfile(member)
                assert content is not None
                yield name, content.read()


def write_libraries(path: Path, files: Mapping[str, bytes]) -> list[tuple[str, int]]:
    """Write compiled libraries one after another, compressed; return their names and sizes.

    The page's worker loads them before Python starts, so they are not in a zip, which Python would have to unpack.
    """
    ordered = sorted(files.items())
    path.write_bytes(gzip.compress(b"".join(data for _, data in ordered), mtime=0))
    return [(name, len(data)) for name, data in ordered]


def write_archive(path: Path, files: Mapping[str, bytes]) -> None:
    """Write a zip."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in sorted(files.items()):
            info = zipfile.ZipInfo(name, _OLDEST)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
