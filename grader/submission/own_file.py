"""The file with a student's own work on a module: a script or a notebook."""

from __future__ import annotations

from pathlib import Path

from grader.course.golden import read_stub, sha256
from grader.course.module import Module
from grader.course.notebook import NotebookError, make_notebook, read_cells


def own_file(module: Module) -> Path:
    """Return the file that counts: the script or the notebook, whichever changed last."""
    files = [path for path in (module.stub, module.notebook) if path.is_file()]
    return max(files, key=lambda path: path.stat().st_mtime, default=module.stub)


def own_sha256(module: Module) -> str:
    """Return the hash of the file that counts; empty if there is no file."""
    path = own_file(module)
    return sha256(path.read_bytes()) if path.is_file() else ""


def is_untouched(module: Module) -> bool:
    """Whether the student has not changed anything yet."""
    path = own_file(module)
    if path == module.stub:
        return path.is_file() and path.read_bytes() == read_stub(module).encode()
    return _code_of_notebook(path) == _code_of_script(module, read_stub(module))


def stale_twin(module: Module) -> Path | None:
    """Return the older of script and notebook, if both exist and their code differs."""
    if not (module.stub.is_file() and module.notebook.is_file()):
        return None
    script = module.stub.read_text(encoding="utf-8", errors="replace")
    if _code_of_script(module, script) == _code_of_notebook(module.notebook):
        return None
    return module.notebook if own_file(module) == module.stub else module.stub


def _code_of_script(module: Module, script: str) -> list[str]:
    return _code_lines(read_cells(make_notebook(script, module.slug).encode("utf-8", "replace")))


def _code_of_notebook(path: Path) -> list[str]:
    try:
        return _code_lines(read_cells(path.read_bytes()))
    except NotebookError:
        return []


def _code_lines(cells: tuple[str, ...]) -> list[str]:
    """Return the lines that are not empty: the split into cells makes no difference."""
    return [line.rstrip() for cell in cells for line in cell.splitlines() if line.strip()]
