"""Work from a zip: a zip that is not complete, or has unknown modules, changes nothing it should not."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from grader.course.course import Course, read_course
from grader.course.golden import sha256
from grader.workspace.progress import known_student
from grader.workspace.take_over import is_work, take_over
from grader.workspace.update_bundle import UpdateError
from tests.conftest import ROOT

TEXT = b"def softmax(x, axis=-1):\n    return x\n"


@pytest.fixture
def here(tmp_path: Path) -> Course:
    """A bundle of the first module."""
    shutil.copytree(ROOT / "modules" / "01_softmax", tmp_path / "course" / "modules" / "01_softmax")
    return read_course(tmp_path / "course")


def a_zip(folder: Path, *, name: str = "01_softmax", digest: str = sha256(TEXT), **more: object) -> Path:
    """Write a zip as `attn submit` does."""
    manifest = {
        "schema": 1,
        "student": "ana",
        "attnlab": "0",
        "modules": {name: {"file": "softmax.py", "sha256": digest}},
    }
    path = folder / "ana.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}/softmax.py", TEXT)
        archive.writestr("manifest.json", json.dumps(manifest | more))
    return path


def test_untouched_work_needs_no_backup(here: Course, tmp_path: Path) -> None:
    source = a_zip(tmp_path)
    assert is_work(source)
    (taken,) = take_over(here, source)
    assert (taken.is_here, taken.backup) == (True, "")
    assert here.module("1").stub.read_bytes() == TEXT
    assert known_student(here) == "ana"


def test_own_work_is_kept_in_a_backup(here: Course, tmp_path: Path) -> None:
    here.module("1").stub.write_text("mine\n")
    (taken,) = take_over(here, a_zip(tmp_path))
    assert (here.root / taken.backup / "softmax.py").read_text() == "mine\n"


def test_a_module_of_another_course_is_skipped(here: Course, tmp_path: Path) -> None:
    before = here.module("1").stub.read_bytes()
    (taken,) = take_over(here, a_zip(tmp_path, name="99_softmax"))
    assert not taken.is_here
    assert here.module("1").stub.read_bytes() == before


@pytest.mark.parametrize("change", [{"digest": "0" * 64}, {"schema": 2}, {"student": 3}])
def test_a_zip_that_was_changed_is_refused(here: Course, tmp_path: Path, change: dict[str, object]) -> None:
    before = here.module("1").stub.read_bytes()
    with pytest.raises(UpdateError, match=r"ana\.zip"):
        take_over(here, a_zip(tmp_path, **change))  # type: ignore[arg-type]
    assert here.module("1").stub.read_bytes() == before


def test_a_bundle_is_not_taken_for_work(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "week1.zip", "w") as archive:
        archive.writestr("modules/01_softmax/module.toml", "")
    assert not is_work(tmp_path / "week1.zip")
    assert not is_work(tmp_path)
