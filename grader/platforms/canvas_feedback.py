"""Feedback for Canvas: a zip that its *Upload Submissions* takes, with a text for each student.

Canvas finds a student by the numbers with which it began the name of a file when the submissions were downloaded, and
adds the file to the comments of that submission. There it has the name of the student's own file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.classroom.class_list import ClassList, ExportError
from grader.classroom.marks import MISSING, SKIPPED, Mark
from grader.classroom.roster import Roster
from grader.core.report import Report
from grader.core.safe_text import one_line
from grader.platforms.feedback_text import feedback_text, skipped_text, zip_of
from grader.submission.archive import ARCHIVE
from grader.submission.class_archive import is_tar, listing
from grader.submission.identity import Claim, folder_identity
from grader.submission.importers.canvas import Canvas, beginning_of

ENDING = "feedback.txt"  # Canvas ignores a name whose last part begins with `link`


@dataclass(frozen=True)
class CanvasFeedback:
    """The zip, how many students have a file in it, and those who have none, with the reason."""

    data: bytes
    files: int
    problems: tuple[str, ...]


@dataclass(frozen=True)
class _Downloaded:
    """One file of the download."""

    name: str
    claim: Claim


def canvas_feedback(found: ClassList, submissions: Path, roster: Roster | None, course: str = "") -> CanvasFeedback:
    """Return the feedback for the one module of a class; `submissions` is what was downloaded from its assignment."""
    (module,) = found.modules
    downloaded = list(_downloaded(submissions))
    if not downloaded:
        fix = "Use the zip of Download Submissions, or the folder with its files"
        raise ExportError(f"{submissions} has no file with a name that Canvas gave it. {fix}")
    files: dict[str, str] = {}
    problems: list[str] = []
    reports = {mark.submission: report for mark, report in found.reports()}
    for mark in (mark for mark in found.marks if mark.status != MISSING):
        report = None if mark.status == SKIPPED else reports[mark.submission]
        number = _number(mark, roster)
        own = [one for one in downloaded if number and number in _numbers(one)]
        file = _file_of(report, own)
        if file is None:
            problems.append(f"{mark.id or mark.submission}: {_why_none(submissions, number, own)}: no feedback file")
            continue
        name = beginning_of(file.name) + ENDING
        if name in files:
            raise ExportError(f"two students with a grade for {module} have the file {file.name}. Grade with a roster")
        files[name] = feedback_text(mark, report, course) if report else skipped_text(mark, course)
    return CanvasFeedback(zip_of(files), len(files), tuple(map(one_line, problems)))


def _downloaded(path: Path) -> Iterator[_Downloaded]:
    """Yield the files that Canvas named."""
    if path.is_dir():
        names: Iterable[PurePosixPath] = (PurePosixPath(file.name) for file in sorted(path.rglob("*")))
    elif path.suffix.lower() == ARCHIVE or is_tar(path):
        names = listing(path).names
    else:
        names = ()
    for name in names:
        claim = Canvas().claim(PurePosixPath(name.name))
        if isinstance(claim, Claim):
            yield _Downloaded(name.name, claim)


def _numbers(file: _Downloaded) -> list[str]:
    return [number for who in file.claim.who for number in who.all("canvas")]


def _number(mark: Mark, roster: Roster | None) -> str:
    """Return a student's number in Canvas: from the name of the submission, or else from the gradebook."""
    exported = folder_identity(mark.submission).all("canvas")
    if exported:
        return exported[0]
    person = roster.find(mark.id) if roster else None
    return person.canvas if person else ""


def _file_of(report: Report | None, own: list[_Downloaded]) -> _Downloaded | None:
    """Return the file of a submission that feedback is added to: the one that was graded, or else the last."""
    files = [one for one in own if not one.claim.no_file]
    graded = [one for one in files if report and one.claim.file.name == report.file]
    return max(graded or files, key=lambda one: one.claim.order, default=None)


def _why_none(submissions: Path, number: str, own: list[_Downloaded]) -> str:
    if not number:
        return "the number in Canvas is not known. Give Canvas's gradebook as --roster"
    if own:
        return "handed in only text or a link, to which Canvas adds no file"
    return f"there is no file of {number} in {submissions}"
