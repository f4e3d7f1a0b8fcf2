"""The Moodle worksheet and the zip of feedback files, read by the rules of Moodle's own importers."""

from __future__ import annotations

import csv
import io
import json
import shutil
import zipfile
from pathlib import Path

import pytest

from grader.classroom.class_list import read_class
from grader.classroom.store.files import FileStore
from grader.platforms.feedback_text import feedback_text
from grader.platforms.moodle import COLUMNS, read_worksheet
from tests.conftest import write
from tests.platforms.conftest import Graded

# As Moodle's grading table writes it: mod/assign/gradingtable.php.
HEADER = [
    *("Identifier", "Full name", "ID number", "Email address", "Status", "Grade", "Maximum Grade"),
    *("Grade can be changed", "Last modified (submission)", "Last modified (grade)", "Feedback comments"),
]
PEOPLE = {  # participant: name, id number, email, the grade that Moodle has
    "501": ("Ana Åström_Ünal", "101", "ana@uni.edu", ""),
    "502": ("O'Ben", "102", "ben@uni.edu", ""),
    "503": ("Cy", "", "cy@uni.edu", ""),
    "504": ("Dee", "", "dee@uni.edu", "3.00"),
    "505": ("Eve", "105", "", ""),
    "506": ("Fay", "106", "", ""),
    "508": ("Hal", "999", "hal@uni.edu", ""),
}


def worksheet(delimiter: str = ",", maximum: str = "10.00") -> str:
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter)
    writer.writerow(HEADER)
    for number, (name, id_number, email, grade) in PEOPLE.items():
        row = [f"Participant {number}", name, id_number, email, "Submitted for grading", grade, maximum]
        writer.writerow([*row, "Yes", "Tuesday, 29 September 2026, 10:15 AM", "-", ""])
    return file.getvalue()


def uploaded(text: str) -> dict[str, tuple[str, str]]:
    """Read a worksheet as Moodle's importer does: it needs three columns, by their names."""
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {"Identifier", "Grade", "Last modified (grade)"} <= rows[0].keys()
    found = {}
    for row in rows:
        number = row["Identifier"][len("Participant ") :]
        assert number in PEOPLE
        if row["Grade"]:
            assert 0 <= float(row["Grade"]) <= float(row["Maximum Grade"])  # Moodle skips any other
        found[number] = (row["Grade"], row["Feedback comments"])
    return found


def returned(data: bytes, end: str = ".txt") -> dict[str, tuple[str, str]]:
    """Read a zip as Moodle's importer does: it splits the name of a folder at underscores."""
    found = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in (name for name in archive.namelist() if name.endswith(end)):
            parts = name.split("/")[0].split("_", 4)
            assert len(parts) >= 4
            assert parts[1] in PEOPLE
            assert parts[2:4] == ["assignsubmission", "file"]
            found[parts[1]] = ("/".join([parts[4], *name.split("/")[1:]]), archive.read(name).decode())
    return found


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    write(tmp_path, {"Grades.csv": worksheet()})
    return tmp_path / "Grades.csv"


def test_the_worksheet_gets_the_final_marks(graded: Graded, sheet: Path, tmp_path: Path) -> None:
    out = tmp_path / "moodle.csv"
    zipped = tmp_path / "feedback.zip"
    done = graded.export("moodle", graded.reports, "--worksheet", sheet, "--out", out, "--feedback", zipped)
    assert done.returncode == 3, done.stderr
    found = uploaded(out.read_text())
    assert {number: grade for number, (grade, _) in found.items()} == {
        "501": "10",
        "502": "9",  # a day late
        "503": "0",
        "504": "3.00",  # not graded: what Moodle has stays
        "505": "",
        "506": "",
        "508": "",
    }
    assert found["502"][1] == "9 of 10 points; late by 1 d, penalty: 1."
    assert found["505"][1] == ""
    said = " ".join(done.stderr.split())
    assert "104 has no mark, but the grade 3.00 in Moodle: it stays" in said
    assert said.count("has no mark") == 1  # nothing stays where Moodle has nothing
    assert "107 is not in the worksheet: left out" in said  # gil
    assert "zoe is not in the worksheet: left out" in said
    assert "3 grades, 5 feedback files" in done.stdout
    # Nothing else in the worksheet changed.
    before, after = (list(csv.reader(io.StringIO(text))) for text in (sheet.read_text(), out.read_text()))
    places = [HEADER.index("Grade"), HEADER.index("Feedback comments")]
    for old, new in zip(before, after, strict=True):
        assert [cell for at, cell in enumerate(old) if at not in places] == [
            cell for at, cell in enumerate(new) if at not in places
        ]


