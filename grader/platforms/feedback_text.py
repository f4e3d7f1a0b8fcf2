"""Feedback for platforms that take files: a text for each student, and a zip of them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from datetime import timedelta

from grader.classroom.marks import Mark, skipped_lines
from grader.core.report import Report
from grader.core.safe_text import visible
from grader.core.times import show_length
from grader.platforms.nbgrader.scores import NotGradedError, scores_of

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same class gives the same zip


def zip_of(files: Mapping[str, str]) -> bytes:
    """Return a zip of texts."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as made:
        for name, text in sorted(files.items()):
            made.writestr(zipfile.ZipInfo(name, _EPOCH), text.encode("utf-8"), zipfile.ZIP_DEFLATED)
    return data.getvalue()


def mark_line(mark: Mark) -> str:
    """Return the mark of a student in one line: points, what was given by hand, lateness and comment.

    It begins with a digit, so that no spreadsheet runs it as a formula. Without a mark it is empty.
    """
    if mark.final is None:
        return ""
    parts = [f"{mark.final:g} of {mark.max_score:g} points"]
    if mark.override is not None:
        automatic = "none" if mark.automatic is None else f"{mark.automatic:g}"
        parts.append(f"given by hand, automatic mark: {automatic}")
    elif mark.late_s:
        late = f"late by {show_length(timedelta(seconds=mark.late_s))}"
        parts.append(f"{late}, penalty: {mark.penalty:g}" if mark.penalty else late)
    if mark.provisional and mark.override is None:
        parts.append("provisional: not everything is decided yet")
    line = "; ".join(parts) + "."
    return f"{line} {mark.comment}" if mark.comment else line


def skipped_text(mark: Mark, course: str = "") -> str:
    """Return the feedback file of a student whose work could not be graded."""
    lines = [f"{course}: {mark.module}" if course else mark.module, *skipped_lines(mark), mark.comment]
    return visible("\n\n".join(filter(None, lines)) + "\n")


def feedback_text(mark: Mark, report: Report, course: str = "") -> str:
    """Return the feedback file of a student: the same texts as in nbgrader, for each function of the module."""
    lines = [f"{course}: {mark.module}" if course else mark.module, mark_line(mark), ""]
    try:
        for score in scores_of(report):
            lines += [score.target, "", score.comment, ""]
    except NotGradedError:
        lines += ["This was not graded: the grader failed, not your code.", ""]
    return visible("\n".join(lines))
