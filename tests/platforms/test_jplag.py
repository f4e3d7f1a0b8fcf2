"""JPlag folders: one for each student, with plain Python, and the code that was given to all students apart."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from tests.conftest import write
from tests.platforms.conftest import RIGHT, Graded


@pytest.fixture(scope="module")
def laid(graded: Graded, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("jplag") / "similar"
    done = graded.export("jplag", graded.folder, "--out", out)
    assert done.returncode == 3
    assert "cy, 01_tiny: is not valid Python" in done.stderr
    return out / "01_tiny"


def test_each_student_has_a_folder_and_the_base_code_is_separate(laid: Path) -> None:
    assert sorted(path.name for path in laid.iterdir()) == ["base-code", "students.json", "submissions"]
    folders = sorted((laid / "submissions").iterdir())
    assert [path.name for path in folders] == ["ana", "ben", "cy", "dee", "eve", "gil", "zoe"]
    assert all([file.name for file in folder.iterdir()] == ["tiny.py"] for folder in folders)


def test_a_script_is_copied_unchanged(laid: Path) -> None:
    assert (laid / "submissions" / "ana" / "tiny.py").read_text() == RIGHT


def test_a_notebook_gives_only_the_students_own_code(laid: Path, graded: Graded) -> None:
    text = (laid / "submissions" / "gil" / "tiny.py").read_text()
    ast.parse(text)
    assert RIGHT.strip() in text
    stub = (graded.course / "modules" / "01_tiny" / "tiny.py").read_text()
    assert "NotImplementedError" in stub
    assert "NotImplementedError" not in text
    assert "ls" not in text.split()


def test_the_base_code_is_the_stub(laid: Path, graded: Graded) -> None:
    stub = (graded.course / "modules" / "01_tiny" / "tiny.py").read_text()
    assert (laid / "base-code" / "tiny.py").read_text() == stub


def test_names_that_cannot_be_folders_are_in_a_list(graded: Graded, tmp_path: Path) -> None:
    write(tmp_path / "class", {"Åsa 李/tiny.py": RIGHT, "base-code/tiny.py": RIGHT, "con/tiny.py": RIGHT})
    done = graded.export("jplag", tmp_path / "class", "--out", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["files"] == {"01_tiny": 3}
    names = json.loads((tmp_path / "out" / "01_tiny" / "students.json").read_text())
    assert sorted(names.values()) == ["base-code", "con", "Åsa 李"]
    assert all((tmp_path / "out" / "01_tiny" / "submissions" / folder / "tiny.py").is_file() for folder in names)


def test_no_submissions_leave_no_folder(graded: Graded, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = graded.export("jplag", tmp_path / "empty", "--out", tmp_path / "out")
    assert (done.returncode, (tmp_path / "out").exists()) == (2, False)
