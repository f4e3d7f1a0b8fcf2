"""Odd exports of one small class, as a busy term brings them, and what becomes of each person.

Each export is a table: file names and contents, and the people who are graded or skipped. All others are missing. The
work of each person is marked, so that a test sees whose it is. A dictionary is a zip.
"""

from __future__ import annotations

import io
import os
import unicodedata
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.classroom.roster import Person, Roster

Content = str | bytes | Mapping[str, "Content"]
WHEN, LATER = "2026-10-01-12-00-00", "2026-10-02-12-00-00"
SUBMISSION = "Submission attachment(s)"
ROSTER = Roster(
    (
        Person("ana", "Ana Silva", email="ana@uni.example", canvas="201", moodle="301", github="ana-s"),
        Person("ben", "Ben Okafor", email="ben@uni.example", canvas="202", moodle="302", github="bokafor"),
        Person("cy_zhang", "Cy Zhang", email="cy@uni.example", canvas="203", moodle="303", github="cyz"),
        Person("zhang", "Lin Zhang", email="lin@uni.example", canvas="204", moodle="304", github="linz"),
        Person("bjoern", "Björn Åström", email="bjoern@uni.example", canvas="205", moodle="305", github="bjoern"),
        Person("eli", "Eli O'Neil, Jr.", email="eli@uni.example", canvas="206", moodle="306", github="eli-o"),
    )
)


def work(who: str, extra: str = "") -> str:
    """Return the work of a person, with a mark of whose it is."""
    return f"# by {who}\ndef softmax(x, axis=-1):\n    return x{extra}\n"


def nfd(text: str) -> str:
    """Return a name as a Mac writes it: letters and accents apart."""
    return unicodedata.normalize("NFD", text)


def note(name: str, user: str) -> str:
    """Return what Blackboard writes about an attempt."""
    return f"Name: {name} ({user})\nAssignment: Week 1\nDate Submitted: Thursday, 1 October 2026\n"


@dataclass(frozen=True)
class Odd:
    """One export: its files, the people who are graded and skipped, and words that the reasons must have."""

    name: str
    files: Mapping[str, Content]
    graded: str = ""
    skipped: str = ""
    words: tuple[str, ...] = ()
    strangers: int = 0  # students with graded work who are not on the roster
    top: str = "class"  # the name of the folder
    times: Mapping[str, int] | None = None  # seconds by file; all others have one time

    def fates(self) -> dict[str, str]:
        """Return what becomes of each person."""
        known = dict.fromkeys(self.graded.split(), "graded") | dict.fromkeys(self.skipped.split(), "skipped")
        return {person.id: known.get(person.id, "missing") for person in ROSTER.people}


def write_odd(folder: Path, odd: Odd) -> Path:
    """Write the files of an export below a new folder."""
    for name, content in odd.files.items():
        path = folder / odd.top / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_data(content))
        when = 1_790_000_000 + (odd.times or {}).get(name, 0)
        os.utime(path, (when, when))
    return folder / odd.top


def _data(content: Content) -> bytes:
    if isinstance(content, Mapping):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as made:
            for name, inside in content.items():
                made.writestr(zipfile.ZipInfo(name, (2026, 10, 1, 12, 0, 0)), _data(inside))
        return data.getvalue()
    return content.encode() if isinstance(content, str) else content


BOTH = work("ana") + "def dot_product(a, b):\n    return a\n"
NOTEBOOK = """{"nbformat": 4, "nbformat_minor": 5, "metadata": {},
 "cells": [{"cell_type": "code", "source": "%s", "metadata": {}, "outputs": [], "execution_count": null}]}"""
