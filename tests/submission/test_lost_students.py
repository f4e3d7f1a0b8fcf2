"""Exports and rosters in which a student could get lost, or get another student's work: everybody is in a line."""

from __future__ import annotations

import os
import shutil
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.classroom.accounting import Accounting, account
from grader.classroom.lateness import Deadlines
from grader.classroom.marks import Marking
from grader.classroom.roster import Person, Roster, RosterError, read_roster
from grader.course.course import Course
from grader.submission.finder import find_submissions
from grader.submission.found import FoundSubmissions
from grader.submission.identity import Identity
from grader.submission.name_map import MapError, read_map
from tests.conftest import write
from tests.submission.example_exports import METADATA, RIGHT

ANA, BEN = Person("101", "Ana Silva", canvas="201", moodle="301"), Person("102", "Ben Okafor", canvas="202")
ROSTER = Roster((ANA, BEN))
WHEN = "2026-10-01-12-00-00"


def found_in(course: Course, folder: Path, roster: Roster = ROSTER) -> tuple[FoundSubmissions, Accounting]:
    def resolve(who: Identity) -> str | None:
        person = roster.find(who)
        return person.id if person else None

    found = find_submissions(course, [folder], scratch=folder.with_name("scratch"), resolve=resolve)
    return found, account(found, Marking(roster=roster), ["01_softmax"])


def fates(accounting: Accounting) -> dict[str, str]:
    return {line.id: line.fate for line in accounting.people}


@pytest.mark.parametrize(
    "files",
    [
        {"silvaana_201_5551_softmax.py": RIGHT, "okaforben_202_5552_softmax.py.txt": RIGHT},
        {"silvaana_201_5551_softmax.py": RIGHT, "okaforben_202_5552_softmax.ipynb.json": "{}"},
        {"silvaana_201_5551_softmax.py": RIGHT, "okaforben_202_5552_scan.pdf": "%PDF"},
        {f"Week 1_101_attempt_{WHEN}_softmax.py": RIGHT, f"Week 1_102_attempt_{WHEN}_softmax.py.txt": RIGHT},
        {f"Week 1_101_attempt_{WHEN}_softmax.py": RIGHT, f"Week 1_102_attempt_{WHEN}.txt": "typed in"},
    ],
)
def test_work_with_another_suffix_is_skipped_not_ignored(course: Course, tmp_path: Path, files: dict[str, str]) -> None:
    found, accounting = found_in(course, write(tmp_path / "class", files))
    assert [path for path, _ in found.refused] == [str(tmp_path / "class" / list(files)[1])]
    assert fates(accounting) == {"101": "graded", "102": "skipped"}
    assert accounting.has_skipped


def test_other_files_beside_work_are_no_problem(course: Course, tmp_path: Path) -> None:
    files = {"silvaana_201_5551_softmax.py": RIGHT, "silvaana_201_5552_notes.pdf": "%PDF"}
    files |= {f"Week 1_102_attempt_{WHEN}_softmax.py": RIGHT, f"Week 1_102_attempt_{WHEN}.txt": "a note"}
    found, accounting = found_in(course, write(tmp_path / "class", files))
    assert found.refused == ()
    assert fates(accounting) == {"101": "graded", "102": "graded"}


@pytest.mark.parametrize("wrapped", [False, True])
def test_gradescopes_list_and_its_folders_are_compared(course: Course, tmp_path: Path, wrapped: bool) -> None:
    inside = "assignment_77_export/" if wrapped else ""
    files = {"submission_metadata.yml": METADATA, "submission_1001/softmax.py": RIGHT}
    path = tmp_path / "assignment_77_export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(inside + name, text)
    found, accounting = found_in(course, path)
    assert "is in the list of Gradescope, but has no files" in {reason for _, reason in found.refused}
    assert fates(accounting) == {"101": "graded", "102": "skipped"}


def test_user_names_of_blackboard_may_have_an_underscore(course: Course, tmp_path: Path) -> None:
    files = {f"Week_1_{user}_attempt_{WHEN}_softmax.py": RIGHT for user in ("ana_silva", "ben_silva", "cy")}
    found, _ = found_in(course, write(tmp_path / "class", files))
    assert sorted(one.student for one in found.handed_in) == ["ana_silva", "ben_silva", "cy"]


