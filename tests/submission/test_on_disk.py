"""A reference to a submission is read from disk exactly as it was written."""

from __future__ import annotations

import dataclasses
from pathlib import Path, PurePosixPath

from grader.core.disk_table import DiskList
from grader.course.course import read_course
from grader.submission.identity import Identity
from grader.submission.on_disk import ref_form
from grader.submission.submission import Attempt, FilePlace, SubmissionRef, SubmittedFile

ROOT = Path(__file__).parent.parent.parent


def test_every_field_is_read_as_it_was() -> None:
    course = read_course(ROOT)
    softmax, loops = course.modules[:2]
    plain = SubmittedFile(
        Identity("ana"), softmax, FilePlace(Path("/class/ana/softmax.py"), PurePosixPath("softmax.py"))
    )
    who = Identity("bj\udcf6rn (Canvas 7)", (("name", "bj\udcf6rn"), ("canvas", "7")))
    full = SubmittedFile(
        who,
        loops,
        FilePlace(Path("class.zip"), PurePosixPath("a/\udcff.ipynb"), member=True, shown="x\n.zip"),
        Attempt("try2", root=1, arrived=2.0, handed_in=1e9 + 0.3, late=True, order=(3, 1), earlier=4),
        modified=0.1,
        fit=2,
        problem="is empty",
        whose="mapped",
        note="is UTF-16",
    )
    for one, other in ((full, plain), (full.location, plain.location), (full.attempt, plain.attempt)):
        for field in dataclasses.fields(one):  # or a new field could be lost
            assert getattr(one, field.name) != getattr(other, field.name), field.name
    refs = [SubmissionRef(plain, (full,), 3, "try2"), SubmissionRef(full, ()), SubmissionRef(plain, ())]
    found = list(DiskList(ref_form(), refs))
    assert [dataclasses.replace(one, beside=tuple(one.beside)) for one in found] == refs
    again = DiskList(ref_form(), found)  # as they were read, without a look at what is beside them
    assert [list(one.beside) for one in again] == [[full], [], []]
    assert again[0].beside[0] == full
    assert found[0].piece.module is found[2].piece.module is softmax
