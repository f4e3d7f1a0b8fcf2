"""`attn update` brings the fallbacks of a module."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.course.course import Course, read_course
from grader.course.student_files import released_files
from grader.workspace.update import update
from tests.authoring.small_courses import built, edit


def bundle_of(course: Course, to: Path) -> Path:
    for module in course.modules:
        (to / "modules" / module.name).mkdir(parents=True)
        for path in released_files(module):
            shutil.copy(path, to / "modules" / module.name)
    return to


@pytest.mark.exhaustive
def test_a_fallback_arrives_and_is_renewed(tmp_path: Path) -> None:
    course = built("on_top", tmp_path)
    old, new = bundle_of(course, tmp_path / "old"), bundle_of(course, tmp_path / "new")
    fallback = old / "modules" / "02_quadruple" / "fallback.py"
    edit(fallback.with_name("module.toml"), 'fallback = {double = "fallback.py"}\n', "")
    fallback.unlink()
    done = {one.name: one.updated for one in update(read_course(old), new).modules}
    assert done == {"01_double": (), "02_quadruple": ("fallback", "settings")}
    assert read_course(old).module("quadruple").fallbacks == {"double": fallback}
    edit(new / "modules" / "02_quadruple" / "fallback.py", "right, but slow", "right, and slow")
    done = {one.name: one.updated for one in update(read_course(old), new).modules}
    assert done["02_quadruple"] == ("fallback",)
    assert "right, and slow" in fallback.read_text()