BRIGHTSPACE = {
    "index.html": "<html>Ana Silva</html>",
    "61001-7001 - Ana Silva - Oct 1, 2026 1159 PM/softmax.py": work("ana"),
    "61002-7001 - Ben Okafor - Oct 2, 2026 915 AM/Softmax (1).py": work("ben"),
    f"61005-7001 - {nfd('Björn Åström')} - Oct 1, 2026 804 AM/hw1.py": work("bjoern"),
}
SAKAI = {
    "grades.csv": "Week 1,Points\n\nDisplay ID,ID,Last Name,First Name,grade\nana,ana,Silva,Ana,\n",
    f"Silva, Ana(ana)/{SUBMISSION}/softmax.py": work("ana"),
    "Silva, Ana(ana)/timestamp.txt": "2026-10-01T12:00:00Z",
    "Silva, Ana(ana)/comments.txt": "",
    "Silva, Ana(ana)/Silva, Ana(ana)_submissionText.html": "",
    "Silva, Ana(ana)/Feedback Attachment(s)/softmax.py": "# by the teacher\n",
    f"Zhang, Cy(cy_zhang)/{SUBMISSION}/softmax.py": work("cy_zhang"),
}
ODD = (
    Odd(
        "canvas below two wrappers",
        {
            "hw/submissions/silvaana_201_51_softmax.py": work("ana"),
            "hw/submissions/okaforben_LATE_202_52_softmax-1.py": work("ben"),
        },
        "ana ben",
    ),
    Odd(
        "canvas below a wrapper, beside what a Mac adds",
        {
            "submissions/silvaana_201_51_softmax.py": work("ana"),
            "submissions/okaforben_202_52_softmax.py": work("ben"),
            "submissions/.DS_Store": "x",
            "__MACOSX/submissions/._silvaana_201_51_softmax.py": "x",
            ".DS_Store": "x",
        },
        "ana ben",
    ),
    Odd(
        "canvas, the copy of a browser is the newer of two files",
        {"silvaana_201_51_softmax.py": work("old"), "silvaana_201_59_softmax (1).py": work("ana")},
        "ana",
        words=("softmax (1).py",),
    ),
    Odd(
        "canvas, a script and a notebook",
        {"silvaana_201_51_softmax.py": work("ana"), "silvaana_201_59_softmax.ipynb": NOTEBOOK % "# by old"},
        "ana",
        words=("a script counts before a notebook",),
    ),
    Odd(
        "canvas, resubmission -1 and -2",
        {
            "silvaana_201_51_softmax.py": work("old"),
            "silvaana_201_52_softmax-2.py": work("ana"),
            "silvaana_201_53_softmax-1.py": work("old"),
        },
        "ana",
    ),
    Odd(
        "canvas, anonymous",
        {f"anon_{one}_5{at}_softmax.py": work("x") for at, one in enumerate(("x7Q", "b2Z"))},
        strangers=2,
    ),
    Odd(
        "canvas, umlauts in NFD, commas and blanks in names",
        {
            nfd("åströmbjörn_205_51_softmax.py"): work("bjoern"),
            "oneiljr.eli_LATE_206_52_soft max.py": work("eli"),
            "silvaana_201_53_softmax - Copy.py": work("ana"),
        },
        "ana bjoern eli",
    ),
    Odd(
        "canvas, a group", {"theowls_201_51_softmax.py": work("ana"), "team2_202_52_softmax.py": work("ben")}, "ana ben"
    ),
    Odd(
        "moodle, NFD and folders inside",
        {
            nfd("Björn Åström_305_assignsubmission_file/week 1/softmax.py"): work("bjoern"),
            "Ana Silva_301_assignsubmission_file_/softmax.py": work("ana"),
        },
        "ana bjoern",
    ),
    Odd(
        "moodle, a group and a person",
        {
            "Team A_301_assignsubmission_file/softmax.py": work("x"),
            "Ben Okafor_302_assignsubmission_file/softmax.py": work("ben"),
        },
        "ben",
        strangers=1,
    ),
    Odd(
        "moodle in two wrappers with a zip in it",
        {"ATT/week/Ana Silva_301_assignsubmission_file/hand in.zip": {"softmax.py": work("ana")}},
        "ana",
    ),
    Odd(
        "blackboard, a user name with _ among others",
        {
            f"Week 1_ana_attempt_{WHEN}_softmax.py": work("ana"),
            f"Week 1_ana_attempt_{WHEN}.txt": note("Ana Silva", "ana"),
            f"Week 1_cy_zhang_attempt_{WHEN}_softmax.py": work("cy_zhang"),
            f"Week 1_cy_zhang_attempt_{WHEN}.txt": note("Cy Zhang", "cy_zhang"),
        },
        "ana cy_zhang",
    ),
    Odd(
        "blackboard, only one user name, with _",
        {
            f"Week 1_cy_zhang_attempt_{WHEN}_softmax.py": work("cy_zhang"),
            f"Week 1_cy_zhang_attempt_{WHEN}.txt": note("Cy Zhang", "cy_zhang"),
        },
        "cy_zhang",
    ),
    Odd(
        "blackboard without its notes, which user it is cannot be told",
        {f"Week 1_cy_zhang_attempt_{WHEN}_softmax.py": work("cy_zhang")},
        strangers=1,
        words=("may be",),
    ),
    Odd(
        "blackboard, two attempts and a title with _",
        {
            f"Week_1_cy_zhang_attempt_{WHEN}_softmax.py": work("old"),
            f"Week_1_cy_zhang_attempt_{LATER}_softmax.py": work("cy_zhang"),
            f"Week_1_zhang_attempt_{WHEN}_softmax.py": work("zhang"),
            f"Week_1_zhang_attempt_{WHEN}.txt": note("Lin Zhang", "zhang"),
        },
        "cy_zhang zhang",
    ),
    Odd("brightspace", BRIGHTSPACE, "ana ben bjoern"),
    Odd(
        "brightspace, handed in twice",
        {
            "61001-7001 - Ana Silva - Oct 1, 2026 1159 PM/softmax.py": work("old"),
            "61001-7001 - Ana Silva - Oct 2, 2026 1205 AM/softmax.py": work("ana"),
        },
        "ana",
    ),
    Odd("sakai", SAKAI, "ana cy_zhang", top="Week 1"),
    Odd("sakai in its zip's folder", {f"Week 1/{name}": text for name, text in SAKAI.items()}, "ana cy_zhang"),
    Odd(
        "sakai without folders",
        {f"Week 1/Silva, Ana(ana)_{SUBMISSION}_softmax.py": work("ana"), "Week 1/grades.csv": ""},
        "ana",
    ),
    Odd(
        "clones",
        {
            "softmax-ana-s/softmax.py": work("ana"),
            "softmax-bokafor/softmax.py": work("ben"),
            "softmax-1/softmax.py": work("x"),
        },
        "ana ben",
        strangers=1,
        top="softmax-submissions",
        words=("softmax-1",),
    ),
    Odd(
        "attachments of e-mails in one folder",
        {"softmax.py": work("x"), "softmax (1).py": work("y"), "softmax (2).py": work("z")},
        words=("cannot tell whose",),
        top="inbox",
    ),
    Odd(
        "a flat folder named after people",
        {"ana.py": work("ana"), "ben@uni.example.py": work("ben"), "Cy Zhang.py": work("cy_zhang"), "README.md": ""},
        "ana ben cy_zhang",
    ),
    Odd(
        "names with commas, in folders",
        {
            "Silva, Ana/softmax.py": work("ana"),
            nfd("Åström, Björn/softmax.py"): work("bjoern"),
            "Zhang, Cy /softmax.py": work("cy_zhang"),
        },
        "ana bjoern cy_zhang",
    ),
    Odd(
        "the newer of two files of one student is the copy",
        {"ana/softmax.py": work("old"), "ana/softmax (1).py": work("ana")},
        "ana",
        words=("changed later",),
        times={"ana/softmax (1).py": 60},
    ),
    Odd(
        "the older of two files of one student is the copy",
        {"ana/softmax.py": work("ana"), "ana/softmax (1).py": work("old")},
        "ana",
        words=("changed later",),
        times={"ana/softmax.py": 60},
    ),
    Odd(
        "two files of one student, of one time",
        {"ana/softmax.py": work("ana"), "ana/softmax (1).py": work("old")},
        "ana",
        words=("has the name of the module",),
    ),
    Odd(
        "a script and a notebook of one student",
        {"ana/softmax.py": work("ana"), "ana/softmax.ipynb": NOTEBOOK % "# by old"},
        "ana",
        words=("a script counts before a notebook",),
    ),
    Odd(
        "a script and a newer notebook",
        {"ana/softmax.py": work("old"), "ana/softmax.ipynb": NOTEBOOK % "# by ana"},
        "ana",
        words=("changed later",),
        times={"ana/softmax.ipynb": 60},
    ),
    Odd(
        "a zip in a zip",
        {"ana.zip": {"inner.zip": {"softmax.py": work("ana")}}},
        skipped="ana",
        words=("zip inside a zip",),
    ),
    Odd(
        "a broken zip",
        {"ana/hw.zip": b"PK\3\4 broken", "ben/softmax.py": work("ben")},
        "ben",
        "ana",
        ("cannot be read as a zip",),
    ),
    Odd(
        "a zip that was cut short",
        {"ana.zip": _data({"softmax.py": work("ana")})[:-30], "ben.py": work("ben")},
        "ben",
        "ana",
    ),
    Odd(
        "another kind of archive",
        {"ana/hw.rar": b"Rar!", "ben/softmax.py": work("ben")},
        "ben",
        "ana",
        ("archive of a kind",),
    ),
    Odd(
        "hidden files and what editors leave",
        {
            "ana/softmax.py": work("ana"),
            "ana/.softmax.py.swp": "x",
            "ana/__pycache__/softmax.cpython-311.pyc": "x",
            "ben/.ipynb_checkpoints/softmax-checkpoint.ipynb": "{}",
            "ben/softmax.ipynb": NOTEBOOK % "# by ben",
            "Thumbs.db": "x",
        },
        "ana ben",
    ),
    Odd(
        "empty folders",
        {"ana/softmax.py": work("ana"), "ben/": "", "zhang/notes.txt": "sorry"},
        "ana",
        "ben zhang",
        ("has nothing to grade",),
    ),
    Odd(
        "late suffixes",
        {"ana_late/softmax.py": work("x"), "ben (late)/softmax.py": work("y"), "zhang/softmax.py": work("zhang")},
        "zhang",
        strangers=2,
    ),
    Odd(
        "one file for two modules",
        {"ana/hw.py": BOTH, "ben/softmax.py": work("ben")},
        "ben",
        "ana",
        ("has the functions of",),
    ),
    Odd(
        "names in capitals and a second ending",
        {"ana/SOFTMAX.PY": work("ana"), "ben/softmax.py.txt": work("ben")},
        "ana",
        "ben",
    ),
    Odd(
        "a file in Latin-1",
        {"ana/softmax.py": work("ana", "  # schön").encode("latin-1")},
        "ana",
        words=("read as Latin-1",),
    ),
    Odd(
        "a file that declares its encoding",
        {"ana/softmax.py": f"# coding: windows-1252\n{work('ana', '  # schön')}".encode("latin-1")},
        "ana",
    ),
    Odd(
        "a file as Windows' Notepad saves it",
        {"ana/softmax.py": work("ana").replace("\n", "\r\n").encode("utf-16")},
        "ana",
        words=("UTF-16",),
    ),
    Odd("a zip with the paths of Windows", {"ana.zip": {"hw\\softmax.py": work("ana")}}, "ana"),
    Odd("two people with copies", {"ana/softmax (1).py": work("ana"), "ben/softmax (2).py": work("ben")}, "ana ben"),
    Odd(
        "a student's folder inside another's",
        {"ana/softmax.py": work("ana"), "ana/ben/softmax.py": work("old")},
        skipped="ana",
    ),
)
