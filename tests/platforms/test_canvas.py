"""The Canvas import file: columns, the row of points, and no 0 for students who were not graded."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

from tests.platforms.conftest import FORMULA, Graded

# The Canvas importer reads the first five columns by name and position, then one column for each assignment.
COLUMNS = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]


def rows(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file, strict=True))


def check_canvas(found: list[list[str]], assignments: int) -> None:
    """Check a file against the rules of the Canvas importer."""
    header, points, *students = found
    assert header[:5] == COLUMNS
    assert len(header) == 5 + assignments == len(set(header))
    assert all(len(row) == len(header) for row in found)
    assert "Points Possible" in points[0]
    assert all(cell == "" for cell in points[1:5])
    assert all(float(cell) > 0 for cell in points[5:])
    for row in students:
        assert "Points Possible" not in row[0]
        assert any(row[:4]), "a line without a name or id"
        for cell, most in zip(row[5:], points[5:], strict=True):
            assert cell == "" or 0 <= float(cell) <= float(most)


def test_a_class_with_a_roster_from_canvas(graded: Graded, tmp_path: Path) -> None:
    done = graded.export("canvas", graded.reports, "--out", tmp_path / "c.csv", "--roster", graded.roster)
    found = rows(tmp_path / "c.csv")
    check_canvas(found, 1)
    assert found[1][5] == "10"
    assert {row[3]: row[5] for row in found[2:]} == {
        "ana": "10",
        "ben": "9",  # a day late
        "cy": "0",  # not Python, which is a verdict
        "dee": "",
        "eve": "",
        "fay": "",
        "gil": "10",
    }
    assert found[2] == ["Åström-Ünal, Ana 李", "101", "S-1", "ana", "Mon", "10"]
    assert found[3][0] == 'O\'Ben, "B"'
    assert found[-1][0] == f"'{FORMULA}"
    assert done.returncode == 3
    assert "104 has no score for 01_tiny (grader fault): not a 0" in done.stderr
    assert "105 has no score for 01_tiny (not graded): not a 0" in done.stderr
    assert "zoe is not on the roster: left out of the file" in done.stderr
    assert "106" not in done.stderr  # a student who submitted nothing is not reported as a problem


def test_the_roster_of_the_grading_is_the_default(graded: Graded, tmp_path: Path) -> None:
    graded.export("canvas", graded.reports, "--out", tmp_path / "one.csv", "--roster", graded.roster)
    graded.export("canvas", graded.reports, "--out", tmp_path / "two.csv")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_a_class_with_another_roster(graded: Graded, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("username,name\nana,Ana\nben,Ben\n")
    out = tmp_path / "c.csv"
    done = graded.export(
        *("canvas", graded.reports, "--out", out, "--roster", tmp_path / "own.csv", "--id-column", "SIS User ID")
    )
    found = rows(out)
    check_canvas(found, 1)
    assert found[2:] == [["Ana", "", "ana", "", "", "10"], ["Ben", "", "ben", "", "", "9"]]
    assert done.returncode == 3


def test_without_a_roster_the_class_list_is_used(graded: Graded, tmp_path: Path) -> None:
    reports = Path(shutil.copytree(graded.reports, tmp_path / "reports"))
    (reports / "rules.json").unlink()
    done = graded.export("canvas", reports, "--out", tmp_path / "c.csv", "--json")
    found = rows(tmp_path / "c.csv")
    check_canvas(found, 1)
    assert next(row for row in found if row[3] == "zoe")[5] != ""  # not on the roster, but in the class
    made = json.loads(done.stdout)
    assert made["grades"] == 5
    assert len(made["problems"]) == 2


def test_assignments_get_their_canvas_names(graded: Graded, tmp_path: Path) -> None:
    name = "Tiny, the first (4711)"
    graded.export("canvas", graded.reports, "--out", tmp_path / "c.csv", "-a", f"tiny={name}")
    assert rows(tmp_path / "c.csv")[0][5] == name


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-a", "tiny=Final Score"], "does not read a column called"),
        (["-a", "tiny=Section"], "does not read a column called"),
        (["-a", "tiny"], "write it like"),
        (["-m", "nothing"], "there is no module"),
    ],
)
def test_usage_mistakes_write_nothing(graded: Graded, tmp_path: Path, arguments: list[str], words: str) -> None:
    done = graded.export("canvas", graded.reports, "--out", tmp_path / "c.csv", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert not (tmp_path / "c.csv").exists()


def test_two_grades_of_one_person_are_not_exported(graded: Graded, tmp_path: Path) -> None:
    reports = Path(shutil.copytree(graded.reports, tmp_path / "reports"))
    marks = json.loads((reports / "grades.json").read_text())
    twin = next(mark for mark in marks if mark["submission"] == "ana")
    (reports / "grades.json").write_text(json.dumps([*marks, twin | {"final": 1.0, "submission": "ana2"}]))
    done = graded.export("canvas", reports, "--out", tmp_path / "c.csv")
    assert "101 has several grades for 01_tiny" in done.stderr
    assert next(row for row in rows(tmp_path / "c.csv") if row[3] == "ana")[5] == ""


class TestFolders:
    """Only a finished grading is exported."""

    def test_an_unfinished_grading_is_refused(self, graded: Graded, tmp_path: Path) -> None:
        reports = Path(shutil.copytree(graded.reports, tmp_path / "reports"))
        (reports / "grades.json").unlink()
        done = graded.export("canvas", reports, "--out", tmp_path / "c.csv")
        assert (done.returncode, "--resume" in done.stderr) == (2, True)

    def test_a_folder_without_a_grading_is_refused(self, graded: Graded, tmp_path: Path) -> None:
        done = graded.export("canvas", tmp_path, "--out", tmp_path / "c.csv")
        assert (done.returncode, "there are no grades" in done.stderr) == (2, True)

    @pytest.mark.parametrize("what", ["missing", "cut short", "changed"])
    def test_a_changed_report_is_refused(self, graded: Graded, tmp_path: Path, what: str) -> None:
        reports = Path(shutil.copytree(graded.reports, tmp_path / "reports"))
        path = reports / "01_tiny" / "ana.json"
        text = path.read_text()
        if what == "missing":
            path.unlink()
        else:
            path.write_text(text[:500] if what == "cut short" else text.replace('"score": 10.0', '"score": 9.5'))
        done = graded.export("junit", reports, "--out", tmp_path / "j.xml")
        assert done.returncode == 2
        assert "--resume" in done.stderr
        assert not (tmp_path / "j.xml").exists()


def gradebook(graded: Graded, path: Path, **grades: str) -> Path:
    """Write the roster as Canvas's gradebook with an assignment, and these grades by login."""
    with graded.roster.open(newline="", encoding="utf-8") as file:
        header, *people = csv.reader(file)
    login = header.index("SIS Login ID")
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[*header, "Tiny (7)"], *([*row, grades.get(row[login], "")] for row in people)])
    return path


