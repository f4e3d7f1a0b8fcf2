"""Zips of classes: read only when it is said or beyond doubt, and no student's zip acts for another student."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import pytest

from grader.classroom.roster import Person, Roster
from grader.course.course import Course, read_course
from grader.submission.finder import find_submissions
from grader.submission.found import FoundSubmissions
from grader.submission.identity import Claim
from grader.submission.importers.exports import PLATFORM_EXPORTS, export_of
from grader.submission.open import SAY_WHICH
from tests.conftest import ROOT, write

CODE = "def softmax(x): return x\n"
EVIL = "def softmax(x): return 'evil'\n"
FIRST, SECOND = "01_softmax", "02_loop_attention"


@pytest.fixture(scope="module")
def course() -> Course:
    return read_course(ROOT)


def zip_of(files: Mapping[str, str | bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in files.items():
            file.writestr(name, text)
    return data.getvalue()


def saved(path: Path, files: Mapping[str, str | bytes]) -> Path:
    path.write_bytes(zip_of(files))
    return path


def find(course: Course, *paths: Path, module: str | None = None, **options: object) -> FoundSubmissions:
    scratch = paths[0].parent / "scratch"
    scratch.mkdir(exist_ok=True)
    wanted = course.module(module) if module else None
    return find_submissions(course, paths, wanted, None, scratch, **options)  # type: ignore[arg-type]


def work(found: FoundSubmissions) -> dict[tuple[str, str], str]:
    """The code of each student and module."""
    return {
        (one.student, one.module): "".join(source.cells)
        for one in found.submissions
        for source in [one.sources[one.module.split("_", 1)[1]]]
    }


CANVAS = {
    "silvaana_101_5551_softmax.py": CODE,
    "silvaana_101_5552_loop_attention-2.py": "x = 2",
    "okaforben_LATE_102_5560_softmax-1.py": "late = 1",
    "smithcy_103_text.html": "<p>see email</p>",
}
MOODLE = {
    "Ana Silva_123_assignsubmission_file_/softmax.py": CODE,
    "Ben Okafor_124_assignsubmission_file_/deep/softmax.py": "x = 2",
    "Ben Okafor_124_assignsubmission_onlinetext_/onlinetext.html": "",
}
MOODLE_FLAT = {
    "Ana Silva_123_assignsubmission_file_softmax.py": CODE,
    "李 明_124_assignsubmission_file_softmax.py": "x = 2",
}
BLACKBOARD = {
    "Week_1_asilva_attempt_2026-10-01-12-00-00.txt": "Name: Ana",
    "Week_1_asilva_attempt_2026-10-01-12-00-00_softmax.py": CODE,
    "Week_1_b.okafor_attempt_2026-10-01-12-00-01_softmax.py": "x = 2",
}
METADATA = """\
---
submission_34:
  :submitters:
  - :name: Ana Silva
    :sid: '101'
    :email: ana@uni.edu
submission_35:
  :submitters:
  - :name: Ben Okafor
    :sid: '102'
    :email: ben@uni.edu
