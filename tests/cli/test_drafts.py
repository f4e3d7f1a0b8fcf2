"""`attn test` on first drafts: the right thing is shown first, in 24 rows of 80 characters."""

from __future__ import annotations

import pytest

from cli.ui.own_screen import printing
from grader.course.course import Course
from tests.cases import cases
from tests.cli.drafts import drafts_shown
from tests.quick import QUICK

NAMES = sorted({one.module for one in cases("drafts")})
FIRST = [name if name == QUICK[0] else pytest.param(name, marks=pytest.mark.exhaustive) for name in NAMES]
NOT_FOR_STUDENTS = ("PROBES", "rerun(", "Warning:", "smul", "The lesson is beside", "a tuple of length")


def test_there_are_thirty() -> None:
    assert len(cases("drafts")) >= 30


@pytest.mark.parametrize("name", FIRST)
def test_the_right_thing_is_shown_first(course: Course, name: str) -> None:
    found = list(drafts_shown(course, course.module(name), cases("drafts", name)))
    assert {one.draft.name: one.first for one in found if not one.is_right} == {}
    assert [one.draft.name for one in found if not one.fits] == []
    for word in NOT_FOR_STUDENTS:
        assert [one.draft.name for one in found if word in one.screen] == []


def test_what_is_printed_for_a_file_prints_its_value() -> None:
    assert printing("softmax(\n    1)") == ["print(softmax(", "    1))"]
    assert printing("given = 1\nf(given)\ngiven") == ["given = 1", "f(given)", "print(given)"]
