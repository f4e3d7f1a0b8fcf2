"""The Canvas import file: columns, the row of points, and no 0 for students who were not graded."""

from __future__ import annotations

import csv
import json
import shutil
import zipfile
from pathlib import Path

import pytest

from tests.conftest import write
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


def _with_assignment(graded: Graded, path: Path, name: str, points: str, posting: str = "") -> Path:
    """Write the roster as a gradebook with one assignment, and a row about how grades are posted."""
    with graded.roster.open(newline="", encoding="utf-8") as file:
        header, possible, *people = csv.reader(file)
    more = [["", "", "", "", "", posting]] if posting else []
    found = [[*header, name], *more, [*possible, points], *([*row, ""] for row in people)]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(found)
    return path


class TestGradebook:
    """The assignments of Canvas's gradebook: their names and points."""

    def test_other_points_are_refused_or_scaled(self, graded: Graded, tmp_path: Path) -> None:
        roster = _with_assignment(graded, tmp_path / "g.csv", "Tiny (7)", "1.000,00")
        command = ("canvas", graded.reports, "--out", tmp_path / "c.csv", "--roster", roster, "-a", "tiny=Tiny (7)")
        done = graded.export(*command)
        assert done.returncode == 2
        assert "Tiny (7) has 1000 points in" in done.stderr
        assert "but 01_tiny has 10" in done.stderr
        assert "add --scale" in done.stderr
        assert not (tmp_path / "c.csv").exists()
        graded.export(*command, "--scale")
        found = rows(tmp_path / "c.csv")
        assert found[1][5] == "1000"
        scaled = {"ana": "1000", "ben": "900", "cy": "0", "gil": "1000"}
        assert {row[3]: row[5] for row in found[2:]} == scaled | dict.fromkeys(("dee", "eve", "fay"), "")

    @pytest.mark.parametrize("name", ["tiny", "TINY (7)", "Another title (7)"])
    def test_an_assignment_is_found_by_number_or_title(self, graded: Graded, tmp_path: Path, name: str) -> None:
        roster = _with_assignment(graded, tmp_path / "g.csv", "Tiny (7)", "10")
        command = ("canvas", graded.reports, "--out", tmp_path / "c.csv", "--roster", roster, "-a", f"tiny={name}")
        graded.export(*command)
        assert rows(tmp_path / "c.csv")[0][5] == "Tiny (7)"

    @pytest.mark.parametrize("wanted", [[], ["-a", "tiny=Tyni (8)"]])
    def test_a_renamed_assignment_is_refused_with_the_nearest(
        self, graded: Graded, tmp_path: Path, wanted: list[str]
    ) -> None:
        roster = _with_assignment(graded, tmp_path / "g.csv", "Tiny (7)", "10")
        command = ("canvas", graded.reports, "--out", tmp_path / "c.csv", "--roster", roster, *wanted)
        done = graded.export(*command)
        assert done.returncode == 2
        assert 'Did you mean -a tiny="Tiny (7)"?' in done.stderr
        assert not (tmp_path / "c.csv").exists()
        made = graded.export(*command, "--create")
        assert "Canvas asks whether to make a new assignment" in made.stderr
        assert rows(tmp_path / "c.csv")[0][5] == (wanted[-1].partition("=")[2] if wanted else "01_tiny")

    def test_manual_posting_is_said_and_is_no_student(self, graded: Graded, tmp_path: Path) -> None:
        roster = _with_assignment(graded, tmp_path / "g.csv", "Tiny (7)", "10", "Manual Posting")
        command = ("canvas", graded.reports, "--out", tmp_path / "c.csv", "--roster", roster, "-a", "tiny=Tiny")
        assert "Tiny (7) is posted by hand" in graded.export(*command).stderr
        check_canvas(rows(tmp_path / "c.csv"), 1)
        assert len(rows(tmp_path / "c.csv")) == 9

    def test_an_assignment_that_canvas_does_not_read_is_refused(self, graded: Graded, tmp_path: Path) -> None:
        roster = _with_assignment(graded, tmp_path / "g.csv", "Tiny (7)", "10 (read only)")
        command = ("canvas", graded.reports, "--out", tmp_path / "c.csv", "--roster", roster, "-a", "tiny=Tiny")
        done = graded.export(*command)
        assert done.returncode == 2
        assert "read only" in done.stderr


