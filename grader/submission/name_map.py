"""The file of --map: whose work a folder or a file is, and for which module."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from grader.core.csv_table import CsvError, read_csv
from grader.course.course import Course
from grader.course.module import CourseError, Module
from grader.submission.identity import Identity, folder_identity

_FROM = ("folder", "from", "file", "submission", "id")
COLUMNS = "the columns folder and student, and may have module"


class MapError(Exception):
    """A map that cannot be used: the file, the line and why."""


@dataclass(frozen=True)
class MapLine:
    """One line: everything below `folder` is the work of `student`."""

    line: int
    folder: str
    student: Identity
    module: Module | None

    def is_for_file(self, path: PurePosixPath) -> bool:
        """Whether the line names this file, and not its folder or student."""
        return self.folder in (str(path), path.name)


@dataclass
class NameMap:
    """The lines of a map. Several lines for one folder make a group."""

    path: str = ""
    lines: tuple[MapLine, ...] = ()
    used: set[int] = field(default_factory=set)
    _named: dict[int, PurePosixPath] = field(default_factory=dict)  # by line: the file that only its name fits

    def find(self, path: PurePosixPath, labels: Iterable[str]) -> tuple[MapLine, ...]:
        """Return the lines for a file: for its path, its folders from the inside, its name, or its student."""
        for name in _names_of(path, labels) if self.lines else ():
            found = tuple(one for one in self.lines if one.folder == name)
            if found:
                self.used |= {one.line for one in found}
                if name == path.name:
                    self._require_one(found[0], path)
                return found
        return ()

    def _require_one(self, line: MapLine, path: PurePosixPath) -> None:
        """Refuse a line with the name of a file that several folders have: it would give all of them to one student."""
        first = self._named.setdefault(line.line, path)
        if first != path:
            where = f"{self.path}, line {line.line}: {line.folder!r} is both {first} and {path}"
            raise MapError(f"{where}. Write the whole path")

    def unused(self) -> list[str]:
        """Return a message for each line that fits nothing that was found."""
        missing = [one for one in self.lines if one.line not in self.used]
        return [f"{self.path}, line {one.line}: nothing here is called {one.folder!r}" for one in missing]


def read_map(course: Course, path: Path, data: bytes) -> NameMap:
    """Read a CSV file with the columns `folder` (or `id`) and `student` and, optionally, `module`."""
    try:
        rows = read_csv(data)
    except CsvError as error:
        raise MapError(f"{path} {error}") from None
    lines = [_line(course, path, number, row) for number, row in rows]
    if not lines:
        raise MapError(f"{path} has no lines. It needs {COLUMNS}")
    seen: dict[tuple[str, str], MapLine] = {}
    for one in lines:
        twin = seen.setdefault((one.folder, one.student.label), one)
        if twin is not one:
            raise MapError(f"{path}, line {one.line}: the same folder and student are already in line {twin.line}")
        other = next((two for two in lines if two.folder == one.folder and two.module is not one.module), None)
        if other is not None:
            raise MapError(
                f"{path}, line {max(one.line, other.line)}: {one.folder!r} has another module in a line above"
            )
    return NameMap(str(path), tuple(lines))


def _names_of(path: PurePosixPath, labels: Iterable[str]) -> Iterator[str]:
    yield str(path)
    for folder in path.parents:
        if folder.parts:
            yield str(folder)
    yield path.name
    yield from labels


def _line(course: Course, path: Path, number: int, row: dict[str, str]) -> MapLine:
    student = row.get("student", "")
    folder = next((row[name] for name in _FROM if row.get(name)), "").replace("\\", "/").strip("/")
    if not student or not folder:
        raise MapError(f"{path}, line {number}: it needs {COLUMNS}")
    try:
        module = course.module(row["module"]) if row.get("module") else None
    except CourseError as error:
        raise MapError(f"{path}, line {number}: {error}") from None
    return MapLine(number, folder, folder_identity(student), module)
