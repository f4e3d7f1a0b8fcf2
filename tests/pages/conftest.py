"""Fixtures for the tests of pages: the example class, graded once, and reports made by hand."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from grader.classroom.class_list import ClassList, read_class
from grader.classroom.store.files import FileStore
from tests.cli.conftest import EXECUTABLE, attn, bundle
from tests.conftest import ROOT, needs_jail
from tests.pages.made import ROSTER, STUDENTS

__all__ = ["attn", "bundle"]


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reports of the example class, with a roster in two sections and a due date that all have missed.

    The student whose code never returns is left out, because that takes as long as all others together.
    """
    needs_jail()
    folder = tmp_path_factory.mktemp("example")
    roster = folder / "roster.csv"
    roster.write_text(ROSTER)
    for student in STUDENTS:
        shutil.copytree(ROOT / "examples" / "class" / student, folder / "class" / student)
    command = [EXECUTABLE, "grade", folder / "class", "--to", folder / "reports", "--roster", roster, "--file-times"]
    words = [*map(str, command), "--due", "2020-01-01", "--late-penalty", "1/100000d"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    return folder / "reports"


@pytest.fixture(scope="session")
def example(reports: Path) -> ClassList:
    """The class list of the example class."""
    return read_class(FileStore(reports))
