"""Right code with one slip that raises gets no name, and the exception is told in plain words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.course.course import Course
from grader.grading.grade import full_suite
from tests.cases import cases
from tests.diagnosis.graded import GRADED, appended, graded, names


@pytest.mark.parametrize("name", GRADED)
def test_an_exception_alone_gives_no_name_and_is_told_in_words(course: Course, name: str) -> None:
    module = course.module(name)
    said = {case.name: case.expected.partition("; ")[2] for case in cases("raising", name)}
    reports = graded(
        replace(full_suite(course, module), measured=False), list(appended(course, module, "raising").values())
    )
    assert {one.submission: found for one in reports if (found := names(one))} == {}
    shown = {one.submission: " ".join(" ".join(two.message.split()) for two in one.diagnoses) for one in reports}
    assert {title: text for title, text in shown.items() if said[title] not in text or "it raises" not in text} == {}
