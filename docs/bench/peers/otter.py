"""The assignment as an otter-grader autograder, with the class as its submissions and otter's verdicts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docs.bench.peers.assignment import IMPORTS, QUESTIONS, Assignment, Check, read_assignment
from docs.bench.peers.environment import Environment
from docs.bench.peers.notebook import cell, notebook
from docs.bench.peers.pupils import Pupil

ZIP, FILE = "autograder.zip", "scores.ipynb"
TEST = """\
OK_FORMAT = False

{imports}

from otter.test_files import test_case

name = "{question}"
points = {points}

{words}


{shared}


{cases}
"""
# The first and last cells that `otter assign` writes into a student's notebook.
HEAD = f'# Initialize Otter\nimport otter\ngrader = otter.Notebook("{FILE}")\n\n{IMPORTS}'
IN_ONE_PROCESS = """
import sys
from otter.api import grade_submission
for file in sys.argv[2:]:
    grade_submission(file, sys.argv[1], quiet=True)
"""


@dataclass(frozen=True)
class OtterAssignment:
    """A folder with an autograder in it."""

    root: Path
    environment: Environment

    def hand_in(self, pupils: Iterable[Pupil]) -> None:
        """Write the notebooks of a class."""
        for pupil in pupils:
            folder = self.root / pupil.name
            folder.mkdir()
            (folder / FILE).write_text(notebook(student_cells(pupil)))

    def grade(self, pupil: Pupil) -> float:
        """Grade one submission, as otter does without Docker; return how long the command took."""
        return self.environment.run(["otter", "run", "--no-logo", "-a", f"../{ZIP}", FILE], self.root / pupil.name)

    def grade_in_one_process(self, pupils: Iterable[Pupil]) -> float:
        """Grade submissions through otter's Python interface, which imports only once; return how long it took."""
        files = [f"{pupil.name}/{FILE}" for pupil in pupils]
        return self.environment.run(["python", "-c", IN_ONE_PROCESS, ZIP, *files], self.root)

    def verdicts(self, pupils: Iterable[Pupil]) -> dict[str, dict[str, bool]]:
        """Return whether each question of each pupil is right, according to the results."""
        return {pupil.name: self._verdict(pupil) for pupil in pupils}

    def _verdict(self, pupil: Pupil) -> dict[str, bool]:
        results = json.loads((self.root / pupil.name / "results.json").read_text())
        tests = {test["name"]: test for test in results["tests"]}
        return {name: tests[name]["score"] == tests[name]["max_score"] for name in QUESTIONS}


def make_assignment(root: Path, environment: Environment) -> OtterAssignment:
    """Write the tests, and let otter make the autograder from them."""
    assignment = read_assignment()
    (root / "tests").mkdir(parents=True)
    for question in QUESTIONS:
        (root / "tests" / f"{question}.py").write_text(test_file(assignment, question))
    environment.run(["otter", "generate", "-t", "tests", "-o", ZIP], root)
    return OtterAssignment(root, environment)


def test_file(assignment: Assignment, question: str) -> str:
    """Return the tests of a question in otter's format of exceptions: each function gets the arguments it names."""
    checks = assignment.of(question)
    cases = "\n\n\n".join(map(_case, checks))
    shared = assignment.behind(cases)
    return TEST.format(
        imports=IMPORTS, question=question, points=len(checks), words=assignment.words, shared=shared, cases=cases
    )


def _case(check: Check) -> str:
    return f"@test_case(points=1, hidden={check.hidden})\n{check.source}"


def student_cells(pupil: Pupil) -> Iterator[Mapping[str, Any]]:
    """Yield the cells of a pupil's notebook, with a check after each answer."""
    yield cell("head", HEAD)
    for question, answer in pupil.answers.items():
        yield cell(question, answer)
        yield cell(f"{question}_check", f'grader.check("{question}")')
