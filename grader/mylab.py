"""`mylab`: the package that a student builds, one completed module after another."""

from __future__ import annotations

from pathlib import Path

from grader.course import Course
from grader.files import write_atomically
from grader.module import Module
from grader.notebook import read_cells
from grader.work import own_file

PACKAGE = "mylab"
_INIT = '"""What I built in AttnLab: each module appears here when it is complete."""\n'


def export(course: Course, module: Module) -> Path:
    """Write a module's code into the student's package, and return the file."""
    folder = course.root / PACKAGE
    if not (folder / "__init__.py").is_file():
        write_atomically(folder / "__init__.py", _INIT)
    source = own_file(module)
    text = _as_script(source) if source == module.notebook else source.read_text(encoding="utf-8")
    write_atomically(folder / f"{module.slug}.py", text)
    return folder / f"{module.slug}.py"


def _as_script(notebook: Path) -> str:
    return "".join(f"# %%\n{cell}\n\n" for cell in read_cells(notebook.read_bytes()))