def test_who_has_no_score_keeps_the_grade_of_the_gradebook(graded: Graded, tmp_path: Path) -> None:
    """Canvas removes the grade of a student whose cell is empty: an excuse, or points from before."""
    roster = gradebook(graded, tmp_path / "gradebook.csv", ana="3", dee="EX", fay="7.5")
    graded.export("canvas", graded.reports, "--out", tmp_path / "c.csv", "--roster", roster, "-a", "tiny=Tiny (7)")
    found = {row[3]: row[5] for row in rows(tmp_path / "c.csv")[2:]}
    assert (found["ana"], found["dee"], found["eve"], found["fay"]) == ("10", "EX", "", "7.5")


def test_two_grades_of_one_person_are_not_written(graded: Graded, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("id,email,name\n1,ana@x,Ana\n2,ben@x,Ben\n")
    reports = Path(shutil.copytree(graded.reports, tmp_path / "reports"))
    marks = json.loads((reports / "grades.json").read_text())
    for mark in marks:
        if mark["submission"] in ("ana", "ben"):
            mark |= {"id": "1" if mark["submission"] == "ana" else "ana@x", "name": ""}
    (reports / "grades.json").write_text(json.dumps(marks))
    done = graded.export("canvas", reports, "--out", tmp_path / "c.csv", "--roster", tmp_path / "own.csv")
    assert "both have a grade for 01_tiny, and both are 1 in" in done.stderr
    assert not (tmp_path / "c.csv").exists()
    assert done.returncode == 2
