"""Submissions as plain notebooks that are safe for nbgrader to read.

nbgrader trusts the metadata of a submitted notebook. A notebook with bad metadata can stop the grading of a complete
class. So we keep only the kind, the text and the id of each cell.
"""

from __future__ import annotations

import copy
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.api import Gradebook

from grader.core.safe_text import visible
from grader.course.notebook import NotebookError, grade_id, raw_cells, read_cells, source_of
from grader.platforms.nbgrader.assignment import OPEN_STUB
from grader.platforms.nbgrader.autograde import AutogradeRun
from grader.platforms.nbgrader.gradebook import open_gradebook
from grader.submission.archive import UnreadableError, read_file
from grader.submission.assignment_cells import OPEN_ANSWER, SCHEMA


class SubmissionExporter(NotebookExporter):  # type: ignore[misc] # nbconvert has no types
    """Exporter that treats submissions as untrusted. nbgrader makes one for each run, so it also holds the run."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.run = AutogradeRun(self.parent)

    def from_filename(self, filename: str, resources: Any = None, **kwargs: Any) -> Any:
        """Convert one notebook. We wrote those in `autograded/`; those in `submitted/` are untrusted."""
        coursedir = self.parent.coursedir
        named = resources["nbgrader"]
        submitted = coursedir.format_path(coursedir.submitted_directory, named["student"], named["assignment"])
        if Path(filename).parent != Path(submitted):
            return super().from_filename(filename, resources=resources, **kwargs)
        with open_gradebook(coursedir.db_url, coursedir.course_id) as book:
            known = released_cells(book, named["notebook"], named["assignment"])
        resources["metadata"] = {"name": named["notebook"], "path": submitted}
        return self.from_notebook_node(plain_notebook(Path(filename), known), resources=resources, **kwargs)


def released_cells(book: Gradebook, notebook: str, assignment: str) -> dict[str, Any]:
    """Return the cells of a released notebook from nbgrader's gradebook, by their ids."""
    row = book.find_notebook(notebook, assignment)
    points = {cell.name: cell.max_score for cell in row.grade_cells}
    answers = {cell.name for cell in row.solution_cells}
    return {cell.name: _known(cell, points.get(cell.name), cell.name in answers) for cell in row.source_cells}


def plain_notebook(path: Path, known: Mapping[str, Any], missing: str = "") -> Any:
    """Return the file at a path as a notebook of plain cells, with each released cell exactly once.

    If there is no file, the notebook shows the reason in `missing`.
    """
    try:
        if missing and not path.exists():
            raise UnreadableError(missing)
        return notebook_of(read_file(path).data, known)
    except UnreadableError as error:
        return _with_released([_nothing(error)], known)


def notebook_of(data: bytes, known: Mapping[str, Any]) -> Any:
    """Return the data of a file as a notebook of plain cells, with each released cell exactly once."""
    try:
        read_cells(data)  # a notebook that cannot be graded is not shown either
        shown = [_shown(cell, known) for cell in raw_cells(data) if isinstance(cell, dict)]
    except NotebookError as error:
        shown = [_nothing(error)]
    return _with_released(shown, known)


def _nothing(error: Exception) -> Any:
    return nbformat.v4.new_markdown_cell(f"There is nothing to show: {error}")


def _with_released(shown: list[Any], known: Mapping[str, Any]) -> Any:
    """Return a notebook of these cells, and of the released cells that are not among them."""
    cells = _each_once(shown)
    found = {cell.metadata.nbgrader.grade_id for cell in cells if "nbgrader" in cell.metadata}
    cells += [known[name] for name in sorted(known.keys() - found, key=_by_target)]
    for number, cell in enumerate(cells, 1):
        cell.id = f"cell-{number}"
    return nbformat.v4.new_notebook(cells=cells)


def restore_locked(notebook: Any, known: Mapping[str, Any]) -> None:
    """Restore the released text of the locked cells, as nbgrader's OverwriteCells does in its own runs."""
    for cell in notebook.cells:
        released = known.get(grade_id(cell))
        if released is not None and released.metadata.nbgrader.locked:
            cell.source = released.source


def answers_open_question(notebook: Any) -> bool | None:
    """Whether the open question is answered; None if the notebook has no open question."""
    for cell in notebook.cells:
        if grade_id(cell) == OPEN_ANSWER:
            return bool(cell.source.strip() not in ("", OPEN_STUB))
    return None


def _known(cell: Any, points: float | None, answer: bool) -> Any:
    """Return a cell of the gradebook as a notebook cell."""
    metadata = {"schema_version": SCHEMA, "grade_id": cell.name, "cell_type": cell.cell_type, "task": False}
    metadata |= {"grade": points is not None, "solution": answer, "locked": cell.locked, "checksum": cell.checksum}
    metadata |= {} if points is None else {"points": points}
    return _new(cell.cell_type, cell.source, {"nbgrader": metadata})


def _shown(cell: Mapping[str, Any], known: Mapping[str, Any]) -> Any:
    """Return a cell with only its text taken from the student."""
    kind = cell.get("cell_type")
    try:
        text = visible(source_of(cell).replace("\r\n", "\n"))  # code must not read differently from what it does
    except NotebookError:
        text = ""
    released = known.get(grade_id(cell))
    if released is not None:
        return _new(released.cell_type, text, copy.deepcopy(released.metadata))
    if kind in ("code", "markdown"):
        return _new(kind, text, {})
    return _new("markdown", textwrap.indent(text, " " * 4), {})  # a raw cell would be copied into the page unescaped


def _new(kind: str, text: str, metadata: Mapping[str, Any]) -> Any:
    make = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
    return make(source=text, metadata=nbformat.from_dict(metadata))


def _each_once(cells: list[Any]) -> list[Any]:
    """Keep an id only on the last cell that has it. Earlier cells with it are the student's copies."""
    seen: set[str] = set()
    for cell in reversed(cells):
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in seen:
            del cell.metadata["nbgrader"]
        elif name is not None:
            seen.add(name)
    return cells


def _by_target(name: str) -> tuple[str, str]:
    return name.partition("-")[2], name
