"""Submissions: found in files, notebooks, zips and folders, whatever hostile content they have."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.course.course import Course, read_course
from grader.submission import archive
from grader.submission.finder import find_submissions
from grader.submission.found import FoundSubmissions
from grader.submission.submission import Submission
from tests.conftest import ROOT, write
from tests.quick import some_cases

CODE = "def softmax(x): return x\n"
NOTEBOOK = json.dumps(
    {
        "nbformat": 4,
        "cells": [{"cell_type": "markdown", "source": "hi"}, {"cell_type": "code", "source": [CODE]}],
    }
)


@pytest.fixture(scope="module")
def two_modules(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course with two modules, so that a student can hand in both."""
    root = tmp_path_factory.mktemp("two")
    first = root / "modules" / "01_softmax"
    shutil.copytree(ROOT / "modules" / "01_softmax", first)
    second = shutil.copytree(first, root / "modules" / "02_other")
    (second / "softmax.py").rename(second / "other.py")
    text = (second / "module.toml").read_text()
    (second / "module.toml").write_text(text.replace("order = 1", "order = 2"))
    return read_course(root)


def zipped(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for name, text in files.items():
            file.writestr(name, text)
    return path


def summary(found: FoundSubmissions) -> list[tuple[str, str, str]]:
    return [(one.student, one.module, one.file) for one in found.submissions]


def only(found: FoundSubmissions) -> Submission:
    (submission,) = found.submissions
    return submission


LAYOUTS = {
    "below submitted": ({"submitted/ana/ps1/softmax.py": CODE}, [("ana", "01_softmax", "softmax.py")]),
    "student/module/file": ({"ana/01_softmax/softmax.py": CODE}, [("ana", "01_softmax", "softmax.py")]),
    "student/file": ({"ana/softmax.py": CODE}, [("ana", "01_softmax", "softmax.py")]),
    "nbgrader": ({"ana/ps1/softmax.ipynb": NOTEBOOK}, [("ana", "01_softmax", "softmax.ipynb")]),
    "a student's bundle": (
        {
            "ana/modules/01_softmax/softmax.py": CODE,
            "ana/modules/01_softmax/checks.py": "",
            "ana/modules/02_other/other.py": "",
        },
        [("ana", "01_softmax", "softmax.py"), ("ana", "02_other", "other.py")],
    ),
    "one student's folder": ({"01_softmax/softmax.py": CODE}, [("top", "01_softmax", "softmax.py")]),
    "a file named after the module": ({"ana/01_softmax.py": CODE}, [("ana", "01_softmax", "01_softmax.py")]),
    "several students": (
        {"ben/softmax.py": CODE, "ana/softmax.py": CODE, "ana/other.py": CODE},
        [
            ("ana", "01_softmax", "softmax.py"),
            ("ben", "01_softmax", "softmax.py"),
            ("ana", "02_other", "other.py"),
        ],
    ),
    "litter": (
        {
            "ana/softmax.py": CODE,
            "ana/.ipynb_checkpoints/softmax-checkpoint.ipynb": NOTEBOOK,
            "ana/__pycache__/softmax.py": "",
            "ana/notes.txt": "",
            "__MACOSX/ana/softmax.py": "",
        },
        [("ana", "01_softmax", "softmax.py")],
    ),
}


@pytest.mark.parametrize(("files", "expected"), LAYOUTS.values(), ids=LAYOUTS.keys())
def test_every_folder_layout_is_found(
    two_modules: Course, tmp_path: Path, files: dict[str, str], expected: list[tuple[str, str, str]]
) -> None:
    assert summary(find_submissions(two_modules, [write(tmp_path / "top", files)])) == expected


def test_single_file_belongs_to_its_student(two_modules: Course, tmp_path: Path) -> None:
    write(tmp_path, {"ana.py": CODE, "ben/softmax.py": CODE, "cy/01_softmax/softmax.py": CODE})
    module = two_modules.module("softmax")
    named = [find_submissions(two_modules, [tmp_path / "ana.py"], module)]
    named += [
        find_submissions(two_modules, [tmp_path / path]) for path in ("ben/softmax.py", "cy/01_softmax/softmax.py")
    ]
    assert [only(found).student for found in named] == ["ana", "ben", "cy"]


def test_file_of_unknown_module_is_refused_with_the_reason(two_modules: Course, tmp_path: Path) -> None:
    found = find_submissions(
        two_modules, [write(tmp_path, {"homework.py": CODE}) / "homework.py", tmp_path / "none.py"]
    )
    assert found.submissions == ()
    assert "no such file" in found.refused[0][1]
    assert "--module" in found.refused[1][1]


def test_module_option_overrides_the_file_name(two_modules: Course, tmp_path: Path) -> None:
    write(tmp_path, {"ana/other.py": CODE})
    found = find_submissions(two_modules, [tmp_path / "ana" / "other.py"], two_modules.module("softmax"))
    assert summary(found) == [("ana", "01_softmax", "other.py")]


def test_older_file_of_a_student_is_skipped_with_the_reason(two_modules: Course, tmp_path: Path) -> None:
    write(tmp_path, {"ana/draft/softmax.py": CODE, "ana/softmax.py": CODE + "# later"})
    draft, final = tmp_path / "ana" / "draft" / "softmax.py", tmp_path / "ana" / "softmax.py"
    os.utime(draft, (100, 100))
    found = find_submissions(two_modules, [tmp_path])
    assert only(found).sources["softmax"].cells == (CODE + "# later",)
    assert found.not_counted == ((str(draft), f"{final} counts for ana instead: its file is newer"),)
    assert found.refused == ()


def test_same_name_in_two_folders_is_refused(two_modules: Course, tmp_path: Path) -> None:
    write(tmp_path, {"sec1/ana/softmax.py": CODE, "sec2/ana/softmax.py": CODE})
    found = find_submissions(two_modules, [tmp_path / "sec1", tmp_path / "sec2"])
    assert len(found.refused) == 1
    assert "counts for ana instead" in found.refused[0][1]


def test_sections_are_not_students(two_modules: Course, tmp_path: Path) -> None:
    write(tmp_path, {"sectionA/ana/softmax.py": CODE, "sectionA/ben/softmax.py": CODE})
    found = find_submissions(two_modules, [tmp_path])
    assert found.submissions == ()
    assert [Path(path).parent.name for path, _ in found.refused] == ["ana", "ben"]
    assert "sectionA has 01_softmax in several folders (ana, ben)" in found.refused[0][1]
    assert "grade the folder that contains them" in found.refused[0][1]


@pytest.mark.parametrize("stamp", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "1e99", "soon"])
def test_strange_timestamps_do_not_stop_a_class(two_modules: Course, tmp_path: Path, stamp: str) -> None:
    write(tmp_path, {"submitted/ana/ps1/softmax.py": CODE, "submitted/ana/ps1/timestamp.txt": stamp})
    os.utime(tmp_path / "submitted/ana/ps1/softmax.py", (9e9, 9e9))
    (one,) = find_submissions(two_modules, [tmp_path / "submitted"]).handed_in
    assert one.piece.attempt.handed_in is None  # never the file's own time


