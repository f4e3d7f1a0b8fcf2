"""An assignment: a module's solution as the source notebook that nbgrader makes the students' from."""

from __future__ import annotations

from grader.authoring.bundle import WHEEL
from grader.course.course import Course
from grader.course.golden import read_golden
from grader.course.module import CourseError, Module, read_text
from grader.course.notebook import notebook_text
from grader.platforms.nbgrader.open_questions import POINTS, open_question
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

# Where AttnLab is installed this only loads it; elsewhere the wheel lies beside the notebook.
_SETUP = f"""\
# Run this cell first: it loads the checks of this notebook. Where AttnLab is not installed, as on Colab, it installs
# it from the file {WHEEL}, which came with this notebook and belongs beside it.
try:
    import grader.grading.notebook_magic
except ImportError:
    %pip install --quiet {WHEEL}
%load_ext grader.grading.notebook_magic"""
OPEN_STUB = "*Your answer goes here.*"


def source_notebook(course: Course, module: Module) -> str:
    """Return the source notebook of a module: solutions, tests with their points, and the open question."""
    cells = assignment_cells(course, module)
    return notebook_text([(cell.kind, cell.source, cell.metadata) for cell in cells], module.slug)


def assignment_cells(course: Course, module: Module) -> list[Cell]:
    """Return the cells of that notebook in order."""
    solution = course.solution(module)
    try:
        cells = with_tests(script_roles(read_text(solution)), _tests(course, module))
    except CellsError as error:
        raise CourseError(solution, "", str(error), "Give every function a cell of its own") from None
    first = next(number for number, cell in enumerate(cells) if cell.kind == "code")
    return [*cells[:first], Cell("code", _SETUP, "locked", SETUP), *cells[first:], *_question(module)]


def target_points(module: Module) -> dict[str, float]:
    """Return what each target is worth: its checks, visible and hidden, and its costs."""
    return {target: round(sum(parts.values()), 6) for target, parts in read_golden(module).targets.items()}


def _tests(course: Course, module: Module) -> dict[str, Cell]:
    """Return the locked cell of every target: its visible checks, to be run by students, and all of its points."""
    api = course.api(module)
    points = target_points(module)
    visible = {target: parts["visible"] for target, parts in read_golden(module).targets.items()}
    cells = {}
    for target, checks in visible_checks(module, api).items():
        shares = f"{points[target]:g} points, {visible[target]:g} of them for what is checked here"
        lines = [
            f"%%check {module.name} {target}",
            f"# {target}: {shares}. The rest is for hidden checks and costs.",
            "# This cell is locked: nothing that is changed in it is graded.",
            checks.strip(),
        ]
        cells[target] = Cell("code", "\n".join(lines), "test", id_of_test(target), points[target], target)
    return cells


def _question(module: Module) -> list[Cell]:
    question = open_question(module)
    if not question:
        return []
    text = (
        f"## An open question\n\n{question}\n\nWrite a few sentences. They are read by a person, for {POINTS:g} points."
    )
    asked = Cell("markdown", text, "locked", OPEN_QUESTION)
    return [asked, Cell("markdown", OPEN_STUB, "open", OPEN_ANSWER, POINTS)]