@pytest.mark.parametrize(
    "names",
    [
        ("silvaana_201_5551_softmax.py", "silvaana_305_5552_softmax.py"),
        ("Ana Silva_301_assignsubmission_file/softmax.py", "Ana Silva_305_assignsubmission_file/softmax.py"),
    ],
)
def test_two_people_with_one_name_on_the_roster_are_not_one(
    course: Course, tmp_path: Path, names: tuple[str, str]
) -> None:
    roster = Roster((Person("101", "Ana Silva"), BEN))  # the registrar's, of one section
    found, accounting = found_in(course, write(tmp_path / "class", dict.fromkeys(names, RIGHT)), roster)
    assert not found.handed_in
    assert fates(accounting)["101"] == "skipped"


def test_a_group_of_moodle_is_not_the_student_with_its_number(course: Course, tmp_path: Path) -> None:
    files = {"Team A_301_assignsubmission_file/softmax.py": RIGHT}
    found, accounting = found_in(course, write(tmp_path / "class", files))
    assert len(found.handed_in) == 1
    assert fates(accounting)["101"] == "missing"
    assert accounting.strangers == ("Team A (Moodle 301)",)


def test_a_group_of_canvas_is_the_member_whose_number_it_has(course: Course, tmp_path: Path) -> None:
    """Canvas names the file after the group, with the number of one member. The others need --map."""
    _, accounting = found_in(course, write(tmp_path / "class", {"theowls_201_5551_softmax.py": RIGHT}))
    assert fates(accounting) == {"101": "graded", "102": "missing"}


def test_a_class_in_one_more_folder_is_found(course: Course, tmp_path: Path) -> None:
    files = {f"submissions/{name}_softmax.py": RIGHT for name in ("silvaana_201_5551", "okaforben_202_5552")}
    _, accounting = found_in(course, write(tmp_path / "week1", files))
    assert fates(accounting) == {"101": "graded", "102": "graded"}


def test_folders_of_students_are_not_attempts_of_their_section(course: Course, tmp_path: Path) -> None:
    files = {f"Monday/{number}/softmax.py": RIGHT for number in ("101", "102")}
    found, _ = found_in(course, write(tmp_path / "week1", files))
    assert not found.handed_in
    assert len(found.refused) == 2


@pytest.mark.parametrize(
    "folder", ["1", "02", "try2", "v3", "2026-10-01", "20261001", "final", "1.2", "attempt 12 final"]
)
def test_folders_that_are_attempts(course: Course, tmp_path: Path, folder: str) -> None:
    write(tmp_path / "class", {f"cy/{folder}/softmax.py": RIGHT, "cy/draft/softmax.py": RIGHT, "eli/softmax.py": RIGHT})
    found, _ = found_in(course, tmp_path / "class")
    assert "several folders" not in str(found.refused)


def test_the_untouched_stub_does_not_count_beside_a_notebook(course: Course, tmp_path: Path) -> None:
    module = course.module("softmax")
    folder = write(tmp_path / "class", {"101/softmax.py": module.stub.read_text().replace("\n", "\r\n")})
    shutil.copy(Path(__file__).parents[2] / "examples" / "class" / "chloe" / "softmax.ipynb", folder / "101")
    found, _ = found_in(course, folder)
    assert [one.piece.location.below.name for one in found.handed_in] == ["softmax.ipynb"]


def test_a_later_attempt_counts_whatever_its_file_is_called(course: Course, tmp_path: Path) -> None:
    later = "2026-10-02-12-00-00"
    files = {
        f"Week 1_101_attempt_{WHEN}_softmax.py": RIGHT,
        f"Week 1_101_attempt_{later}_softmax (1).py": RIGHT,
        f"Week 1_102_attempt_{WHEN}_softmax.py": RIGHT,
    }
    found, _ = found_in(course, write(tmp_path / "class", files))
    assert {one.student: one.piece.attempt.name for one in found.handed_in} == {"101": later, "102": WHEN}


def test_a_file_that_could_not_be_unpacked_is_its_students(course: Course, tmp_path: Path) -> None:
    path = tmp_path / "submissions.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("silvaana_201_5551_softmax.py", RIGHT)
        archive.writestr("okaforben_202_5552_softmax.ipynb", b"x" * (33 << 20))
    _, accounting = found_in(course, path)
    assert fates(accounting) == {"101": "graded", "102": "skipped"}


