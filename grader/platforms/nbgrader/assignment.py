"""An assignment: the source notebook of a module, from which nbgrader makes the students' notebook."""

from __future__ import annotations

import re

from grader.course.course import Course
from grader.course.engine import WHEEL
from grader.course.golden import read_golden
from grader.course.module import CourseError, Module, read_text
from grader.course.notebook import notebook_text
from grader.platforms.nbgrader.visible_checks import visible_checks
from grader.submission.assignment_cells import (
    OPEN_ANSWER,
    OPEN_QUESTION,
    SETUP,
    Cell,
    CellsError,
    id_of_test,
    script_roles,
    with_tests,
)

# If AttnLab is installed, this only loads it. If not, it installs the wheel in the notebook's folder, or the release.
_SETUP = """\
# Run this cell first: it loads the checks of this notebook. If AttnLab is not installed, as on Colab, it installs it
# from {place}.
try:
    import grader.grading.notebook_magic
except ImportError:
    %pip install --quiet {engine}
%load_ext grader.grading.notebook_magic"""
# The open question of a lesson, under Reflect: answered in words and graded by hand.
POINTS = 5.0  # in addition to the points of the module, which are all automatic
_OPEN = re.compile(r"^- Open question, for discussion: (?P<text>.*(?:\n  .*)*)", re.MULTILINE)
OPEN_STUB = "*Your answer goes here.*"


def source_notebook(course: Course, module: Module, engine: str = WHEEL) -> str:
    """Return the source notebook of a module, with solutions, tests and their points, and the open question."""
    cells = assignment_cells(course, module, engine)
    return notebook_text([(cell.kind, cell.source, cell.metadata) for cell in cells], module.slug)


def assignment_cells(course: Course, module: Module, engine: str = WHEEL) -> list[Cell]:
    """Return the cells of the source notebook in order. `engine` is what pip installs as AttnLab."""
    solution = course.solution(module)
    try:
        cells = with_tests(script_roles(read_text(solution)), _tests(course, module))
    except CellsError as error:
        raise CourseError(solution, "", str(error), "Give every function its own cell") from None
    first = next(number for number, cell in enumerate(cells) if cell.kind == "code")
    return [*cells[:first], Cell("code", _setup(engine), "locked", SETUP), *cells[first:], *_question(module)]


def _setup(engine: str) -> str:
    here = f"the file {engine}, which came with this notebook. Keep both in the same folder"
    return _SETUP.format(place=here if engine == WHEEL else "the package index, which needs a network", engine=engine)


def target_points(module: Module) -> dict[str, float]:
    """Return the points of each target: visible and hidden checks, and costs."""
    return {target: round(sum(parts.values()), 6) for target, parts in read_golden(module).targets.items()}


def _tests(course: Course, module: Module) -> dict[str, Cell]:
    """Return the locked cell of every target, with the visible checks for students to run and all of its points."""
    api = course.api(module)
    points = target_points(module)
    visible = {target: parts["visible"] for target, parts in read_golden(module).targets.items()}
    cells = {}
    for target, checks in visible_checks(module, api).items():
        shares = f"{points[target]:g} points, {visible[target]:g} of them for the checks in this cell"
        lines = [
            f"%%check {module.name} {target}",
            f"# {target}: {shares}. The rest is for hidden checks and costs.",
            "# This cell is locked: changes to it are not graded.",
            checks.strip(),
        ]
        cells[target] = Cell("code", "\n".join(lines), "test", id_of_test(target), points[target], target)
    return cells


def _question(module: Module) -> list[Cell]:
    question = open_question(module)
    if not question:
        return []
    task = f"Write a few sentences. Your instructor reads them, for {POINTS:g} points."
    text = f"## An open question\n\n{question}\n\n{task}"
    asked = Cell("markdown", text, "locked", OPEN_QUESTION)
    return [asked, Cell("markdown", OPEN_STUB, "open", OPEN_ANSWER, POINTS)]


def open_question(module: Module) -> str:
    """Return the open question of a lesson, in one paragraph; empty if it has none."""
    _, _, reflect = read_text(module.lesson).partition("\n## Reflect\n")
    found = _OPEN.search(reflect)
    if not found:
        return ""
    text = " ".join(line.strip() for line in found["text"].splitlines())
    return text[0].upper() + text[1:]
