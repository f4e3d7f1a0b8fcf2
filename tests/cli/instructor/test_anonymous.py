"""`--anonymous`: no name and no id of a class in anything that is printed or written for a second grader."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path

import pytest

from grader.classroom.pseudonyms import PATTERN, Names, Pseudonyms
from tests.cli.conftest import Attn
from tests.conftest import ROOT, UNDECIDED, needs_jail, write

pytestmark = pytest.mark.exhaustive

# Her own text names her, as a comment in code or a message may.
NAMED = 'def softmax(x, axis=-1):\n    raise ValueError("Kim Weber (kim, S2011) was here")\n'
DUE = ("--due", "2026-10-01", "--late-penalty", "10%/day")


@pytest.fixture(scope="module")
def folder(attn: Attn, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example class with two more students, graded with names. One is not on the roster."""
    needs_jail()
    root = tmp_path_factory.mktemp("anonymous")
    shutil.copytree(ROOT / "examples" / "class", root / "class")
    write(root / "class", {"kim/softmax.py": NAMED, "lou/softmax.py": UNDECIDED})
    done = attn("grade", root / "class", "--to", root / "reports", "--roster", ROOT / "examples/gradebook.csv", *DUE)
    assert done.returncode == 1, done.stderr
    done = attn("mark", "ben", "softmax", "--points", "40", "--because", "ask Ben Okafor", "-r", root / "reports")
    assert done.returncode == 0, done.stderr
    return root


def known() -> set[str]:
    """Return every name, part of a name and id of the class."""
    with (ROOT / "examples" / "gradebook.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["ID"]]
    words = {row[column] for row in rows for column in ("Student", "ID", "SIS User ID", "SIS Login ID")}
    return words | {part for row in rows for part in row["Student"].split(", ")} | {"lou"}


def named_in(text: str) -> list[str]:
    """Return the names that stand in a text as words."""
    return [name for name in known() if re.search(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", text, re.IGNORECASE)]


def test_the_search_finds_names(attn: Attn, folder: Path) -> None:
    for arguments in (("stats", folder / "reports"), ("mark", "-r", folder / "reports")):
        assert "ben" in named_in(attn(*arguments).stdout)
    assert set(named_in(NAMED)) == {"Weber, Kim", "Kim", "kim", "Weber", "S2011"} - {"Weber, Kim"}


COMMANDS: dict[str, list[str]] = {
    "grade": ["grade", "{class}", "--to", "{reports}", "--resume", *DUE],
    "grade json": ["grade", "{class}", "--to", "{reports}", "--resume", "--json", *DUE],
    "grade alone": ["grade", "{class}/lou/softmax.py"],
    "stats": ["stats", "{reports}", "--all", "--leaderboard"],
    "stats json": ["stats", "{reports}", "--json"],
    "review": ["review", "{reports}", "--all"],
    "review json": ["review", "{reports}", "--all", "--json"],
    "review of nobody": ["review", "{reports}", "-s", "ana", "--accept"],
    "mark": ["mark", "-r", "{reports}"],
    "mark json": ["mark", "-r", "{reports}", "--json"],
    "mark again": ["mark", "ben", "1", "--comment", "for Ben, again", "-r", "{reports}"],
    "mark too much": ["mark", "ben", "1", "--points", "99", "-r", "{reports}"],
    "csv": ["export", "csv", "{reports}", "--out", "{out}/t.csv"],
    "checks": ["export", "csv", "{reports}", "--out", "{out}/c.csv", "--checks"],
    "junit": ["export", "junit", "{reports}", "--out", "{out}/j.xml"],
    "junit each": ["export", "junit", "{reports}", "--out", "{out}/each", "--each"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_names_a_student(attn: Attn, folder: Path, tmp_path: Path, name: str) -> None:
    reports = shutil.copytree(folder / "reports", tmp_path / "graded")
    places = {"class": folder / "class", "reports": reports, "out": tmp_path / "out"}
    (tmp_path / "out").mkdir()
    done = attn(*(word.format(**places) for word in COMMANDS[name]), "--anonymous")
    assert done.returncode in ((2,) if name in ("review of nobody", "mark too much") else (0, 1)), done.stderr
    printed = (done.stdout + done.stderr).replace(str(folder), "").replace(str(tmp_path), "")
    assert named_in(printed) == [], printed
    assert name in ("mark too much", "review of nobody") or PATTERN.search(printed) or "export" in COMMANDS[name][0]
    for path in (tmp_path / "out").rglob("*"):
        assert named_in(path.relative_to(tmp_path).as_posix()) == []
        assert not path.is_file() or named_in(path.read_text()) == [], path
    if "json" in name:
        json.loads(done.stdout)


def test_pseudonyms_are_stable_and_lead_back_with_the_secret(attn: Attn, folder: Path, tmp_path: Path) -> None:
    reports = shutil.copytree(folder / "reports", tmp_path / "reports")
    (first,) = json.loads(attn("mark", "-r", reports, "--anonymous", "--json").stdout)
    pseudonym = first["student"]
    assert PATTERN.fullmatch(pseudonym)
    assert (first["id"], first["name"], first["override"]) == (pseudonym, "", 40.0)
    done = attn("mark", pseudonym, "softmax", "--points", "41", "--anonymous", "-r", reports)
    assert f"{pseudonym} · 01_softmax: 40 → 41 of 46" in done.stdout
    (again,) = json.loads(attn("mark", "-r", reports, "--json").stdout)
    assert (again["student"], again["override"]) == ("ben", 41.0)
    listed = attn("review", reports, "--anonymous").stdout
    (command,) = (line.strip() for line in listed.splitlines() if "--accept" in line)
    assert "--anonymous --accept" in command
    words = command.split()[1:8]
    decided = attn(*words, "--accept")
    assert decided.returncode == 0, decided.stderr
    assert "Nothing is undecided." in attn("review", reports).stdout


@pytest.mark.parametrize("platform", ["canvas", "moodle"])
def test_platforms_that_need_names_refuse(attn: Attn, folder: Path, tmp_path: Path, platform: str) -> None:
    done = attn("export", platform, folder / "reports", "--out", tmp_path / "x.csv", "--anonymous")
    assert done.returncode == 2
    assert f"{platform} takes grades only with names, so --anonymous is not possible" in " ".join(done.stderr.split())
    assert not (tmp_path / "x.csv").exists()


def test_names_are_words_of_their_own() -> None:
    names = Pseudonyms("secret", (Names("ana", ("7", "Ana Silva", "88123")), Names("student"), Names("max")))
    ana, most = names.of("ana"), names.of("max")
    assert (
        names.text("Ana_softmax.py by ana silva, 88123: banana 7, Silva")
        == f"{ana}_softmax.py by {ana}, {ana}: banana 7, {ana}"
    )
    assert names.text(names.text("max and student")) == f"{most} and {names.of('student')}"
    data = names.data({"max_score": 3, "name": "max", "message": "max"})
    assert data == {"max_score": 3, "name": "max", "message": most}
    assert names.student(ana) == "ana"
    assert names.student("ana") == "ana"
    assert Pseudonyms("other").of("ana") != ana
    assert Pseudonyms("secret").text("ana") == "ana"
