"""`attn mark`: points and comments by hand, kept through grading and shown in every export."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import click.testing
import pytest

from cli.main import attn as command
from grader.classroom.overrides import FILE, Override, Overrides, OverridesError, read_overrides, write_overrides
from grader.classroom.store.files import FileStore
from grader.classroom.store.store import read_marks
from grader.course.course import Course
from tests.cli.conftest import EXECUTABLE
from tests.conftest import write

RIGHT = "def tiny(x):\n    return x + x\n"
SQUARE = "def tiny(x):\n    return x ** 2\n"
ROSTER = "id,name\n1,Ana Silva\n2,Ben Okoro\n3,Cy Young\n"
BECAUSE = "right idea, =wrong axis"


def grade(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    words = [EXECUTABLE, "grade", root / "class", "--to", root / "reports", "--allow-unjailed", *options]
    return subprocess.run(list(map(str, words)), cwd=root / "course", capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def graded(built: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of three: ana is right, ben is wrong, cy handed in nothing."""
    root = tmp_path_factory.mktemp("mark")
    shutil.copytree(built.root, root / "course")
    write(root, {"class/Ana Silva/tiny.py": RIGHT, "class/Ben Okoro/tiny.py": SQUARE, "course/class.csv": ROSTER})
    write(root, {"course/course.toml": 'roster = "class.csv"\n'})
    done = grade(root)
    assert done.returncode == 1, done.stderr
    return root


@pytest.fixture
def root(graded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy = Path(shutil.copytree(graded, tmp_path / "copy"))
    monkeypatch.chdir(copy / "course")
    return copy


def run(*arguments: object) -> click.testing.Result:
    return click.testing.CliRunner().invoke(command, list(map(str, arguments)), catch_exceptions=False)


def mark(root: Path, *arguments: object) -> click.testing.Result:
    return run("mark", *arguments, "-r", root / "reports")


def finals(root: Path) -> dict[str, tuple[str, str, str]]:
    with (root / "reports" / "grades.csv").open(newline="", encoding="utf-8") as file:
        return {row["id"]: (row["score"], row["final"], row["comment"]) for row in csv.DictReader(file)}


def test_points_and_the_reason_are_in_the_class_list_beside_the_automatic_score(root: Path) -> None:
    automatic = finals(root)["2"][0]
    done = mark(root, "Ben Okoro", "tiny", "--points", "7.5", "--because", f"{BECAUSE}\n\x1b[2J")
    assert done.exit_code == 0, done.output
    assert f"Ben Okoro · 01_tiny: {automatic} → 7.5 of 10 (automatic: {automatic})" in done.output
    assert finals(root)["2"] == (automatic, "7.5", BECAUSE + " \\u{1b}[2J")
    assert "Ben Okoro · 01_tiny: 7.5 / 10 by hand (automatic: " in mark(root).output
    (one,) = json.loads(mark(root, "--json").stdout)
    assert (one["student"], one["override"], one["final"], one["automatic"]) == (
        "Ben Okoro",
        7.5,
        7.5,
        float(automatic),
    )


@pytest.mark.exhaustive
def test_points_survive_grading_again(root: Path) -> None:
    mark(root, "2", "1", "--points", "7", "--because", "because")
    for options in ((), ("--resume",)):
        done = grade(root, *options)
        assert finals(root)["2"][1:] == ("7", "because")
        assert "7 by hand; comment: because" in done.stdout
        assert "automatic mark was" not in done.stderr
    # Other code, another automatic mark: the points stay, and the run says so.
    write(root, {"class/Ben Okoro/tiny.py": RIGHT})
    done = grade(root, "--resume")
    assert finals(root)["2"] == ("10", "7", "because")
    assert "2 has 7 points by hand for 01_tiny, given when the automatic mark was" in done.stderr
    assert "now it is 10" in done.stderr


def test_what_is_not_given_again_stays(root: Path) -> None:
    mark(root, "2", "1", "--points", "7", "--because", "because")
    mark(root, "2", "1", "--comment", "see me")
    assert finals(root)["2"][1:] == ("7", "see me")
    mark(root, "2", "1", "--points", "8")
    assert finals(root)["2"][1:] == ("8", "see me")
    done = mark(root, "2", "1", "--clear")
    assert f"8 → {finals(root)['2'][0]} of 10" in done.output
    assert finals(root)["2"][1:] == (finals(root)["2"][0], "")
    assert not (root / "reports" / FILE).exists()
    assert mark(root).output == "Nothing was given by hand.\n"


def test_a_comment_needs_no_points_and_a_student_needs_no_submission(root: Path) -> None:
    mark(root, "1", "1", "--comment", "well done")
    assert finals(root)["1"] == ("10", "10", "well done")
    mark(root, "cy young", "1", "--points", "3", "--because", "on paper")
    assert finals(root)["3"] == ("", "3", "on paper")
    assert "nothing from Cy Young (3 by hand)" in grade(root, "--resume").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ben okoro", "tiny", "--points", "11", "--because", "x"], "11 points are more than the 10 that 01_tiny has."),
        (["2", "tiny", "--points", "-1", "--because", "x"], "--points must be 0 or more"),
        (["2", "tiny", "--points", "nan", "--because", "x"], "--points must be 0 or more"),
        (["2", "tiny", "--points", "seven"], "'seven' is not a valid float"),
        (["2", "tiny", "--points", "7"], "say why, with --because"),
        (["2", "tiny", "--comment", " "], "the comment is empty"),
        (["2", "--points", "7", "--because", "x"], "name the student and the module"),
        (["zoe", "tiny", "--points", "7", "--because", "x"], "zoe has no line for 01_tiny in the class list"),
        (["2", "tinny", "--points", "7", "--because", "x"], "Did you mean tiny?"),
        (["2", "tiny", "--clear"], "2 has no points or comment by hand"),
        (["2", "tiny", "--clear", "--points", "7"], "use it alone"),
        (["2", "tiny", "--extra"], "--extra belongs to --points"),
    ],
)
def test_usage_mistakes_exit_2_and_change_nothing(root: Path, arguments: list[str], words: str) -> None:
    before = (root / "reports" / "grades.csv").read_bytes()
    done = mark(root, *arguments)
    assert done.exit_code == 2
    assert words in " ".join(done.output.split())
    assert (root / "reports" / "grades.csv").read_bytes() == before
    assert not (root / "reports" / FILE).exists()


