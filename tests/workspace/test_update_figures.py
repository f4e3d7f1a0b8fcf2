"""`attn update` brings the figures of a lesson, and what to read before it."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from grader.course.course import read_course
from grader.workspace.update import update
from tests.authoring.small_courses import built
from tests.workspace.test_update_fallback import bundle_of

FOLDER = "modules/01_double"
SVG = '<svg xmlns="http://www.w3.org/2000/svg"/>\n'


@pytest.mark.exhaustive
def test_figures_arrive_from_a_folder_and_from_a_zip(tmp_path: Path) -> None:
    course = built("on_top", tmp_path)
    old, new = bundle_of(course, tmp_path / "old"), bundle_of(course, tmp_path / "new")
    (new / FOLDER / "two-steps.svg").write_text(SVG)
    (new / FOLDER / "before-you-start.md").write_text("# Before you start\n")
    (old / FOLDER / "mine.svg").write_text("my own drawing")
    done = {one.name: one.updated for one in update(read_course(old), new).modules}
    assert done == {"01_double": ("lesson",), "02_quadruple": ()}
    assert (old / FOLDER / "two-steps.svg").read_text() == SVG
    assert (old / FOLDER / "mine.svg").read_text() == "my own drawing"
    assert [path.name for path in read_course(old).module("double").beside_lesson] == [
        "before-you-start.md",
        "mine.svg",
        "two-steps.svg",
    ]
    (new / FOLDER / "two-steps.svg").write_text(SVG * 2)
    zipped = tmp_path / "week2.zip"
    with zipfile.ZipFile(zipped, "w") as archive:
        for path in new.rglob("*.*"):
            archive.write(path, path.relative_to(new))
    done = {one.name: one.updated for one in update(read_course(old), zipped).modules}
    assert done["01_double"] == ("lesson",)
    assert (old / FOLDER / "two-steps.svg").read_text() == SVG * 2
