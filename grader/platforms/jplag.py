"""JPlag: folders with the students' code for a similarity search, and the code they were given as base code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from grader.core.atomic_file import file_name
from grader.core.json_record import json_text
from grader.core.safe_text import one_line, plain_name
from grader.core.syntax import parse, without_magic
from grader.course.course import Course
from grader.course.golden import read_golden
from grader.course.module import Module
from grader.course.notebook import make_notebook, read_cells
from grader.submission.finder import find_submissions
from grader.submission.submission import Source

SUBMISSIONS = "submissions"
BASE_CODE = "base-code"
NAMES = "students.json"


@dataclass(frozen=True)
class JPlagFolder:
    """The number of files written for each module, and the problems found."""

    files: dict[str, int]
    problems: tuple[str, ...]


def lay_out(
    course: Course, paths: Iterable[Path], module: Module | None, to: Path, scratch: Path, *, class_zip: bool = False
) -> JPlagFolder:
    """Write a folder for each student below MODULE/submissions, and the stub to MODULE/base-code."""
    found = find_submissions(course, paths, module, "latest", scratch, class_zip=class_zip)
    problems = [one_line(f"{where}: {why}") for where, why in found.refused]
    files: dict[str, int] = {}
    names: dict[str, dict[str, str]] = {}
    for handed_in in found.handed_in:
        submission = handed_in.read()
        one = handed_in.piece.module
        source = submission.sources.get(one.slug)
        student = plain_name(submission.student)
        if source is None:
            problems.append(one_line(f"{student}, {one.name}: {submission.problem or submission.lost}"))
            continue
        text = plain_text(source, one)
        if not _is_python(text):
            problems.append(one_line(f"{student}, {one.name}: is not valid Python; included anyway"))
        folder = file_name(student)
        names.setdefault(one.name, {})[folder] = student
        _write(to / one.name / SUBMISSIONS / folder / f"{one.slug}.py", text)
        files[one.name] = files.get(one.name, 0) + 1
    for name in files:
        one = course.module(name)
        _write(to / name / BASE_CODE / f"{one.slug}.py", read_golden(one).stub)
        _write(to / name / NAMES, json_text(names[name]) + "\n")
    return JPlagFolder(files, tuple(problems))


def plain_text(source: Source, module: Module) -> str:
    """Return a student's code as plain Python; of a notebook only the cells that were not given to the student."""
    if not source.notebook:
        return "\n".join(source.cells)
    given = {_comparable(cell) for cell in read_cells(make_notebook(read_golden(module).stub, module.slug).encode())}
    own = [cell for cell in source.cells if _comparable(cell) and _comparable(cell) not in given]
    return "\n\n".join(map(_without_magic, own)) + "\n"


def _comparable(cell: str) -> str:
    """Return a cell without blank lines and trailing spaces."""
    return "\n".join(line.rstrip() for line in cell.splitlines() if line.strip())


def _without_magic(cell: str) -> str:
    """Return a cell without the lines that only a notebook understands."""
    while True:
        try:
            parse(cell)
        except SyntaxError as error:
            shorter = without_magic(cell, error.lineno or 0)
            if shorter is None:
                return cell
            cell = shorter
        except (ValueError, RecursionError, MemoryError):
            return cell
        else:
            return cell


def _is_python(text: str) -> bool:
    try:
        parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8", "replace"))