def test_feedback_files_have_what_a_student_may_read_and_nothing_else(
    graded: Graded, sheet: Path, tmp_path: Path
) -> None:
    zipped = tmp_path / "feedback.zip"
    graded.export(*("moodle", graded.reports, "--worksheet", sheet, "--out", tmp_path / "m.csv", "--feedback", zipped))
    files = returned(zipped.read_bytes())
    assert set(files) == {"501", "502", "503", "504", "505"}
    assert files["501"][0] == "/01_tiny-feedback.txt"
    assert files["501"][1].startswith("01_tiny\n10 of 10 points.\n\ntiny\n\n10 of 10 points.")
    assert "could not be loaded" in files["503"][1]
    assert "This was not graded" in files["504"][1]
    pages = returned(zipped.read_bytes(), ".html")
    assert set(pages) == set(files)
    assert pages["501"][0] == "/01_tiny-feedback.html"
    assert "10 of 10 points" in pages["501"][1]
    assert "not graded yet" in pages["504"][1]
    again = tmp_path / "again.zip"
    graded.export("moodle", graded.reports, "--worksheet", sheet, "--out", tmp_path / "m.csv", "--feedback", again)
    assert again.read_bytes() == zipped.read_bytes()


def test_feedback_has_no_hidden_text(graded: Graded) -> None:
    (pair,) = (pair for pair in read_class(FileStore(graded.reports)).reports() if pair[0].submission == "zoe")
    text = feedback_text(*pair, "Attention")
    failed = [check for check in pair[1].checks if check.suite == "hidden" and check.outcome == "failed"]
    assert failed
    assert text.startswith("Attention: 01_tiny\n")
    for check in failed:
        assert check.message.splitlines()[0] in text
        assert check.detail not in text
        assert check.name not in text


@pytest.fixture
def by_hand(graded: Graded, tmp_path: Path) -> Path:
    """A copy of the reports with points and comments by hand."""
    reports = Path(shutil.copytree(graded.reports, tmp_path / "reports"))
    lines = "student,module,points,comment,extra\nben,1,7.5,a < b,\nana,1,12,bonus,yes\nfay,1,,=hello,\nzoe,1,4,left,\n"
    lines += "eve,1,5,by eye,\n"
    write(reports, {"overrides.csv": lines.replace("fay", "106")})
    return reports


def test_points_and_comments_by_hand_are_handed_back(
    graded: Graded, by_hand: Path, sheet: Path, tmp_path: Path
) -> None:
    out = tmp_path / "moodle.csv"
    done = graded.export("moodle", by_hand, "--worksheet", sheet, "--out", out)
    found = uploaded(out.read_text())
    assert found["502"] == ("7.5", "7.5 of 10 points; given by hand, automatic mark: 9. a &lt; b")
    assert found["505"] == ("5", "5 of 10 points; given by hand, automatic mark: none. by eye")
    assert found["501"][0] == ""
    assert "101 has 12 points, more than Moodle's maximum of 10: enter them in Moodle" in done.stderr
    write(tmp_path, {"second.csv": out.read_text().replace("by eye", "other words")})
    graded.export("moodle", by_hand, "--worksheet", tmp_path / "second.csv", "--out", out)
    assert uploaded(out.read_text())["505"][1].endswith("by eye")  # ours is replaced
    write(tmp_path, {"third.csv": worksheet().replace('"-",', "").replace('AM",-,', 'AM",-,mine')})
    kept = graded.export("moodle", by_hand, "--worksheet", tmp_path / "third.csv", "--out", out)
    assert uploaded(out.read_text())["505"] == ("5", "mine")
    assert "105 has feedback in Moodle already: it stays" in kept.stderr


def test_another_maximum_must_be_scaled(graded: Graded, tmp_path: Path) -> None:
    write(tmp_path, {"Grades.csv": worksheet(maximum="100.00")})
    arguments = ("moodle", graded.reports, "--worksheet", tmp_path / "Grades.csv", "--out", tmp_path / "m.csv")
    done = graded.export(*arguments)
    assert done.returncode == 2
    assert "is 100, but 01_tiny has 10 points" in " ".join(done.stderr.split())
    assert not (tmp_path / "m.csv").exists()
    graded.export(*arguments, "--scale")
    assert uploaded((tmp_path / "m.csv").read_text())["502"][0] == "90"


