"""`attn grade` and `attn stats` for a class with a roster, due dates and several attempts."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.core.csv_table import read_csv
from tests.classroom.conftest import HALF, RIGHT, SQUARE, Grade
from tests.cli.conftest import EXECUTABLE
from tests.conftest import write

DUE = datetime(2026, 10, 1, 12, tzinfo=UTC)
HOUR = 3600
ENDS = "import os\n\ndef tiny(x):\n    os._exit(1)\n"


def set_time(path: Path, hours: float) -> None:
    """Set the time of a file to some hours after the due date."""
    when = DUE.timestamp() + hours * HOUR
    os.utime(path, (when, when))


def grades(out: Path) -> dict[str, dict[str, str]]:
    return {row["id"]: row for _, row in read_csv((out / "grades.csv").read_bytes())}


def test_late_work_loses_the_penalty_unless_extended(grade: Grade, tmp_path: Path) -> None:
    names = {"ana": -1.0, "ben": 1.0, "cy": 25.0, "dee": 25.0, "eve": 0.1}
    handed_in = write(tmp_path / "class", {f"{name}/tiny.py": RIGHT for name in names})
    for name, hours in names.items():
        set_time(handed_in / name / "tiny.py", hours)
    write(tmp_path, {"more.csv": "id,until\ndee,2026-10-03T00:00Z\n"})
    options = ["--due", "2026-10-01T12:00Z", "--late-penalty", "10%/day", "--grace", "10m"]
    out = tmp_path / "out"
    done = grade(handed_in, "--to", out, "--file-times", *options, "--extensions", tmp_path / "more.csv")
    finals = {name: row["final"] for name, row in grades(out).items()}
    assert finals == {"ana": "10", "ben": "9", "cy": "8", "dee": "10", "eve": "10"}
    assert "late by 1 d 1 h: 8 after the penalty" in done.stdout
    assert grades(out)["cy"]["late_s"] == "90000"
    assert grades(out)["cy"]["due"] == "2026-10-01T12:00:00+00:00"
    # A new due date does not need a new grading, but someone must want the new marks.
    before = (out / "grades.csv").read_bytes(), (out / "rules.json").read_bytes()
    asked = grade(handed_in, "--to", out, "--resume", "--due", "2026-10-05T12:00Z")
    assert asked.returncode == 2
    assert (
        "  ben 01_tiny: 9 → 10\n      due 2026-10-05T12:00:00+00:00, before: 2026-10-01T12:00:00+00:00" in asked.stderr
    )
    assert "2 marks would change, although the work did not:" in asked.stderr
    assert before == ((out / "grades.csv").read_bytes(), (out / "rules.json").read_bytes())
    again = grade(handed_in, "--to", out, "--resume", "--due", "2026-10-05", "--yes")
    assert "5 of 5 are in" in again.stderr
    assert {row["final"] for row in grades(out).values()} == {"10"}
    changed = "Final marks that changed only because of lateness:"
    assert f"{changed}\n  ben 01_tiny: 9 → 10\n  cy 01_tiny: 8 → 10\n" in again.stdout


@pytest.mark.exhaustive
def test_resume_keeps_the_rules_and_a_new_run_reports_dropped_ones(grade: Grade, tmp_path: Path) -> None:
    handed_in = write(tmp_path / "class", {"ana/tiny.py": RIGHT})
    set_time(handed_in / "ana" / "tiny.py", 1)
    write(tmp_path, {"roster.csv": "id,name\nana,Ana Silva\n"})
    out = tmp_path / "out"
    options = ["--due", "2026-10-01T12:00Z", "--late-penalty", "10%/day", "--roster", tmp_path / "roster.csv"]
    grade(handed_in, "--to", out, "--file-times", *options)
    resumed = grade(handed_in, "--to", out, "--resume")
    assert "as before: --roster" in resumed.stderr
    assert (grades(out)["ana"]["final"], grades(out)["ana"]["name"]) == ("9", "Ana Silva")
    again = grade(handed_in, "--to", out, "--yes")
    assert "had --roster, --due, --late-penalty, --file-times, this one does not" in again.stderr
    assert grades(out)["ana"]["final"] == "10"


def test_an_extension_for_an_unknown_student_is_reported(grade: Grade, tmp_path: Path) -> None:
    handed_in = write(tmp_path / "class", {"ana/tiny.py": RIGHT})
    write(tmp_path, {"more.csv": "id,until\nanna,2026-10-03\nana,2026-10-03\n"})
    done = grade(handed_in, "--due", "2026-10-01", "--extensions", tmp_path / "more.csv")
    assert "an extension or a time is for anna, but there is no such student" in done.stderr


@pytest.mark.exhaustive
def test_one_folder_collects_several_sections(grade: Grade, tmp_path: Path) -> None:
    """Two sections and a later roster give one class list, with one line for each student."""
    first = write(tmp_path / "a", {"ana/tiny.py": SQUARE})
    second = write(tmp_path / "b", {"ben/tiny.py": RIGHT})
    write(tmp_path, {"roster.csv": "id,name,email\n7,Ana,ana@x.edu\n8,Ben,ben@x.edu\n9,Cy,cy@x.edu\n"})
    out = tmp_path / "out"
    grade(first, "--to", out)
    grade(second, "--to", out, "--roster", tmp_path / "roster.csv")
    assert {name: row["status"] for name, row in grades(out).items()} == {"7": "graded", "8": "graded", "9": "missing"}
    assert [one["submissions"] for one in json.loads((out / "misconceptions.json").read_text())] == [["ana"]]
    renamed = write(tmp_path / "c", {"ben@x.edu/tiny.py": RIGHT})
    done = grade(renamed, "--to", out, "--roster", tmp_path / "roster.csv")
    assert "8 has 2 lines for 01_tiny in grades.csv" in done.stderr


def test_listed_times_override_file_times(grade: Grade, tmp_path: Path) -> None:
    handed_in = write(tmp_path / "submitted", {"ana/tiny.py": RIGHT, "ben/ps1/tiny.py": RIGHT, "cy/tiny.py": RIGHT})
    (handed_in / "ben" / "ps1" / "timestamp.txt").write_text("2026-10-01 13:00:00.000000 UTC\n")
    for name in ("ana/tiny.py", "ben/ps1/tiny.py", "cy/tiny.py"):
        set_time(handed_in / name, -10)
    write(tmp_path, {"times.csv": "id,submitted\nana,2026-10-01 14:00 UTC\n"})
    out = tmp_path / "out"
    done = grade(handed_in, "--to", out, "--due", "2026-10-01T12:00Z", "--times", tmp_path / "times.csv")
    assert {name: row["late_s"] for name, row in grades(out).items()} == {"ana": "7200", "ben": "3600", "cy": "0"}
    assert {name: row["time_known"] for name, row in grades(out).items()} == {"ana": "yes", "ben": "yes", "cy": "no"}
    assert "submission time unknown for 1 of 3: no late penalty" in done.stderr


def test_a_timestamp_file_outside_submitted_is_ignored(grade: Grade, tmp_path: Path) -> None:
    handed_in = write(tmp_path / "class", {"ana/ps/tiny.py": RIGHT, "ana/ps/timestamp.txt": "2026-09-01 00:00 UTC"})
    set_time(handed_in / "ana" / "ps" / "tiny.py", 1)
    grade(handed_in, "--to", tmp_path / "out", "--due", "2026-10-01T12:00Z", "--file-times")
    assert grades(tmp_path / "out")["ana"]["late_s"] == "3600"


@pytest.mark.parametrize(
    ("policy", "expected"),
    # HALF is worth 9 of 10 and was in time. RIGHT was two days late. SQUARE, which is wrong, came last.
    [("latest", ("third.zip", "")), ("best", ("second.zip", "9.2")), ("best, high penalty", ("first.zip", "9"))],
)
def test_the_policy_decides_which_attempt_counts(
    grade: Grade, tmp_path: Path, policy: str, expected: tuple[str, str]
) -> None:
    folder = tmp_path / "class" / "ana"
    folder.mkdir(parents=True)
    for hours, (name, text) in zip(
        (-5, 47, 71), {"first": HALF, "second": RIGHT, "third": SQUARE}.items(), strict=True
    ):
        with zipfile.ZipFile(folder / f"{name}.zip", "w") as file:
            file.writestr("tiny.py", text)
        set_time(folder / f"{name}.zip", hours)
    out = tmp_path / "out"
    penalty = "20%/day" if "high" in policy else "4%/day"
    options = ["--due", "2026-10-01T12:00Z", "--late-penalty", penalty, "--policy", policy.partition(",")[0]]
    options.append("--file-times")
    done = grade(tmp_path / "class", "--to", out, *options)
    (row,) = grades(out).values()
    if policy == "latest":
        assert (row["attempts"], row["attempt"]) == ("3", "")
        assert f"not counted {folder / 'first.zip/tiny.py'}" in done.stderr
        report = json.loads((out / "01_tiny" / "ana.json").read_text())
        assert report["score"] < 9.0  # the wrong one
        return
    assert (row["attempt"], row["final"], row["attempts"]) == (*expected, "3")
    assert len(list((out / "attempts" / "01_tiny" / "ana").glob("*.json"))) == 3
    report = json.loads((out / "01_tiny" / "ana.json").read_text())
    assert report["score"] == float(row["score"])
    assert "1 submission: " in done.stdout
    again = grade(tmp_path / "class", "--to", out, "--resume", *options)
    assert "3 of 3 are in" in again.stderr
    assert again.stdout == done.stdout


def test_each_folder_of_a_student_is_an_attempt(grade: Grade, tmp_path: Path) -> None:
    files = {"ana/try1/tiny.py": RIGHT, "ana/try2/tiny.py": SQUARE}
    handed_in = write(tmp_path / "class", files)
    for hours, name in enumerate(files):
        set_time(handed_in / name, hours)
    out = tmp_path / "out"
    grade(handed_in, "--to", out, "--policy", "best")
    assert (grades(out)["ana"]["attempt"], grades(out)["ana"]["final"]) == ("try1", "10")


@pytest.mark.exhaustive
def test_a_file_directly_in_the_student_folder_is_an_attempt(grade: Grade, tmp_path: Path) -> None:
    files = {"ana/tiny.py": HALF, "ana/try2/tiny.py": RIGHT, "ben/tiny.py": RIGHT}
    handed_in = write(tmp_path / "class", files)
    strange = os.fsencode(handed_in / "ben") + b"/\xff\xfe"
    os.mkdir(strange)  # noqa: PTH102 - a name no Path is made of
    with open(strange + b"/tiny.py", "w") as file:  # noqa: PTH123
        file.write(RIGHT)
    out = tmp_path / "out"
    first = grade(handed_in, "--to", out, "--policy", "best")
    assert "Changed since" not in first.stdout
    assert first.returncode == 0, first.stderr
    assert len(list((out / "attempts" / "01_tiny" / "ana").iterdir())) == 2
    again = grade(handed_in, "--to", out, "--policy", "best", "--resume")
    assert "4 of 4 are in" in again.stderr


def test_script_and_notebook_are_one_attempt(grade: Grade, tmp_path: Path) -> None:
    handed_in = write(tmp_path / "class", {"ben/tiny.py": RIGHT, "ben/tiny.ipynb": "{}"})
    set_time(handed_in / "ben" / "tiny.ipynb", -9)
    out = tmp_path / "out"
    grade(handed_in, "--to", out, "--policy", "best")
    assert grades(out)["ben"]["attempts"] == "1"


def test_the_roster_adds_names_and_missing_students(grade: Grade, tmp_path: Path) -> None:
    handed_in = write(tmp_path / "class", {"ana/tiny.py": RIGHT, "ben@uni.edu/tiny.py": RIGHT, "who/tiny.py": RIGHT})
    roster = 'id,name,section,email\nana,"=HYPERLINK(""x""), Ana",A,\n7,"Ben\nB. ""王"" Ü",B,ben@uni.edu\n9,Cy,B,\n'
    write(tmp_path, {"roster.csv": roster})
    out = tmp_path / "out"
    done = grade(handed_in, "--to", out, "--roster", tmp_path / "roster.csv")
    assert "who is not on the roster; graded anyway" in done.stderr
    assert "01_tiny: nothing from Cy" in done.stdout
    rows = grades(out)
    assert rows["ana"]["name"] == '=HYPERLINK("x"), Ana'
    assert rows["7"]["name"] == 'Ben\\nB. "王" Ü'
    assert (rows["7"]["section"], rows["7"]["submission"], rows["7"]["final"]) == ("B", "ben@uni.edu", "10")
    assert (rows["9"]["status"], rows["9"]["score"], rows["9"]["final"]) == ("missing", "", "")
    assert rows["who"]["name"] == ""
    with (out / "grades.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.reader(file):
            assert len(row) == 22
            assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row)
    assert json.loads((out / "grades.json").read_text())[0]["name"] == 'Ben\nB. "王" Ü'


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--resume"], "name it with --to"),
        (["--late-penalty", "10%/day"], "add --due"),
        (["--due", "soon"], "is not a date"),
        (["--due", "softmax=2026-10-01"], "there is no module 'softmax'"),
        (["--due", "2026-10-01", "--late-penalty", "10"], "is not a late penalty"),
        (["--roster", "bad.csv"], "line 2: there is no id"),
        (["--due", "2026-10-01", "--extensions", "bad.csv"], "needs the columns id and until"),
        (["-j", "0"], "0 is not in the range"),
    ],
)
def test_wrong_options_are_reported_before_grading(
    grade: Grade, tiny: Path, tmp_path: Path, options: list[str], words: str
) -> None:
    write(tiny, {"bad.csv": "name\nAna\n"})
    done = grade(write(tmp_path / "class", {"ana/tiny.py": RIGHT}), *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""


@pytest.mark.exhaustive
def test_the_number_of_processes_does_not_change_reports(grade: Grade, tmp_path: Path) -> None:
    handed_in = write(tmp_path / "class", {f"s{i}/tiny.py": (RIGHT, SQUARE, HALF)[i % 3] for i in range(9)})
    texts = set()
    for jobs in (1, 4):
        found = json.loads(grade(handed_in, "--json", "-j", jobs).stdout)
        texts.add(json.dumps([report | {"timing": None} for report in found]))
        assert [report["submission"] for report in found] == [f"s{i}" for i in range(9)]
    assert len(texts) == 1


class TestStats:
    """`attn stats`."""

    def stats(self, tiny: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
        command = [EXECUTABLE, "stats", *map(str, arguments)]
        return subprocess.run(command, cwd=tiny, capture_output=True, text=True, check=False)

    def test_statistics_of_a_class(self, grade: Grade, tiny: Path, tmp_path: Path) -> None:
        files = {"ana": RIGHT, "ben": SQUARE, "cy": SQUARE, "dee": "def tiny(:\n", "eve": ENDS}
        handed_in = write(tmp_path / "class", {f"{name}/tiny.py": text for name, text in files.items()})
        write(tmp_path, {"roster.csv": "id,name\nben,Ben Béla\n"})
        grade(handed_in, "--to", tmp_path / "out", "--roster", tmp_path / "roster.csv")
        (one,) = json.loads(self.stats(tiny, tmp_path / "out", "--json").stdout)
        assert (one["submissions"], one["scored"], one["full_marks"]) == (5, 5, 1)
        assert sum(one["distribution"]) == 5
        assert one["distribution"][-1] == 1
        rates = {check["name"]: (check["failed"], check["of"]) for check in one["checks"]}
        assert rates["tiny_agrees_with_the_oracle"] == (3, 4)  # dee's file cannot be imported
        assert one["checks"][0]["rate"] >= one["checks"][-1]["rate"]
        assert [(two["misconception"], two["submissions"]) for two in one["misconceptions"]] == [
            ("squares", ["ben", "cy"])
        ]
        assert [two["submission"] for two in one["to_look_at"]] == ["dee", "eve"]
        screen = self.stats(tiny, tmp_path / "out").stdout
        assert "2 × 01_tiny squares: ben (Ben Béla), cy" in screen
        assert " 75%     3  it agrees with an independent formula on random arrays" in screen
        assert "1 with full marks" in screen
        assert all(len(line) <= 80 for line in screen.splitlines())

    def test_a_folder_without_reports_or_with_a_broken_one_is_refused(
        self, grade: Grade, tiny: Path, tmp_path: Path
    ) -> None:
        out = tmp_path / "out"
        out.mkdir()
        empty = self.stats(tiny, out)
        assert (empty.returncode, "there are no reports" in empty.stderr) == (2, True)
        grade(write(tmp_path / "class", {"ana/tiny.py": RIGHT}), "--to", out)
        path = out / "01_tiny" / "ana.json"
        path.write_bytes(path.read_bytes()[:100])
        broken = self.stats(tiny, out)
        assert (broken.returncode, "is not a complete report" in broken.stderr) == (2, True)


@pytest.mark.exhaustive
def test_zip_of_a_class_is_graded_for_the_students_on_the_roster(grade: Grade, tmp_path: Path) -> None:
    write(tmp_path, {"roster.csv": "Student,ID,SIS Login ID\nAna Silva,101,ana\nBen Okafor,102,ben\n"})
    files = {"silvaana_101_5551_tiny.py": RIGHT, "okaforben_LATE_102_5560_tiny-1.py": SQUARE}
    for name, options in (("submissions.zip", []), ("hw.zip", ["--class-zip"])):
        with zipfile.ZipFile(tmp_path / name, "w") as file:
            for member, text in files.items():
                file.writestr(member, text)
        out = tmp_path / f"out of {name}"
        done = grade(tmp_path / name, *options, "--to", out, "--roster", tmp_path / "roster.csv")
        assert done.returncode == 1, done.stderr
        assert ("read as a class of 2 that Canvas exported" in done.stderr) == (not options)
        rows = grades(out)
        assert {who: (row["name"], row["score"] == "10") for who, row in rows.items()} == {
            "101": ("Ana Silva", True),
            "102": ("Ben Okafor", False),
        }
