"""The assignment as an nbgrader course, with the class as its submissions and nbgrader's verdicts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docs.bench.peers.assignment import IMPORTS, QUESTIONS, Assignment, Check, read_assignment
from docs.bench.peers.environment import Environment
from docs.bench.peers.notebook import cell, filled, notebook
from docs.bench.peers.pupils import Pupil

NAME, FILE = "scores", "scores.ipynb"
CONFIG = """\
c = get_config()
c.CourseDirectory.course_id = "bench"
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}
"""
TESTS = "_tests"  # a test cell has the name of its question with this suffix
SCORES = """
import json
from nbgrader.api import Gradebook
with Gradebook("sqlite:///gradebook.db") as book:
    submissions = book.assignment_submissions("scores")
    print(json.dumps({
        one.student_id: {grade.name: grade.score == grade.max_score for grade in one.notebooks[0].grades}
        for one in submissions
    }))
"""


@dataclass(frozen=True)
class NbgraderCourse:
    """A course whose assignment has been released."""

    root: Path
    environment: Environment

    def hand_in(self, pupils: Iterable[Pupil]) -> None:
        """Put the notebooks of a class where nbgrader looks for them."""
        release = (self.root / "release" / NAME / FILE).read_text()
        for pupil in pupils:
            folder = self.root / "submitted" / pupil.name / NAME
            folder.mkdir(parents=True)
            (folder / FILE).write_text(filled(release, pupil.answers))

    def grade(self) -> float:
        """Grade all submissions that are not graded yet; return how long the command took."""
        return self.environment.run(["nbgrader", "autograde", NAME], self.root)

    def verdicts(self) -> dict[str, dict[str, bool]]:
        """Return whether each question of each pupil is right, according to the gradebook."""
        found = json.loads(self.environment.output(["python", "-c", SCORES], self.root))
        return {
            name: {cell.removesuffix(TESTS): bool(full) for cell, full in one.items()} for name, one in found.items()
        }


def make_course(root: Path, environment: Environment) -> NbgraderCourse:
    """Write the source of the assignment and have nbgrader release it."""
    source = root / "source" / NAME / FILE
    source.parent.mkdir(parents=True)
    source.write_text(notebook(source_cells(read_assignment())))
    (root / "nbgrader_config.py").write_text(CONFIG)
    environment.run(["nbgrader", "generate_assignment", NAME, "--create"], root)
    return NbgraderCourse(root, environment)


def source_cells(assignment: Assignment) -> Iterator[Mapping[str, Any]]:
    """Yield the cells of the source notebook: an answer and its locked tests for each question."""
    everything = "\n".join(check.source for check in assignment.checks)
    head = f"{IMPORTS}\n\n{assignment.words}\n\n\n{assignment.behind(everything)}"
    yield cell("head", head, _role("head", locked=True))
    for question in QUESTIONS:
        yield cell(question, assignment.answers()[question], _role(question, solution=True))
        name, checks = f"{question}{TESTS}", assignment.of(question)
        yield cell(name, _tests(checks), _role(name, locked=True, points=len(checks)))


def _tests(checks: tuple[Check, ...]) -> str:
    shown, kept = (
        "\n\n\n".join(
            f"{check.source}\n\n\n{check.name}({check.question})" for check in checks if check.hidden == hidden
        )
        for hidden in (False, True)
    )
    return f"{shown}\n### BEGIN HIDDEN TESTS\n{kept}\n### END HIDDEN TESTS"


def _role(name: str, *, locked: bool = False, solution: bool = False, points: int | None = None) -> dict[str, Any]:
    role = {"schema_version": 3, "grade_id": name, "grade": points is not None, "locked": locked, "solution": solution}
    return {"nbgrader": {**role, "task": False, **({} if points is None else {"points": points})}}