def test_vanished_folder_is_lost_not_a_problem_of_the_student(two_modules: Course, tmp_path: Path) -> None:
    write(tmp_path, {"class/ana/softmax.py": CODE})
    (one,) = find_submissions(two_modules, [tmp_path / "class"]).handed_in
    (tmp_path / "class").rename(tmp_path / "gone")
    submission = one.read()
    assert "cannot be read" in submission.lost
    assert submission.problem == ""


def test_every_student_folder_is_found_or_refused(two_modules: Course, tmp_path: Path) -> None:
    write(tmp_path, {"ana/softmax.py": CODE, "bob/work.py": CODE, "eve/work.rar": "x", "notes/data.csv": ""})
    (tmp_path / "carl").mkdir()
    (tmp_path / "dave" / "softmax.py").mkdir(parents=True)
    found = find_submissions(two_modules, [tmp_path])
    assert [name for name, _, _ in summary(found)] == ["ana"]
    refused = {Path(path).relative_to(tmp_path).as_posix() for path, _ in found.refused}
    assert refused == {"bob/work.py", "carl", "dave", "eve/work.rar", "notes"}


def test_flat_folder_of_files_with_student_names(two_modules: Course, tmp_path: Path) -> None:
    write(tmp_path, {"ana.py": CODE, "ben.ipynb": NOTEBOOK})
    zipped(tmp_path / "cy.zip", {"softmax.py": CODE})
    found = find_submissions(two_modules, [tmp_path], two_modules.module("softmax"))
    assert [name for name, _, _ in summary(found)] == ["ana", "ben", "cy"]


