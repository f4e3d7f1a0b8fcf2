"""The three steps of intake, each alone: records in, records out."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from grader.course.course import Course
from grader.submission import archive
from grader.submission.choose import choose
from grader.submission.claim import Claims, Helper, claim_files
from grader.submission.found import FileLine
from grader.submission.identity import Identity
from grader.submission.module_names import ModuleNames
from grader.submission.open import Search, open_path
from grader.submission.source import Entry, Source
from grader.submission.submission import Attempt, FilePlace, SubmittedFile
from tests.conftest import write

CODE = "def softmax(x): return x\n"
ANA = Identity("ana", (("folder", "ana"),))


def test_open_lists_everything_and_reads_nothing(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(
        tmp_path / "class", {"ana/softmax.py": CODE, "ana/.DS_Store": "", "ben/Thumbs.db": "", "ben/hw.zip": ""}
    )
    (folder / "ben" / "link").symlink_to(tmp_path)
    monkeypatch.setattr(archive, "read_file", lambda path: pytest.fail(f"{path} was read"))
    source = open_path(Search(ModuleNames(course)), 0, folder)
    assert (source.root, source.name, source.problem) == (0, "class", "")
    assert [(str(entry.name), entry.kind) for entry in source.entries] == [
        ("ana/.DS_Store", "hidden"),
        ("ben/Thumbs.db", "hidden"),
        ("ana/softmax.py", "file"),
        ("ben/hw.zip", "file"),
        ("ben/link", "link"),
    ]


def test_claim_needs_a_listing_and_no_choice(course: Course, tmp_path: Path) -> None:
    names = ("ana/softmax.py", "ana/try1/softmax.py", "ana/notes.pdf", "ben/01_softmax.py")
    entries = tuple(Entry(PurePosixPath(name), tmp_path / name, f"class/{name}") for name in names)
    entries = (Entry(PurePosixPath("cy/x.py"), Path(), "class/cy/x.py", "left out", "is too large"), *entries)
    claims = claim_files(Search(ModuleNames(course)), Source(0, "class", "class", "class", entries, tmp_path))
    assert [(file.student, file.module.name, file.attempt.name) for file in claims.files] == [
        ("ana", "01_softmax", ""),
        ("ana", "01_softmax", "try1"),
        ("ben", "01_softmax", ""),
    ]
    assert [(line.path, line.fate, *(who.label for who in line.who)) for line in claims.lines] == [
        ("class/cy/x.py", "skipped", "cy"),
        ("class/ana/notes.pdf", "not work", "ana"),
    ]


def test_choose_needs_only_claims(course: Course) -> None:
    def file(name: str, handed_in: float) -> SubmittedFile:
        location = FilePlace(Path("/gone", name), PurePosixPath("softmax.py"), shown=name)
        return SubmittedFile(ANA, course.module("softmax"), location, Attempt(name, handed_in=handed_in))

    first, second = file("try1", 100.0), file("try2", 200.0)
    helper = Helper("utils.py", "defines no function of any module", (ANA,), harmless=True)
    claims = Claims((first, second), (helper,), (FileLine("not work", "notes.pdf"),), (("class", "a note"),))
    found = choose([claims], None, None, None, alone=False)
    assert [(one.piece, one.attempts) for one in found.handed_in] == [(second, 2)]
    assert [(line.path, line.fate) for line in found.lines] == [
        ("notes.pdf", "not work"),
        ("try2", "graded"),
        ("try1", "not counted"),
        ("utils.py", "not work"),
    ]
    assert found.notes == (("class", "a note"),)