def test_an_id_that_is_an_account_of_another_finds_neither() -> None:
    ana, ben = Person("204", "Ana Silva", accounts=("101",)), Person("101", "Ben Okafor", accounts=("102",))
    roster = Roster((ana, ben))
    assert roster.matches("101") == [ben, ana]
    assert roster.find("102") is ben


@pytest.mark.parametrize("text", ["id,Vorname,Nachname\n101,Ana,Silva\n,Ben,Okafor\n"])
def test_a_line_without_an_id_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "roster.csv").write_text(text)
    with pytest.raises(RosterError, match="line 3: there is no id"):
        read_roster(tmp_path / "roster.csv")


def test_lines_of_canvas_about_assignments_and_empty_lines_are_no_students(tmp_path: Path) -> None:
    head = "Student,ID,SIS Login ID,Section,Softmax (1)\n,,,,Manual Posting\n    Points Possible,,,,46\n"
    (tmp_path / "roster.csv").write_text(f'{head}"Silva, Ana",201,ana,Monday,40\n,,,,\n')
    assert [person.id for person in read_roster(tmp_path / "roster.csv").people] == ["201"]


def test_who_is_in_two_sections_is_missing_in_both() -> None:
    people = Person("1", section="Lab 2 and Monday"), Person("2", section="Monday"), Person("3", section="Tuesday")
    marking = Marking(roster=Roster((*people, Person("4", section="Mondays"))), section="Monday")
    assert [mark.id for mark in marking.missing("01_softmax", 46.0, [])] == ["1", "2"]
    skipped = {("01_softmax", "3"): "hw.zip: cannot be read"}  # handed something in, so it is never left out
    assert [mark.id for mark in marking.missing("01_softmax", 46.0, [], skipped)] == ["1", "2", "3"]


def test_a_time_for_a_name_that_two_people_share_counts_for_neither(course: Course, tmp_path: Path) -> None:
    people = Person("1", "Ana Silva"), Person("2", "Ana Silva"), Person("3", email="cy@a"), Person("cy", "Cy Zhang")
    folder = write(tmp_path / "class", {f"{person.id}/softmax.py": RIGHT for person in people})
    when = datetime(2026, 10, 1, tzinfo=UTC)
    for name, theirs in (("ana silva", set()), ("cy", {"cy"}), ("cy@a", {"3"}), ("2", {"2"})):
        marking = Marking(roster=Roster(people), deadlines=Deadlines(handed_in={(name, ""): when}))
        found = find_submissions(course, [folder]).handed_in
        assert {one.student for one in found if marking.handed_in_at(one)} == theirs, name


def test_a_line_of_a_map_is_not_for_files_of_several_students(course: Course, tmp_path: Path) -> None:
    write(tmp_path, {"map.csv": "folder,student\nsoftmax.py,cy\n", "class/a/softmax.py": "", "class/b/softmax.py": ""})
    lines = read_map(course, tmp_path / "map.csv", (tmp_path / "map.csv").read_bytes())
    with pytest.raises(MapError, match=r"'softmax\.py' is both a/softmax\.py and b/softmax\.py\. Write the whole path"):
        find_submissions(course, [tmp_path / "class"], name_map=lines)


def test_a_map_also_decides_whose_a_zip_is(course: Course, tmp_path: Path) -> None:
    """Files that --map names are certain: in one student's folders, and of two people of the platform."""
    write(tmp_path / "folders", {"cy/week/softmax.py": RIGHT, "cy/home/softmax.py": RIGHT})
    for number, name in enumerate(("folders/cy/hw.zip", "zips/a.zip", "zips/b.zip")):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("softmax.py", RIGHT)
        os.utime(path, (1000 + number, 1000 + number))  # the latest attempt is known
    lines = "folder,student\ncy,cy\na.zip,Ana (Canvas 201)\nb.zip,Ana (Canvas 202)\n"
    names = read_map(course, tmp_path / "map.csv", lines.encode())
    for folder, counted, resolve in (("folders", "cy", None), ("zips", "Ana (Canvas 202)", lambda _: "101")):
        found = find_submissions(course, [tmp_path / folder], name_map=names, resolve=resolve)
        assert found.refused == ()
        assert [one.student for one in found.handed_in] == [counted]