"""
GRADESCOPE = {
    "assignment_12_export/submission_metadata.yml": METADATA,
    "assignment_12_export/submission_34/softmax.py": CODE,
    "assignment_12_export/submission_35/softmax.py": "x = 2",
}
EXPORTS: dict[str, tuple[str, Mapping[str, str], dict[tuple[str, str], str]]] = {
    "Canvas": (
        "submissions (1).zip",
        CANVAS,
        {
            ("okaforben (Canvas 102)", FIRST): "late = 1",
            ("silvaana (Canvas 101)", FIRST): CODE,
            ("silvaana (Canvas 101)", SECOND): "x = 2",
        },
    ),
    "Moodle": (
        "CS1-Week 1-4711.zip",
        MOODLE,
        {("Ana Silva (Moodle 123)", FIRST): CODE, ("Ben Okafor (Moodle 124)", FIRST): "x = 2"},
    ),
    "Moodle without folders": (
        "CS1-Week 1-4711.zip",
        MOODLE_FLAT,
        {("Ana Silva (Moodle 123)", FIRST): CODE, ("李 明 (Moodle 124)", FIRST): "x = 2"},
    ),
    "Blackboard": (
        "gradebook_CS1_Week201_2026-10-02-08-00-00.zip",
        BLACKBOARD,
        {("asilva", FIRST): CODE, ("b.okafor", FIRST): "x = 2"},
    ),
    "Gradescope": (
        "assignment_12_export.zip",
        GRADESCOPE,
        {("Ana Silva (Gradescope 101)", FIRST): CODE, ("Ben Okafor (Gradescope 102)", FIRST): "x = 2"},
    ),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_export_of_a_platform_is_a_class(course: Course, tmp_path: Path, name: str) -> None:
    zip_name, files, expected = EXPORTS[name]
    found = find(course, saved(tmp_path / zip_name, files))
    assert work(found) == expected
    typed = ["is text that was typed into Canvas, not a file"] if name == "Canvas" else []
    assert [reason for _, reason in found.refused] == typed
    (note,) = found.notes
    assert f"that {name.split()[0]} exported" in note[1]
    assert {one.piece.attempt.handed_in for one in found.handed_in} == {None}  # the times are unknown


@pytest.mark.parametrize("name", EXPORTS)
def test_export_under_another_name_needs_the_option(course: Course, tmp_path: Path, name: str) -> None:
    _, files, expected = EXPORTS[name]
    path = saved(tmp_path / "hw.zip", files)
    found = find(course, path, module="softmax")
    assert not found.handed_in
    assert [reason for where, reason in found.refused if where == str(path) and SAY_WHICH in reason]
    assert work(find(course, path, class_zip=True)) == expected


@pytest.mark.parametrize("name", EXPORTS)
def test_one_file_with_another_name_leaves_doubt(course: Course, tmp_path: Path, name: str) -> None:
    zip_name, files, _ = EXPORTS[name]
    found = find(course, saved(tmp_path / zip_name, {**files, "dave/softmax.py": CODE}))
    assert not found.handed_in
    assert SAY_WHICH in found.refused[0][1]


@pytest.mark.parametrize("name", EXPORTS)
def test_export_with_one_student_leaves_doubt(course: Course, tmp_path: Path, name: str) -> None:
    zip_name, files, _ = EXPORTS[name]
    first = dict([next(item for item in files.items() if item[0].endswith(".py"))])
    found = find(course, saved(tmp_path / zip_name, first), module="softmax")
    assert not found.handed_in
    assert SAY_WHICH in found.refused[0][1]


def test_export_among_several_paths_is_not_a_class(course: Course, tmp_path: Path) -> None:
    ben = saved(tmp_path / "submissions.zip", CANVAS)
    ana = saved(tmp_path / "ana.zip", {"softmax.py": CODE})
    found = find(course, ana, ben)
    assert work(found) == {("ana", FIRST): CODE}
    assert [where for where, _ in found.refused] == [str(ben)]


@pytest.mark.parametrize(
    "name",
    [
        "eve_200_9_silvaana_101_5551_softmax.py",
        "eve_200_9_x_assignsubmission_file_softmax.py",
        "Eve_200_assignsubmission_file_Ana Silva_123_assignsubmission_file_/softmax.py",
        "Week 1_eve_attempt_2026-10-01-12-00-00_Week 1_asilva_attempt_2026-10-01-12-00-00_softmax.py",
        "assignment_12_export/submission_99/assignment_12_export/submission_34/softmax.py",
        "eve_200_9_../silvaana (Canvas 101)/softmax.py",
        "Eve_200_assignsubmission_file_../Ana Silva (Moodle 123)/softmax.py",
        "Week 1_.._attempt_2026-10-01-12-00-00_softmax.py",
        "assignment_12_export/submission_99/../submission_34/softmax.py",
    ],
)
def test_file_name_that_a_student_chose_names_nobody_else(name: str) -> None:
    for export in PLATFORM_EXPORTS:
        claim = export.importer.claim(PurePosixPath(name))
        if isinstance(claim, Claim):
            assert {who.label for who in claim.who} <= {"eve (Canvas 200)", "Eve (Moodle 200)", "eve", "submission_99"}
            assert ".." not in claim.file.parts


def test_hostile_file_name_in_an_export_stays_with_its_student(course: Course, tmp_path: Path) -> None:
    hostile = {
        "eve_200_9_..\\silvaana (Canvas 101)\\5551\\softmax.py": EVIL,
        "eve_200_9_..\\..\\x.py": EVIL,
        "eve_200_10_silvaana_101_5551_softmax.py": EVIL,
    }
    path = saved(tmp_path / "submissions.zip", {**hostile, **CANVAS})
    assert not find(course, path).handed_in
    for module in (None, "softmax"):
        found = work(find(course, path.rename(tmp_path / f"{module}.zip"), module=module, class_zip=True))
        path = tmp_path / f"{module}.zip"
        assert found["silvaana (Canvas 101)", FIRST] == CODE
        assert {student for (student, _), code in found.items() if code == EVIL} <= {
            "eve (Canvas 200)",
            "eve_200_9_..",
        }
    assert sorted(one.name for one in tmp_path.iterdir()) == ["scratch", "softmax.zip"]


AMBIGUOUS: dict[str, tuple[Mapping[str, str | bytes], str | None]] = {
    "a folder for each student": ({"ana/softmax.py": CODE, "ben/softmax.py": CODE}, None),
    "another module from each student": ({"ana/softmax.py": CODE, "ben/loop_attention.py": CODE}, None),
    "the folder of a class": ({"class/ana/softmax.py": CODE, "class/ben/softmax.py": CODE}, None),
    "a file for each student": ({"ana.py": CODE, "ben.py": CODE}, "softmax"),
    "files in a folder of the module": ({"01_softmax/ana.py": CODE, "01_softmax/ben.py": CODE}, None),
    "nbgrader's folders": (
        {"submitted/ana/01_softmax/softmax.py": CODE, "submitted/ben/01_softmax/softmax.py": ""},
        None,
    ),
    "a zip for each student": (
        {"ana.zip": zip_of({"softmax.py": CODE}), "ben.zip": zip_of({"softmax.py": CODE})},
        None,
    ),
    "a file and a zip": ({"softmax.py": CODE, "ben.zip": zip_of({"softmax.py": CODE})}, None),
    "names that differ in case": ({"Ana/softmax.py": CODE, "ana/softmax.py": CODE}, None),
    "names that differ in encoding": ({"\u00e1na/softmax.py": CODE, "a\u0301na/softmax.py": CODE}, None),
    "backslashes": ({"ana\\softmax.py": CODE, "ben\\softmax.py": CODE}, None),
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_zip_that_could_be_a_class_is_refused(course: Course, tmp_path: Path, name: str) -> None:
    files, module = AMBIGUOUS[name]
    path = saved(tmp_path / "hw.zip", files)
    found = find(course, path, module=module)
    assert not found.handed_in
    ((where, reason),) = found.refused
    assert where == str(path)
    assert reason.endswith(SAY_WHICH)
    assert any(PurePosixPath(member.replace("\\", "/")).as_posix() in reason for member in files)


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_zip_of_a_named_student_is_only_theirs(course: Course, tmp_path: Path, name: str) -> None:
    files, module = AMBIGUOUS[name]
    found = find(course, saved(tmp_path / "ben.zip", files), module=module, student="eve")
    assert {one.student for one in found.handed_in} <= {"eve"}


def test_class_zip_has_one_student_for_each_folder_or_zip(course: Course, tmp_path: Path) -> None:
    inner = zip_of({"ana/softmax.py": EVIL, "eve/softmax.py": CODE})
    files: dict[str, str | bytes] = {"ana/softmax.py": CODE, "ben/01_softmax/softmax.py": "x = 2"}
    path = saved(tmp_path / "all.zip", {**files, "cy.zip": zip_of({"softmax.py": "x = 3"}), "eve/hw.zip": inner})
    found = work(find(course, path, class_zip=True))
    assert found["ana", FIRST] == CODE
    assert found["ben", FIRST] == "x = 2"
    assert found["cy", FIRST] == "x = 3"
    assert {student for student, _ in found} == {"ana", "ben", "cy", "eve"}


def test_bad_members_of_a_class_zip_are_refused_and_others_kept(course: Course, tmp_path: Path) -> None:
    files: dict[str, str | bytes] = dict.fromkeys(("ana/softmax.py", "ben/softmax.py", "eve/softmax (1).py"), CODE)
    files |= {
        "cy/hand in.zip": zip_of({"softmax.py": CODE}),
        "fay/../../x.py": CODE,
        "/gus/softmax.py": CODE,
        "mallory/softmax.py": b"#" * (3 << 20),
        "ana/softmax.py/softmax.py": CODE,  # inside a file, as if it were a folder
        f"gil/{'x' * 300}.py": CODE,
        "ben\\softmax.py": EVIL,  # the same name again
    }
    path = saved(tmp_path / "all.zip", files)
    found = find(course, path, class_zip=True)
    expected = dict.fromkeys(("ana", "ben", "cy", "eve"), CODE)
    assert {student: code for (student, _), code in work(found).items()} == expected
    assert {one.piece.attempt.handed_in for one in found.handed_in} == {None}  # the time is unknown
    reasons = {where.removeprefix(f"{path}/"): reason for where, reason in found.refused}
    assert "points outside" in reasons["fay/../../x.py"]
    assert "points outside" in reasons["/gus/softmax.py"]
    assert "too large" in reasons["mallory/softmax.py"]
    assert "cannot be unpacked" in reasons["ana/softmax.py/softmax.py"]
    assert "cannot be unpacked" in reasons[f"gil/{'x' * 300}.py"]
    assert "cannot be unpacked" in reasons["ben\\softmax.py"]


@pytest.mark.parametrize("class_zip", [True, False])
def test_zip_with_a_nameless_member_is_told(course: Course, tmp_path: Path, *, class_zip: bool) -> None:
    path = saved(tmp_path / "ana.zip", {"ana/softmax.py": CODE})
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(zipfile.ZipInfo(""), "lost")
    found = find(course, path, class_zip=class_zip)
    assert list(work(found)) == ([("ana", FIRST)] if class_zip else [])
    assert found.refused == ((f"{path}/" if class_zip else str(path), "has a file without a name"),)


def test_two_class_zips_of_one_name(course: Course, tmp_path: Path) -> None:
    for section in ("one", "two"):
        (tmp_path / section).mkdir()
    one = saved(tmp_path / "one" / "all.zip", {"ana/softmax.py": CODE, "ben/softmax.py": CODE})
    two = saved(tmp_path / "two" / "all.zip", {"cy/softmax.py": CODE, "ben/softmax.py": EVIL})
    found = find(course, one, two, class_zip=True)
    assert [one.student for one in found.handed_in] == ["ana", "cy"]
    assert [where for where, _ in found.refused] == [f"{one}/ben/softmax.py", f"{two}/ben/softmax.py"]
    assert "cannot tell which is the latest" in found.refused[0][1]  # and two people may have that name


def test_broken_class_zip_is_refused(course: Course, tmp_path: Path) -> None:
    path = tmp_path / "all.zip"
    path.write_bytes(b"PK not really")
    assert find(course, path, class_zip=True).refused == ((str(path), "cannot be read as a zip (BadZipFile)"),)


HOSTILE_STUDENTS_ZIPS: dict[str, Mapping[str, str | bytes]] = {
    "folders of others": {"ana/softmax.py": EVIL, "eve/softmax.py": CODE},
    "folders of others and modules": {"ana/01_softmax/softmax.py": EVIL, "submitted/ana/01_softmax/softmax.py": EVIL},
    "zips of others": {"ana.zip": zip_of({"softmax.py": EVIL}), "ana/hw.zip": zip_of({"softmax.py": EVIL})},
    "an export of Canvas": {"ana_101_1_softmax.py": EVIL, "ben_102_2_softmax.py": EVIL},
    "an export of Gradescope": {**GRADESCOPE, "assignment_12_export/ana/softmax.py": EVIL},
    "leads out": {"../ana/softmax.py": EVIL},
    "leads out with backslashes": {"..\\ana\\softmax.py": EVIL},
    "an absolute path": {"/ana/softmax.py": EVIL},
    "another case": {"ANA/softmax.py": EVIL, "Softmax.py": EVIL},
    "names a student in the notebook": {
        "softmax.ipynb": '{"nbformat": 4, "metadata": {"student": "ana", "name": "ana"}, "cells": []}'
    },
    "a manifest": {"softmax.py": EVIL, "manifest.json": '{"student": "ana"}', "timestamp.txt": "2020-01-01"},
}
PLACES = ("eve/hw.zip", "eve/01_softmax/hw.zip", "eve/ana.zip", "eve/submissions.zip", "eve/ana/hw.zip", "eve.zip")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", HOSTILE_STUDENTS_ZIPS)
@pytest.mark.parametrize("module", [None, "softmax"])
def test_students_zip_cannot_act_for_another_student(
    course: Course, tmp_path: Path, name: str, place: str, module: str | None
) -> None:
    folder = write(tmp_path / "class", {"ana/softmax.py": CODE, "ben/softmax.py": "x = 2"})
    os.utime(folder / "ana" / "softmax.py", (1, 1))  # anything newer would count instead
    honest = work(find(course, folder, module=module))
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    saved(folder / place, HOSTILE_STUDENTS_ZIPS[name])
    found = find(course, folder, module=module)
    assert {one.student for one in found.handed_in} <= {"ana", "ben", "eve"}
    others = [one for one in found.submissions if one.student != "eve"]
    assert {(one.student, one.module): "".join(one.sources["softmax"].cells) for one in others} == honest


def test_only_a_strict_name_makes_an_export() -> None:
    names = [PurePosixPath(name) for name in CANVAS]
    assert export_of("submissions", names)
    for stem in ("ana_101_5551_submissions", "submissions-eve", "Submissions", ""):
        assert export_of(stem, names) is None


def test_roster_finds_the_students_of_an_export() -> None:
    ana, ben = Person("101", "Ana Silva"), Person("102", "Ben Okafor")
    roster = Roster((ana, ben))
    assert roster.find("silvaana (Canvas 101)") == ana
    assert roster.find("Ben Okafor (Moodle 7)") == ben
    assert roster.find("102 (Canvas 999)") is None


def test_the_times_of_unpacked_files_are_not_those_of_the_submissions(course: Course, tmp_path: Path) -> None:
    """A platform may have made its archive days later."""
    unpacked = find(course, saved(tmp_path / "class.zip", {"ana/softmax.py": CODE}), class_zip=True, file_times=True)
    folder = find(course, write(tmp_path / "class", {"ana/softmax.py": CODE}), file_times=True)
    known = [one.piece.attempt.handed_in is not None for found in (unpacked, folder) for one in found.handed_in]
    assert known == [False, True]
