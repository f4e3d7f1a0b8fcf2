"""The steps of nbgrader that AttnLab replaces: making stubs, and grading."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbgrader.preprocessors import ClearSolutions, NbGraderPreprocessor
from traitlets import Bool, Unicode

from grader.course.course import read_course
from grader.course.stub import make_stub
from grader.platforms.nbgrader.assignment import OPEN_STUB
from grader.platforms.nbgrader.exporter import answers_open_question
from grader.platforms.nbgrader.gradebook import open_gradebook, record, withdraw
from grader.platforms.nbgrader.scores import scores_of


class StubSolutions(ClearSolutions):  # type: ignore[misc] # nbgrader has no types
    """Make stubs of the answer cells by AttnLab's own rule, so that both ways to release give the same notebook."""

    text_stub = Unicode(OPEN_STUB, help="The text that replaces an answer in words.").tag(config=True)

    def _replace_solution_region(self, cell: Any, language: str) -> bool:
        if cell.cell_type != "code":
            return bool(super()._replace_solution_region(cell, language))
        solution, cell.source = cell.source, make_stub(cell.source).rstrip("\n")
        return bool(cell.source != solution.rstrip("\n"))


class AttnLab(NbGraderPreprocessor):  # type: ignore[misc]
    """Grade a submission with AttnLab, in the jail and by the hidden suite, and write the scores to the gradebook."""

    course = Unicode(help="The folder of the AttnLab course: modules, solutions and hidden suites.").tag(config=True)
    allow_unjailed = Bool(False, help="Grade without a jail: only for code that you trust.").tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Grade the submission in `submitted/` and write scores and comments; the notebook itself does not change.

        A submission that could not be graded raises: nbgrader then reports this student as failed, without a score.
        """
        run = self.parent.run
        named = resources["nbgrader"]
        assignment, student = named["assignment"], named["student"]
        with open_gradebook(named["db_url"], run.coursedir.course_id) as book:
            withdraw(book, assignment, student)  # so that no old score is left, even if grading fails
            course = read_course(Path(self.course))
            report = run.report(course, assignment, named["notebook"], student, allow_unjailed=self.allow_unjailed)
            self.log.info("AttnLab: %s has %s of %g points", student, report.score, report.max_score)
            record(book, assignment, student, scores_of(report), answers_open_question(nb))
        return nb, resources