def test_helper_files_do_not_replace_the_module_file(two_modules: Course, tmp_path: Path) -> None:
    write(tmp_path, {"ana/softmax.py": CODE, "ana/utils.py": "", "ana/01_softmax/later.py": ""})
    os.utime(tmp_path / "ana" / "softmax.py", (1, 1))
    submission = only(find_submissions(two_modules, [tmp_path], two_modules.module("softmax")))
    assert submission.sources["softmax"].cells == (CODE,)


def test_of_script_and_notebook_the_newer_counts(two_modules: Course, tmp_path: Path) -> None:
    write(tmp_path, {"ana/softmax.py": CODE, "ana/softmax.ipynb": NOTEBOOK})
    for newer in ("softmax.py", "softmax.ipynb"):
        for name in ("softmax.py", "softmax.ipynb"):
            os.utime(tmp_path / "ana" / name, (200, 200) if name == newer else (100, 100))
        assert only(find_submissions(two_modules, [tmp_path])).file == newer


def test_submission_includes_the_students_other_modules(two_modules: Course, tmp_path: Path) -> None:
    write(tmp_path, {"ana/softmax.py": CODE, "ana/other.py": "import mylab.softmax"})
    submission = only(find_submissions(two_modules, [tmp_path], two_modules.module("other")))
    assert set(submission.sources) == {"softmax", "other"}


def test_notebook_is_read_as_code_cells(two_modules: Course, tmp_path: Path) -> None:
    path = write(tmp_path, {"ana/softmax.ipynb": NOTEBOOK}) / "ana" / "softmax.ipynb"
    source = only(find_submissions(two_modules, [path])).sources["softmax"]
    assert (source.cells, source.notebook) == ((CODE,), True)


class TestZips:
    """A zip of one student. tests/submission/test_class_zip.py has the zips of classes."""

    def test_one_students_zip(self, two_modules: Course, tmp_path: Path) -> None:
        path = zipped(tmp_path / "ana.zip", {"work/01_softmax/softmax.py": CODE, "work/02_other/other.py": ""})
        assert summary(find_submissions(two_modules, [path])) == [
            ("ana", "01_softmax", "softmax.py"),
            ("ana", "02_other", "other.py"),
        ]

    def test_zip_without_dates_is_read(self, two_modules: Course, tmp_path: Path) -> None:
        data = bytearray(zip_bytes(lambda file: file.writestr("softmax.py", CODE)))
        for signature, offset in ((b"PK\x03\x04", 10), (b"PK\x01\x02", 12)):
            at = data.find(signature) + offset
            data[at : at + 4] = b"\0\0\0\0"
        (tmp_path / "ana.zip").write_bytes(data)
        assert only(find_submissions(two_modules, [tmp_path / "ana.zip"])).sources["softmax"].cells == (CODE,)

    def test_helpers_in_other_folders_do_not_make_a_class(self, two_modules: Course, tmp_path: Path) -> None:
        path = zipped(tmp_path / "ana.zip", {"work/softmax.py": CODE, "data/prep.py": "", "old/notes.py": ""})
        assert summary(find_submissions(two_modules, [path])) == [("ana", "01_softmax", "softmax.py")]

    def test_latest_is_by_time_handed_in_not_by_times_in_the_zip(self, two_modules: Course, tmp_path: Path) -> None:
        write(tmp_path, {"ana/softmax.py": CODE})
        with zipfile.ZipFile(tmp_path / "ana" / "final.zip", "w") as file:
            file.writestr(zipfile.ZipInfo("softmax.py", (1999, 1, 1, 0, 0, 0)), "final = 1")
        for loose, zipped_at, expected in ((100, 200, "final = 1"), (200, 100, CODE)):
            os.utime(tmp_path / "ana" / "softmax.py", (loose, loose))
            os.utime(tmp_path / "ana" / "final.zip", (zipped_at, zipped_at))
            assert only(find_submissions(two_modules, [tmp_path])).sources["softmax"].cells == (expected,)


def zip_bytes(fill: Callable[[zipfile.ZipFile], object]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        fill(file)
    return data.getvalue()


def with_link(file: zipfile.ZipFile) -> None:
    link = zipfile.ZipInfo("softmax.py")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    file.writestr(link, "/etc/passwd")


def encrypted() -> bytes:
    data = bytearray(zip_bytes(lambda file: file.writestr("softmax.py", CODE)))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.find(signature) + offset] |= 1
    return bytes(data)


def twice(file: zipfile.ZipFile) -> None:
    file.writestr("softmax.py", CODE)
    with pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("softmax.py", "other")


def many(file: zipfile.ZipFile, names: list[str], data: bytes = b"") -> None:
    for name in names:
        file.writestr(name, data)


