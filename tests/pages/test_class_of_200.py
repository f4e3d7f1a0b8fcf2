"""The feedback of a class of two hundred, ten of them malicious: nothing hidden is on any page."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from grader.classroom.store.files import FileStore
from grader.course.course import Course
from grader.pages.feedback_pages import write_feedback
from grader.pages.page_leaks import PageSearch
from grader.platforms.class_list import read_class
from tests.classroom.poison import write_class
from tests.cli.conftest import EXECUTABLE
from tests.conftest import ROOT, needs_jail
from tests.pages.made import read_page
from tests.pages.test_feedback import own_lines
from tests.pages.test_hostile import assert_harmless

SIZE = 200


@pytest.mark.exhaustive
def test_no_page_of_two_hundred_leaks_or_runs_anything(course: Course, tmp_path: Path) -> None:
    needs_jail()
    write_class(tmp_path / "class", SIZE)
    command = [EXECUTABLE, "grade", str(tmp_path / "class"), "--to", str(tmp_path / "reports")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    found = read_class(FileStore(tmp_path / "reports"))
    (tmp_path / "pages").mkdir()
    made = write_feedback(course, found, tmp_path / "pages", unguessable=False)
    assert (len(made.links), made.problems) == (SIZE, ())
    search = PageSearch(course)
    files = {link.id: tmp_path / "pages" / link.file for link in made.links}
    for mark, report in found.reports():
        text = files[mark.id].read_text()
        assert list(search.leaks(text, report, own_lines(report))) == []
        assert_harmless(read_page(text), text)