def test_a_worksheet_in_another_language_and_format(graded: Graded, tmp_path: Path) -> None:
    text = worksheet(";", "10,00").replace("Participant ", "Teilnehmer/in").replace("Identifier;", "ID;")
    text = text.replace(";Grade;Maximum Grade;", ";Bewertung;Bestwertung;")
    (tmp_path / "g.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    arguments = ("moodle", graded.reports, "--worksheet", tmp_path / "g.csv", "--out", tmp_path / "m.csv")
    done = graded.export(*arguments)
    assert done.returncode == 2
    assert "has no column 'Identifier', only ID, Full name" in " ".join(done.stderr.split())
    columns = [
        word for pair in ("identifier=ID", "grade=Bewertung", "maximum=Bestwertung") for word in ("--column", pair)
    ]
    assert graded.export(*arguments, *columns).returncode == 3
    data = (tmp_path / "m.csv").read_bytes()
    assert data.startswith(b"\xef\xbb\xbfID;Full name;")
    assert "Teilnehmer/in502;O'Ben;102;ben@uni.edu;Submitted for grading;9;10,00;" in data.decode()


def test_the_number_in_an_exported_name_wins(graded: Graded, tmp_path: Path) -> None:
    """A submission that Moodle exported has the number of its participant, so that no name is needed."""
    reports = Path(shutil.copytree(graded.reports, tmp_path / "reports"))
    marks = json.loads((reports / "grades.json").read_text())
    (mine,) = (mark for mark in marks if mark["submission"] == "zoe")
    (reports / "01_tiny" / "zoe.json").rename(reports / "01_tiny" / "Fay %28Moodle 508%29.json")
    mine |= {"submission": "Fay (Moodle 508)", "name": "Fay", "id": "x"}
    (reports / "grades.json").write_text(json.dumps(marks))
    write(tmp_path, {"Grades.csv": worksheet()})
    out = tmp_path / "m.csv"
    done = graded.export("moodle", reports, "--worksheet", tmp_path / "Grades.csv", "--out", out)
    found = uploaded(out.read_text())
    assert (found["508"][0], found["506"][0]) == (f"{mine['final']:g}", ""), done.stderr


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("Participant 502", "Participant 501", "has two lines for participant 501"),
        ("Participant 502", "O'Ben", "has the identifier"),
        (",10.00,", ",Good,", "The assignment must be graded with points, not with a scale"),
        ("Identifier", '"Identifier', "is not a grading worksheet"),
        (worksheet(), "", "is not a grading worksheet"),
    ],
)
def test_a_worksheet_that_moodle_did_not_write_is_refused(
    graded: Graded, tmp_path: Path, old: str, new: str, words: str
) -> None:
    assert old in worksheet()
    write(tmp_path, {"Grades.csv": worksheet().replace(old, new)})
    done = graded.export(
        *("moodle", graded.reports, "--worksheet", tmp_path / "Grades.csv", "--out", tmp_path / "m.csv")
    )
    assert done.returncode == 2
    assert words in " ".join(done.stderr.split())
    assert not (tmp_path / "m.csv").exists()


def test_a_locked_grade_stays(graded: Graded, tmp_path: Path) -> None:
    write(tmp_path, {"Grades.csv": worksheet().replace("Yes", "No")})
    done = graded.export(
        *("moodle", graded.reports, "--worksheet", tmp_path / "Grades.csv", "--out", tmp_path / "m.csv")
    )
    assert {grade for grade, _ in uploaded((tmp_path / "m.csv").read_text()).values()} == {"", "3.00"}
    assert "101 has a locked grade in Moodle: left as it is" in done.stderr


def test_every_column_that_we_read_is_one_of_moodles(sheet: Path) -> None:
    assert set(COLUMNS.values()) - {"Username"} <= set(HEADER)
    assert read_worksheet(sheet, {}).at.keys() == COLUMNS.keys() - {"username"}


def test_comments_for_canvas_are_a_table_of_their_own(graded: Graded, by_hand: Path, tmp_path: Path) -> None:
    out, table = tmp_path / "c.csv", tmp_path / "comments.csv"
    plain = graded.export("canvas", by_hand, "--out", out)
    assert "Canvas imports no comments. Add --feedback ZIP, --comments FILE or --notes" in plain.stderr
    assert out.read_text().splitlines()[0] == '"Student","ID","SIS User ID","SIS Login ID","Section","01_tiny"'
    graded.export("canvas", by_hand, "--out", out, "--comments", table, "--notes")
    with table.open(newline="", encoding="utf-8") as file:
        rows = {row["SIS Login ID"]: row for row in csv.DictReader(file)}
    assert (rows["ben"]["Grade"], rows["ben"]["Automatic"], rows["ben"]["Comment"]) == ("7.5", "9", "a < b")
    assert rows["fay"]["Comment"] == "'=hello"
    with out.open(newline="", encoding="utf-8") as file:
        header, points, *students = csv.reader(file)
    assert header[4:] == ["Section", "Notes", "01_tiny"]
    assert points[5:] == ["", "10"]
    assert {row[3]: row[5:] for row in students}["ben"] == ["01_tiny: a < b", "7.5"]
