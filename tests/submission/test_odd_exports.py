"""Odd exports: nobody is lost without a line, nobody's work is given to another, and nothing is guessed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from grader.classroom.accounting import Accounting, account
from grader.classroom.marks import Marking
from grader.course.course import Course
from grader.submission.finder import find_submissions
from grader.submission.found import FoundSubmissions
from grader.submission.identity import Identity
from tests.submission.odd_exports import ODD, ROSTER, Odd, write_odd


def found_in(course: Course, folder: Path) -> tuple[FoundSubmissions, Accounting]:
    """Return what is found in a folder, and what becomes of the people."""

    def resolve(who: Identity) -> str | None:
        person = ROSTER.find(who)
        return person.id if person else None

    scratch = folder.parent / "scratch"
    scratch.mkdir()
    found = find_submissions(course, [folder], scratch=scratch, resolve=resolve)
    return found, account(found, Marking(roster=ROSTER), ["01_softmax"])


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.name)
def test_odd_export(course: Course, tmp_path: Path, odd: Odd) -> None:
    folder = write_odd(tmp_path, odd)
    found, accounting = found_in(course, folder)
    assert {line.id: line.fate for line in accounting.people} == odd.fates()
    assert len(accounting.strangers) == odd.strangers
    for one, submission in zip(found.handed_in, found.submissions, strict=True):
        assert submission.problem == ""
        person = ROSTER.find(one.piece.who)
        code = "".join(submission.sources["softmax"].cells)
        assert person is None or f"# by {person.id}" in code
    texts = "\n".join(f"{line.path}: {line.reason}" for line in accounting.files)
    notes = "\n".join(f"{who} may be {' or '.join(ids)}" for who, ids in accounting.doubtful)
    for word in odd.words:
        assert word in texts + notes
    # Every file has a line: its own, that of a file inside it, or that of the hidden folder above it.
    lines = [line.path.removeprefix(str(tmp_path)).removeprefix("/") for line in accounting.files]
    for name, content in odd.files.items():
        path = f"{odd.top}/{name.rstrip('/')}"
        inside = isinstance(content, Mapping) and any(line.startswith(f"{path}/") for line in lines)
        above = any(path.startswith(f"{line}/") for line in lines)
        assert path in lines or inside or above, f"{path} has no line"
