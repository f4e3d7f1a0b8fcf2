"""A class is graded on top of an earlier module: in the same submission, missing, or wrong."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tests.authoring.small_courses import built
from tests.cli.conftest import Attn
from tests.conftest import needs_jail, write
from tests.grading.test_stand_in import RIGHT, SQUARES, TOP


@pytest.mark.exhaustive
def test_a_class_as_folder_and_as_zip(attn: Attn, tmp_path: Path) -> None:
    needs_jail()
    course = built("on_top", tmp_path)
    files = {
        "ana/01_double/double.py": RIGHT,
        "ana/02_quadruple/quadruple.py": TOP,
        "ana/02_quadruple/fallback.py": course.module("quadruple").fallbacks["double"].read_text(),
        "ben/02_quadruple/quadruple.py": TOP,
        "cleo/double.py": SQUARES,
        "cleo/quadruple.py": TOP,
        "dora/fallback.py": course.module("quadruple").fallbacks["double"].read_text(),
    }
    write(tmp_path / "class", files)
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    for source in (["class"], ["class.zip", "--class-zip"]):
        done = attn("grade", tmp_path / source[0], *source[1:], "--json", cwd=course.root)
        assert done.stdout, done.stderr
        reports = {(one["submission"], one["module"]): one for one in json.loads(done.stdout)}
        assert {
            name: one["builds_on"][0]["used"] for (name, module), one in reports.items() if module == "02_quadruple"
        } == {"ana": "own", "ben": "fallback", "cleo": "fallback"}
        assert {name for (name, module), one in reports.items() if one["score"] == one["max_score"]} == {
            "ana",
            "ben",
            "cleo",
        }
        assert ("dora", "01_double") not in reports  # the course's own file is nobody's work
        assert "builds_on" not in reports["ana", "01_double"]
    done = attn("grade", tmp_path / "class/ben/02_quadruple/quadruple.py", cwd=course.root)
    assert "Built on the fallback for 01_double: the student's own is missing." in done.stdout
