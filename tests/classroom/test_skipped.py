"""Students whose work was skipped: every table, page and feedback file says why."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from grader.classroom.accounting import account
from grader.classroom.class_list import ClassList
from grader.classroom.marks import Mark, Marking, marks_lines, skipped_lines
from grader.classroom.roster import Person, Roster
from grader.classroom.store.store import ResultsStore
from grader.course.course import Course
from grader.pages.feedback_pages import write_feedback
from grader.submission.finder import find_submissions
from tests.conftest import write

PEOPLE = Roster((Person("ana", "Ana Silva"), Person("ben", "Ben Okafor"), Person("cy", "Cy Zhang")))
WORK = "def softmax(x): return x\n"


def skipped_marks(course: Course, folder: Path, module: str | None) -> list[Mark]:
    """Return the marks of a class in which ana's zip is broken and ben's file is for two modules."""
    both = WORK + "def dot_product(a, b): return a\n"
    write(folder, {"ana/hw.zip": "PK broken", "ben/hw.py": both, "cy/softmax.py": WORK})
    wanted = course.module(module) if module else None
    found = find_submissions(course, [folder], wanted)
    marking = Marking(roster=PEOPLE)
    accounting = account(found, marking, ["01_softmax"])
    return marking.missing("01_softmax", 46.0, ["cy"], accounting.skipped_people)


def test_the_reason_is_in_the_class_list(course: Course, tmp_path: Path) -> None:
    ana, ben = skipped_marks(course, tmp_path / "class", None)
    assert (ana.id, ana.status) == ("ana", "skipped")
    assert str(ana.reason).startswith("hw.zip: cannot be read as a zip")
    assert "has the functions of 01_softmax and 02_loop_attention" in str(ben.reason)
    assert str(tmp_path) not in "".join(marks_lines([ana, ben]))  # students may see the reason
    assert str(ana.reason) in "".join(marks_lines([ana]))


def test_a_broken_zip_is_skipped_with_the_module_named_too(course: Course, tmp_path: Path) -> None:
    ana, _ = skipped_marks(course, tmp_path / "class", "softmax")
    assert str(ana.reason).startswith("hw.zip: cannot be read as a zip")


@pytest.mark.parametrize("unguessable", [True, False])
def test_who_was_skipped_has_a_page(course: Course, tmp_path: Path, unguessable: bool) -> None:
    marks = skipped_marks(course, tmp_path / "class", None)
    found = ClassList(cast("ResultsStore", None), tuple(marks))
    pages = tmp_path / "pages"
    pages.mkdir()
    made = write_feedback(course, found, pages, "Attention", unguessable=unguessable)
    assert [(one.id, one.points) for one in made.links] == [("ana", "skipped"), ("ben", "skipped")]
    ana, ben = ((pages / one.file).read_text(encoding="utf-8") for one in made.links)
    assert "hw.zip: cannot be read as a zip" in ana
    assert "has the functions of 01_softmax and 02_loop_attention." in ben
    assert "--map" not in ana + ben  # what the instructor can do is not for the student
    assert (pages / "index.html").exists() != unguessable
    assert any("ana has no score for 01_softmax (skipped, hw.zip: cannot" in text for text in made.problems)


def test_points_by_hand_are_said(course: Course, tmp_path: Path) -> None:
    ana, _ = skipped_marks(course, tmp_path / "class", None)
    assert "this is not a 0" in skipped_lines(ana)[0]
    assert "gave you 40 of 46 points" in skipped_lines(replace(ana, final=40.0))[0]
