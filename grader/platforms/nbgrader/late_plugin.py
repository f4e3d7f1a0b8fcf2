"""Late penalties in nbgrader, by the rule of `attn grade --late-penalty` or by the plugin of a course."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from traitlets import Unicode

from grader.classroom.lateness import read_penalty


class LatePenalty(LateSubmissionPlugin):  # type: ignore[misc] # nbgrader has no types
    """A penalty for each started period, as a share of the points possible or in points, as in `attn grade`."""

    rule = Unicode("", help="Such as 10%/day (of the points that are given automatically) or 2/12h.").tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        """Return the penalty in points, which is never more than the score."""
        if not self.rule:
            stock: float | None = super().late_submission_penalty(student_id, score, total_seconds_late)
            return stock
        step = self.parent  # AssignLatePenalties, which is processing one notebook
        cells = step.gradebook.find_notebook(step.notebook_id, step.assignment_id).grade_cells
        possible = sum(cell.max_score for cell in cells if cell.cell_type == "code")
        return min(read_penalty(self.rule).points(timedelta(seconds=total_seconds_late), possible), score)


def late_penalty(config: Any, book: Any, row: Any) -> float | None:
    """Return the late penalty of a submitted notebook by the plugin of a course; None if it is not late."""
    late = row.assignment.total_seconds_late
    if not late:
        return None
    step = AssignLatePenalties(config=config)
    step.gradebook, step.notebook_id, step.assignment_id = book, row.notebook.name, row.notebook.assignment.name
    step.init_plugin()
    score = total(row)
    penalty = step.plugin_inst.late_submission_penalty(row.assignment.student_id, score, late)
    return None if penalty is None else min(max(float(penalty), 0.0), score)


def total(row: Any) -> float:
    """Return the score of a submitted notebook from its rows, committed or not."""
    scores = [grade.auto_score if grade.manual_score is None else grade.manual_score for grade in row.grades]
    return float(sum(score or 0.0 for score in scores) + sum(grade.extra_credit or 0.0 for grade in row.grades))