HOSTILE_ZIPS: dict[str, tuple[Callable[[], bytes], str]] = {
    "not a zip": (lambda: b"PK not really", "cannot be read as a zip"),
    "empty": (lambda: b"", "cannot be read as a zip"),
    "cut short": (lambda: zip_bytes(lambda f: f.writestr("softmax.py", CODE * 100))[:-30], "cannot be read as a zip"),
    "parent path": (lambda: zip_bytes(lambda f: f.writestr("../../softmax.py", CODE)), "points outside"),
    "absolute path": (lambda: zip_bytes(lambda f: f.writestr("/tmp/softmax.py", CODE)), "points outside"),
    "backslashes": (lambda: zip_bytes(lambda f: f.writestr("..\\..\\softmax.py", CODE)), "points outside"),
    "a drive": (lambda: zip_bytes(lambda f: f.writestr("C:/softmax.py", CODE)), "points outside"),
    "a link": (lambda: zip_bytes(with_link), "has a link"),
    "a bomb": (lambda: zip_bytes(lambda f: f.writestr("softmax.py", b"#" * (300 << 20))), "too large"),
    "many bombs": (
        lambda: zip_bytes(lambda f: many(f, [f"x/{i}/softmax.ipynb" for i in range(5)], b" " * (31 << 20))),
        "more than 128 MB",
    ),
    "too many files": (
        lambda: zip_bytes(lambda f: many(f, [str(i) for i in range(10_001)])),
        "10001 files",
    ),
    "encrypted": (encrypted, "encrypted"),
    "two of one name": (lambda: zip_bytes(twice), "two files with the same name"),
    "nothing of ours": (lambda: zip_bytes(lambda f: f.writestr("notes.txt", "")), "has no file for a module"),
    "a nul in a name": (
        lambda: zip_bytes(lambda f: f.writestr("softmax.py", CODE)).replace(b"ftmax.py", b"ft\0ax.py"),
        "",
    ),
}
LARGE = ["a bomb", "many bombs", "too many files"]


@pytest.mark.parametrize(("make", "words"), some_cases(HOSTILE_ZIPS, every=3, slow=LARGE))
def test_hostile_zip_is_refused_and_other_files_are_not(
    two_modules: Course, tmp_path: Path, make: Callable[[], bytes], words: str
) -> None:
    (tmp_path / "eve.zip").write_bytes(make())
    write(tmp_path, {"ana/softmax.py": CODE})
    before = sorted(path for path in tmp_path.rglob("*"))
    for module in (two_modules.module("softmax"), None):  # it is skipped with and without --module
        found = find_submissions(two_modules, [tmp_path], module)
        assert [(one.student, one.problem) for one in found.submissions] == [("ana", "")]
        ((path, reason),) = found.refused
        assert path.endswith("eve.zip")
        assert words in reason
    assert sorted(path for path in tmp_path.rglob("*")) == before  # nothing is unpacked to disk
    alone = find_submissions(two_modules, [tmp_path / "eve.zip"], student="eve")
    assert words in alone.refused[0][1]


def test_broken_zips_of_every_compression_never_raise(two_modules: Course, tmp_path: Path) -> None:
    rng = random.Random(7)
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", method) as file:
            file.writestr("softmax.py", CODE * 20)
        for _ in range(400):
            mutant = bytearray(data.getvalue())
            for _ in range(rng.randint(1, 3)):
                mutant[rng.randrange(len(mutant))] = rng.randrange(256)
            (tmp_path / "eve.zip").write_bytes(mutant)
            find_submissions(two_modules, [tmp_path / "eve.zip"], two_modules.module("softmax"))