def whose_feedback(names: list[str], attachments: dict[str, str]) -> dict[str, str]:
    """Return whose submission Canvas adds each file to, by its rules; `attachments` has the student by attachment.

    From `abstract_assignment.rb` in Canvas's repository: the first two numbers between underscores, or the two parts
    after `anon`, are the student and a file that this student handed in.
    """
    found: dict[str, str] = {}
    for name in names:
        parts = [part for part in name.split("_") if part != "LATE"]
        numbers = parts[1:3] if parts[0] == "anon" else [part for part in parts if part.isdecimal()][:2]
        assert not parts[-1].startswith("link"), name
        assert not name.startswith("._"), name
        assert "/" not in name, name
        assert attachments[numbers[1]] == numbers[0], name
        assert numbers[0] not in found.values(), name
        found[name] = numbers[0]
    return found


class TestFeedback:
    """Feedback for Canvas's *Upload Submissions*."""

    DOWNLOADS = (
        {"åströmana_101_51_tiny.py": "101", "oben_LATE_102_52_tiny-1.py": "102", "gil_107_53_tiny.ipynb": "107"},
        {"åströmana_101_51_notes.py": "101", "åströmana_101_54_tiny.py": "101", "cy_103_55_hw_1_2.py": "103"},
        {"LATE_anon_x7Q_56_tiny.py": "x7Q", "åströmana_101_51_tiny.py": "101"},
    )

    @pytest.mark.parametrize("download", DOWNLOADS)
    @pytest.mark.parametrize("packed", [True, False])
    def test_canvas_knows_whose_each_file_is(
        self, graded: Graded, tmp_path: Path, download: dict[str, str], packed: bool
    ) -> None:
        submissions = write(tmp_path / "submissions", dict.fromkeys(download, "x"))
        if packed:
            submissions = Path(shutil.make_archive(str(submissions), "zip", submissions))
        done = graded.export(
            *("canvas", graded.reports, "--out", tmp_path / "c.csv", "--roster", graded.roster),
            *("--feedback", tmp_path / "f.zip", "--submissions", submissions),
        )
        with zipfile.ZipFile(tmp_path / "f.zip") as made:
            attachments = {name.split("_")[name.split("_").index(who) + 1]: who for name, who in download.items()}
            found = whose_feedback(made.namelist(), attachments)
            assert set(found.values()) == set(download.values()) - {"x7Q"}
            ana = next(name for name, who in found.items() if who == "101")
            assert ("_54_" in ana) == ("åströmana_101_54_tiny.py" in download)  # the file that was graded
            assert "10 of 10 points" in made.read(ana).decode()
        assert f"105: there is no file of 105 in {submissions}: no feedback file" in done.stderr

    def test_text_that_was_typed_gets_none(self, graded: Graded, tmp_path: Path) -> None:
        write(tmp_path / "s", {"åströmana_101_text.html": "x", "oben_102_52_tiny.py": "x"})
        done = graded.export(
            *("canvas", graded.reports, "--out", tmp_path / "c.csv", "--roster", graded.roster),
            *("--feedback", tmp_path / "f.zip", "--submissions", tmp_path / "s"),
        )
        assert "101: handed in only text or a link, to which Canvas adds no file: no feedback file" in done.stderr
        assert done.returncode == 3

    @pytest.mark.parametrize("name", ["tiny.py", "ana/tiny.py"])
    def test_what_is_no_download_is_refused(self, graded: Graded, tmp_path: Path, name: str) -> None:
        write(tmp_path / "s", {name: "x"})
        command = ("canvas", graded.reports, "--out", tmp_path / "c.csv", "--feedback", tmp_path / "f.zip")
        done = graded.export(*command, "--submissions", tmp_path / "s")
        assert (done.returncode, "has no file with a name that Canvas gave it" in done.stderr) == (2, True)
        assert graded.export(*command).returncode == 2
        assert not (tmp_path / "c.csv").exists()
