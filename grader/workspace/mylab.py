"""`mylab`, the package that a student builds from completed modules."""

from __future__ import annotations

import shutil
from pathlib import Path

from grader.core.atomic_file import write_atomically
from grader.course.course import Course
from grader.course.module import Module
from grader.course.notebook import read_cells
from grader.submission.own_file import own_file

PACKAGE = "mylab"
_INIT = '"""What I built in AttnLab: each module appears here when it is complete."""\n'


def export(course: Course, module: Module) -> Path:
    """Write a module's code into the student's package and return the path. An older version is kept beside it."""
    folder = course.root / PACKAGE
    if not (folder / "__init__.py").is_file():
        write_atomically(folder / "__init__.py", _INIT)
    source = own_file(module)
    text = _as_script(source) if source == module.notebook else source.read_text(encoding="utf-8")
    path = folder / f"{module.slug}.py"
    if path.is_file() and path.read_bytes() != text.encode():
        shutil.copy2(path, path.with_suffix(".py.old"))
    write_atomically(path, text)
    return path


def _as_script(notebook: Path) -> str:
    return "".join(f"# %%\n{cell}\n\n" for cell in read_cells(notebook.read_bytes()))