class TestHostileFiles:
    """Links, pipes, huge files and bytes that are not text."""

    def problem(self, course: Course, folder: Path) -> str:
        return only(find_submissions(course, [folder])).problem

    def test_submitted_link_is_not_followed(self, two_modules: Course, tmp_path: Path) -> None:
        secret = write(tmp_path, {"secret/solution.py": "SECRET = 1"}) / "secret"
        student = tmp_path / "class" / "eve"
        student.mkdir(parents=True)
        (student / "softmax.py").symlink_to(secret / "solution.py")
        (student / "02_other").symlink_to(secret)
        submission = only(find_submissions(two_modules, [tmp_path / "class"]))
        assert "is a link" in submission.problem
        assert not submission.sources

    def test_instructors_link_is_followed(self, two_modules: Course, tmp_path: Path) -> None:
        write(tmp_path, {"real/softmax.py": CODE})
        (tmp_path / "latest.py").symlink_to(tmp_path / "real" / "softmax.py")
        assert only(find_submissions(two_modules, [tmp_path / "latest.py"])).student == "real"

    def test_pipe_does_not_hang_the_grader(self, two_modules: Course, tmp_path: Path) -> None:
        (tmp_path / "eve").mkdir()
        os.mkfifo(tmp_path / "eve" / "softmax.py")
        assert "is not a file" in self.problem(two_modules, tmp_path)

    def test_folder_with_the_name_of_the_file_is_refused(self, two_modules: Course, tmp_path: Path) -> None:
        (tmp_path / "eve" / "softmax.py").mkdir(parents=True)
        assert find_submissions(two_modules, [tmp_path]).submissions == ()
        assert find_submissions(two_modules, [tmp_path / "eve" / "softmax.py"]).submissions == ()

    def test_file_of_50_megabytes_is_refused(self, two_modules: Course, tmp_path: Path) -> None:
        (tmp_path / "eve").mkdir()
        with (tmp_path / "eve" / "softmax.py").open("wb") as file:
            file.truncate(50 << 20)
        assert "the limit for a .py file is 2 MB" in self.problem(two_modules, tmp_path)

    @pytest.mark.parametrize(
        "data",
        [
            b"\xff\xfe\x00",
            b"# coding: nonsense\n",
            b"# coding: undefined\n",
            b"# coding: utf-7\n",
            "x = 'é'\x00".encode("latin-1"),
            "# 表、".encode("shift-jis"),
        ],
    )
    def test_text_in_no_known_encoding_is_refused(self, two_modules: Course, tmp_path: Path, data: bytes) -> None:
        (tmp_path / "eve").mkdir()
        (tmp_path / "eve" / "softmax.py").write_bytes(data)
        assert "Save it as UTF-8" in self.problem(two_modules, tmp_path)

    def test_declared_encoding_and_byte_order_mark_are_respected(self, two_modules: Course, tmp_path: Path) -> None:
        write(tmp_path, {"ana/softmax.py": "", "ben/softmax.py": ""})
        (tmp_path / "ana" / "softmax.py").write_bytes("# coding: latin-1\nx = 'é'\n".encode("latin-1"))
        (tmp_path / "ben" / "softmax.py").write_bytes("\ufeffx = 'é'\n".encode())
        for submission in find_submissions(two_modules, [tmp_path]).submissions:
            assert submission.sources["softmax"].cells[0].endswith("x = 'é'\n")

    def test_unreadable_module_does_not_affect_others(self, two_modules: Course, tmp_path: Path) -> None:
        write(tmp_path, {"eve/softmax.ipynb": "no json", "eve/other.py": CODE})
        first, second = find_submissions(two_modules, [tmp_path]).submissions
        assert first.problem == "softmax.ipynb: the notebook is not JSON"
        assert second.problem == ""

    def test_student_name_that_is_not_text(self, two_modules: Course, tmp_path: Path) -> None:
        folder = os.fsencode(tmp_path) + b"/e\xff\x1b[2J"
        os.mkdir(folder)  # noqa: PTH102 - a Path cannot have this name
        with open(folder + b"/softmax.py", "w") as file:  # noqa: PTH123
            file.write(CODE)
        assert only(find_submissions(two_modules, [tmp_path])).student == "e\udcff\x1b[2J"


def test_disk_error_is_lost_not_a_problem_of_the_student(two_modules: Course, tmp_path: Path) -> None:
    (tmp_path / "ana").mkdir()
    link = tmp_path / "ana" / "softmax.py"
    link.symlink_to("/proc/self/mem")  # it can be opened but not read
    submission = only(find_submissions(two_modules, [link], two_modules.module("softmax")))
    link.unlink()  # other tests read everything here
    assert "cannot be read" in submission.lost
    assert submission.problem == ""


def test_notebook_without_permission_does_not_stop_others(
    two_modules: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"ana/softmax.ipynb": NOTEBOOK, "ben/softmax.ipynb": NOTEBOOK})
    opened = archive.read_file

    def no_right_to(path: Path) -> archive.FileContent:
        if path.parent.name == "ana":  # as for an instructor who is not root
            raise PermissionError(13, "Permission denied")
        return opened(path)

    monkeypatch.setattr(archive, "read_file", no_right_to)
    ana, ben = find_submissions(two_modules, [tmp_path]).submissions
    assert "Permission denied" in ana.lost
    assert (ana.problem, ben.lost, ben.problem) == ("", "", "")