def test_more_points_than_possible_must_be_meant(root: Path) -> None:
    assert mark(root, "1", "1", "--points", "12", "--because", "bonus", "--extra").exit_code == 0
    assert finals(root)["1"] == ("10", "12", "bonus")
    assert grade(root, "--resume").returncode == 1
    assert finals(root)["1"] == ("10", "12", "bonus")


def test_a_file_by_hand_counts_at_once(root: Path) -> None:
    write(
        root, {f"reports/{FILE}": "student;module;points;comment\nBen Okoro;tiny;6,5;by hand\n1;1;;fine\nzoe;1;1;?\n"}
    )
    done = run("export", "csv", root / "reports", "--out", root / "t.csv")
    assert "overrides.csv names zoe in 1, but the class list has no such line" in done.output
    with (root / "t.csv").open(newline="", encoding="utf-8") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert (rows["2"]["01_tiny"], rows["2"]["01_tiny comment"]) == ("6.5", "by hand")
    assert rows["2"]["01_tiny automatic"] == finals(root)["2"][0]
    assert (rows["1"]["01_tiny"], rows["1"]["01_tiny comment"]) == ("10", "fine")


def test_points_are_in_every_export_and_in_the_statistics(root: Path) -> None:
    mark(root, "2", "1", "--points", "7", "--because", "because")
    reports = root / "reports"
    run("export", "canvas", reports, "--out", root / "canvas.csv")
    assert '"Ben Okoro","","","2","",7' in (root / "canvas.csv").read_text()
    run("export", "junit", reports, "--out", root / "j.xml")
    suite = ElementTree.parse(root / "j.xml").find("testsuite[@name='01_tiny.2']")
    assert suite is not None
    properties = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert (properties["final"], properties["override"], properties["comment"]) == ("7", "7", "because")
    assert properties["score"] == finals(root)["2"][0]
    screen = run("stats", reports).output
    assert "By hand, which the scores above do not count:\n  Ben Okoro · 01_tiny: 7 / 10 by hand (automatic:" in screen
    (one,) = json.loads(run("stats", reports, "--json").stdout)
    assert [(given["submission"], given["override"]) for given in one["by_hand"]] == [("Ben Okoro", 7.0)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("student,module,points\n1,1,3\n", "line 2: there is no column 'comment'"),
        ("student,module,points,comment\n1,1,many,x\n", "line 2: points must be a number, not 'many'"),
        ("student,module,points,comment\n1,1,-3,x\n", "line 2: -3 points are less than none"),
        ("student,module,points,comment\n1,1,,\n", "line 2: it needs points or a comment"),
        ("student,module,points,comment\n,1,3,x\n", "line 2: it needs a student and a module"),
        ("student,module,points,comment\n1,1,3,x\n1,1,4,x\n", "line 3: 1 has another line for 1 above"),
        ("student,module,points,comment\n1,1,30,x\n", "30 points are more than the 10 that 01_tiny has"),
        ('student,module,points,comment\n1,1,3,"x\n', "is not a CSV file"),
    ],
)
def test_a_damaged_file_stops_every_command(root: Path, text: str, words: str) -> None:
    reports = root / "reports"
    before = (reports / "grades.csv").read_bytes()
    write(root, {f"reports/{FILE}": text})
    commands: list[tuple[object, ...]] = [
        ("mark", "-r", reports),
        ("mark", "1", "1", "--points", "3", "--because", "x", "-r", reports),
        ("export", "csv", reports, "--out", root / "t.csv"),
        ("stats", reports),
    ]
    for arguments in commands:
        done = run(*arguments)
        assert (done.exit_code, words in " ".join(done.output.split())) == (2, True), (arguments, done.output)
    assert (reports / "grades.csv").read_bytes() == before
    assert (reports / FILE).read_text() == text


def test_grading_stops_at_a_damaged_file_before_it_begins(root: Path) -> None:
    write(root, {f"reports/{FILE}": "student,module,points,comment\n1,1,many,x\n"})
    before = (root / "reports" / "grades.csv").read_bytes()
    done = grade(root)
    assert done.returncode == 2
    assert "points must be a number" in done.stderr
    assert (root / "reports" / "grades.csv").read_bytes() == before


def test_a_name_of_two_students_is_refused(root: Path) -> None:
    first, second, *_ = read_marks(FileStore(root / "reports"))
    twin = Override(first.id, "1", 3.0, "x")
    with pytest.raises(OverridesError, match="who is two students"):
        Overrides((twin,)).apply([first, replace(second, submission=first.id)])


def test_overrides_are_read_as_they_were_written(tmp_path: Path) -> None:
    records = (
        Override("=ana", "01_tiny", 1.5, "-1, they said", True, 2.0, "2026-11-16"),
        Override("b", "2", None, "x"),
    )
    write_overrides(tmp_path, Overrides(records))
    assert read_overrides(tmp_path).records == records
