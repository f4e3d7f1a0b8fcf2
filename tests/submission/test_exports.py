"""What Canvas, Moodle, Gradescope and GitHub Classroom export: everybody is identified and timed, and graded alike."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import tarfile
from dataclasses import replace
from datetime import datetime
from pathlib import Path, PurePosixPath

import pytest

from grader.classroom.roster import Person, Roster, read_roster
from grader.core.times import show_time
from grader.course.course import Course
from grader.submission.finder import find_submissions
from grader.submission.found import FoundSubmissions
from grader.submission.identity import Claim, Identity
from grader.submission.importers.canvas import Canvas
from grader.submission.importers.github_classroom import commit_time
from grader.submission.importers.gradescope import read_metadata
from tests.cli.conftest import EXECUTABLE
from tests.conftest import ROOT, needs_jail, write
from tests.submission.example_exports import CLONES, GITHUB, make_exports

PEOPLE = ("101", "102", "103", "104", "105")
TIMES = {
    "101": "2026-10-01T09:30:00+00:00",
    "102": "2026-10-02T00:00:00+00:00",
    "103": "2026-10-03T01:00:00+00:00",
    "104": "2026-10-01T08:00:00+00:00",
    "105": "2026-10-01T08:00:00+00:00",
}
TIMED = ("assignment_77_export", "assignment_77_export.zip", "clones", "clones.zip", "clones.tar.gz")
UNTIMED = ("canvas", "submissions.zip", "moodle", "ATT-Week 1-4711.zip", "ATT-Week 1-4712.zip", "clones without .git")


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The exports of the four platforms, and their class lists."""
    return make_exports(tmp_path_factory.mktemp("exports"))


def export(name: str, exports: Path, folder: Path) -> Path:
    """Return the path of an export."""
    if not name.startswith("clones"):
        return exports / name
    clones = exports / CLONES
    if name == "clones":
        return clones
    if name == "clones without .git":
        copied = shutil.copytree(clones, folder / clones.name, ignore=shutil.ignore_patterns(".git"))
        return Path(shutil.make_archive(str(folder / "all"), "zip", copied.parent, copied.name))
    kind = "zip" if name.endswith(".zip") else "gztar"
    return Path(shutil.make_archive(str(folder / "all"), kind, clones.parent, clones.name))


def find(course: Course, path: Path, scratch: Path, roster: Roster | None = None) -> FoundSubmissions:
    def resolve(who: Identity) -> str | None:
        person = roster.find(who) if roster else None
        return person.id if person else None

    scratch.mkdir(exist_ok=True)
    return find_submissions(course, [path], scratch=scratch, class_zip=path.name.startswith("all"), resolve=resolve)


@pytest.mark.parametrize("name", [*TIMED, *UNTIMED])
def test_everybody_is_identified_and_timed(course: Course, exports: Path, tmp_path: Path, name: str) -> None:
    roster = read_roster(exports / "roster.csv")
    found = find(course, export(name, exports, tmp_path), tmp_path / "scratch", roster)
    assert found.refused == ()
    people = {person.id: one for one in found.handed_in if (person := roster.find(one.piece.who))}
    assert sorted(people) == list(PEOPLE)
    assert len(found.handed_in) == len(PEOPLE)
    assert {one.module for one in found.handed_in} == {"01_softmax"}
    times = {number: one.piece.attempt.handed_in for number, one in people.items()}
    if name in TIMED:
        assert {number: show_time(when) for number, when in times.items() if when is not None} == TIMES
    else:
        assert set(times.values()) == {None}  # the export does not say, so nothing is guessed
    attempts = {number: one.attempts for number, one in people.items()}
    twice = name.startswith(("canvas", "submissions", "assignment"))  # Ben's first attempt is known, but not exported
    assert attempts == dict.fromkeys(PEOPLE, 1) | {"102": 2 if twice else 1}
    late = {number for number, one in people.items() if one.piece.attempt.late}
    assert late == ({"103"} if name in ("canvas", "submissions.zip") else set())


@pytest.mark.parametrize("kind", ["zip", "gztar"])
@pytest.mark.parametrize("name", ["canvas", "moodle"])
def test_export_that_was_zipped_again_is_not_one_student(
    course: Course, exports: Path, tmp_path: Path, name: str, kind: str
) -> None:
    path = Path(shutil.make_archive(str(tmp_path / "all"), kind, exports, name))
    assert len(find(course, path, tmp_path / "scratch").handed_in) == len(PEOPLE)
    other = path.rename(tmp_path / path.name.replace("all", "submissions"))
    assert not find(course, other, tmp_path / "again").handed_in  # without --class-zip


def grades(out: Path) -> dict[str, tuple[str, str, str]]:
    """Return score, final mark and status of every line of a class list."""
    with (out / "grades.csv").open(newline="", encoding="utf-8") as file:
        return {row["id"]: (row["score"], row["final"], row["status"]) for row in csv.DictReader(file)}


@pytest.mark.exhaustive
def test_grades_of_an_export_are_those_of_plain_folders(exports: Path, tmp_path: Path) -> None:
    needs_jail()
    found = {}
    for name in ("plain", "submissions.zip", "moodle", "assignment_77_export.zip", "clones"):
        path = export(name, exports, tmp_path)
        command = [EXECUTABLE, "grade", path, "--roster", exports / "roster.csv", "--to", tmp_path / f"{name} reports"]
        done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stderr
        assert done.stderr.splitlines()[-1] == "01_softmax: 6 on the roster: 5 graded, 1 missing"
        found[name] = grades(tmp_path / f"{name} reports")
    plain = found.pop("plain")
    assert plain["101"] == ("46", "46", "graded")
    assert plain["102"][0] not in ("46", "")
    assert plain["106"] == ("", "", "missing")
    assert all(one == plain for one in found.values())


@pytest.mark.exhaustive
def test_late_work_of_an_export(course: Course, exports: Path, tmp_path: Path) -> None:
    del course
    needs_jail()
    due = ["--due", "2026-10-02T00:00Z", "--late-penalty", "10%/day"]
    for name, late in (("clones", "90000"), ("submissions.zip", "0")):
        out = tmp_path / name
        path = export(name, exports, tmp_path)
        command = [EXECUTABLE, "grade", path, "--roster", exports / "roster.csv", "--to", out]
        done = subprocess.run([*map(str, command), *due], cwd=ROOT, capture_output=True, text=True, check=False)
        with (out / "grades.csv").open(newline="", encoding="utf-8") as file:
            rows = {row["id"]: row for row in csv.DictReader(file)}
        assert rows["103"]["late_s"] == late
        if name != "clones":
            assert (rows["103"]["time_known"], rows["103"]["marked_late"]) == ("no", "yes")
            assert "submission time unknown for 5 of 5, 1 of them marked LATE by the platform" in done.stderr
            assert "marked LATE, by how much is unknown" in done.stdout


class TestCanvas:
    """The names of Canvas's files."""

    @pytest.mark.parametrize(
        ("name", "label", "file", "late"),
        [
            ("doejane_12345_6789_softmax.py", "doejane (Canvas 12345)", "softmax.py", False),
            ("doejane_LATE_12345_6789_softmax-2.py", "doejane (Canvas 12345)", "softmax.py", True),
            ("anon_x7Q2d_6789_softmax.py", "anonymous (Canvas x7Q2d)", "softmax.py", False),
            ("LATE_anon_x7Q2d_6789_softmax.py", "anonymous (Canvas x7Q2d)", "softmax.py", True),
            ("李明_12345_6789_my_work.py", "李明 (Canvas 12345)", "my_work.py", False),
        ],
    )
    def test_name(self, name: str, label: str, file: str, late: bool) -> None:
        claim = Canvas().claim(PurePosixPath(name))
        assert isinstance(claim, Claim)
        assert ([who.label for who in claim.who], str(claim.file), claim.late) == ([label], file, late)

    @pytest.mark.parametrize(
        "name", ["softmax.py", "ana_softmax.py", "ana_1_softmax.py", "1_2_softmax.py", "x/a_1_2_b.py"]
    )
    def test_other_names(self, name: str) -> None:
        assert Canvas().claim(PurePosixPath(name)) is None

    def test_of_two_versions_the_later_counts(self, course: Course, tmp_path: Path) -> None:
        first, second = "doejane_7_100_softmax.py", "doejane_7_200_softmax-1.py"
        write(tmp_path / "class", {first: "x = 1", second: "x = 2"})
        for name in (first, second):
            os.utime(tmp_path / "class" / name, (100, 100))
        found = find(course, tmp_path / "class", tmp_path / "scratch")
        assert [one.sources["softmax"].cells for one in found.submissions] == [("x = 2",)]
        assert [Path(path).name for path, _ in found.not_counted] == [first]

    def test_the_number_of_a_platform_is_not_the_id_of_another_student(self) -> None:
        roster = Roster((Person("101", "Bob Stone"), Person("102", "Ana Silva")))
        found = roster.matches(Identity("silvaana (Canvas 101)", (("canvas", "101"), ("name", "silvaana"))))
        assert [person.id for person in found] == ["102"]
        assert roster.find(Identity("x (Canvas 101)", (("canvas", "101"), ("name", "x")))) is None


@pytest.mark.parametrize(
    ("export_name", "list_name", "first"), [("canvas", "gradebook.csv", "201"), ("moodle", "worksheet.csv", "101")]
)
def test_lists_of_the_platforms_are_rosters(
    course: Course, exports: Path, tmp_path: Path, export_name: str, list_name: str, first: str
) -> None:
    roster = read_roster(exports / list_name)
    renamed = Roster(tuple(replace(person, name="Another Name") for person in roster.people))
    # Canvas's numbers are enough. Those of Moodle may be a group's, so the name must agree.
    for one in (roster, renamed) if export_name == "canvas" else (roster,):
        found = find(course, exports / export_name, tmp_path / "scratch", one)
        people = [person.id for ref in found.handed_in if (person := one.find(ref.piece.who))]
        assert sorted(people)[0] == first
        assert len(set(people)) == len(PEOPLE)


class TestMatching:
    """Students and the roster."""

    ROSTER = Roster(
        (
            Person("1", "Kim Lee", email="kim@x.edu", github="klee"),
            Person("2", "Lee Kim", email="lee@x.edu"),
            Person("3", "José Ñúñez", email="jn@x.edu"),
        )
    )

    @pytest.mark.parametrize(
        ("keys", "expected"),
        [
            ((("name", "José Ñúñez"),), ["3"]),
            ((("name", "nuñezjose"),), ["3"]),
            ((("name", "Kim Lee"),), ["1", "2"]),  # Canvas would call both leekim or kimlee: not guessed
            ((("email", "LEE@x.edu"), ("name", "Kim Lee")), ["2"]),
            ((("email", "lee@x.edu"), ("id", "1")), ["1", "2"]),
            ((("github", "KLee"),), ["1"]),
            ((("github", "2"),), []),  # the roster has GitHub names, so an id is none
            ((("id", "9"), ("name", "Nobody")), []),
        ],
    )
    def test_match(self, keys: tuple[tuple[str, str], ...], expected: list[str]) -> None:
        found = self.ROSTER.matches(Identity("x", keys))  # type: ignore[arg-type]
        assert sorted(person.id for person in found) == expected


class TestGradescope:
    """The metadata of Gradescope."""

    def test_hostile_yaml_makes_no_object(self, tmp_path: Path) -> None:
        mark = tmp_path / "was here"
        text = f"submission_1: !!python/object/apply:os.system ['touch {mark}']\n"
        with pytest.raises(Exception, match="cannot be read as YAML"):
            read_metadata(text.encode())
        assert not mark.exists()
        assert read_metadata(b"submission_1: {':submitters': [5, {}], ':created_at': soon}").submissions

    def test_damaged_metadata_is_said(self, course: Course, tmp_path: Path) -> None:
        folder = write(tmp_path / "x", {"submission_metadata.yml": "[", "submission_1/softmax.py": "x = 1"})
        found = find(course, folder, tmp_path / "scratch")
        assert "the students are not known. Use --map" in found.refused[0][1]
        assert [one.student for one in found.handed_in] == ["submission_1"]


@pytest.mark.parametrize(
    ("container", "folders", "students"),
    [
        ("week-1-submissions", ["week-1-jane-doe", "week-1-bob", "notes"], {"jane-doe", "bob", "notes"}),
        ("class", ["softmax-jane", "softmax-bob", "notes"], {"jane", "bob", "notes"}),
        ("class", ["01-softmax-jane-main", "01-softmax-bob-main"], {"jane", "bob"}),
        ("class", ["softmax-jane"], {"softmax-jane"}),  # one folder without a clone proves nothing
        ("class", ["de-jane", "de-bob"], {"de-jane", "de-bob"}),
    ],
)
def test_account_is_what_follows_the_assignment(
    course: Course, tmp_path: Path, container: str, folders: list[str], students: set[str]
) -> None:
    folder = write(tmp_path / container, {f"{name}/softmax.py": "x = 1" for name in folders})
    assert {one.student for one in find(course, folder, tmp_path / "scratch").handed_in} == students


class TestGit:
    """The time of the last commit, without trusting the clone."""

    def test_packed_clone(self, exports: Path, tmp_path: Path) -> None:
        packed = Path(shutil.copytree(exports / CLONES / "softmax-bokafor", tmp_path / "clone"))
        subprocess.run(["git", "-C", str(packed), "gc", "-q"], check=True)
        assert commit_time(packed) == datetime.fromisoformat(GITHUB["bokafor"][1]).timestamp()

    def test_configuration_and_hooks_of_a_clone_are_not_used(self, exports: Path, tmp_path: Path) -> None:
        clone = Path(shutil.copytree(exports / CLONES / "softmax-bokafor", tmp_path / "clone"))
        mark = tmp_path / "was here"
        program = tmp_path / "evil"
        program.write_text(f"#!/bin/sh\ntouch '{mark}'\n")
        program.chmod(0o755)
        settings = "".join(f"\t{name} = {program}\n" for name in ("fsmonitor", "pager", "sshCommand", "editor"))
        include = f"[include]\n\tpath = {program}\n[alias]\n\tcat-file = !{program}\n"
        (clone / ".git" / "config").write_text(f"[core]\n{settings}\thooksPath = {tmp_path}\n{include}")
        assert commit_time(clone) is not None
        assert not mark.exists()

    @pytest.mark.parametrize("head", ["", "ref: ../../secret", "ref: refs/heads/none", "0" * 40, "x\n" * 1000])
    def test_broken_clone_has_no_time(self, exports: Path, tmp_path: Path, head: str) -> None:
        clone = Path(shutil.copytree(exports / CLONES / "softmax-bokafor", tmp_path / "clone"))
        (clone / ".git" / "HEAD").write_text(head)
        assert commit_time(clone) is None
        assert commit_time(tmp_path) is None

    def test_git_folder_of_a_student_in_a_plain_class_sets_no_time(
        self, course: Course, exports: Path, tmp_path: Path
    ) -> None:
        folder = write(tmp_path / "class", {"ana/softmax.py": "x = 1"})
        shutil.copytree(exports / CLONES / "softmax-bokafor", folder / "ben")
        found = find(course, folder, tmp_path / "scratch")
        assert {one.student: one.piece.attempt.handed_in for one in found.handed_in} == {"ana": None, "ben": None}


def test_hostile_tar_is_read_without_its_bad_members(course: Course, tmp_path: Path) -> None:
    good = write(tmp_path / "files", {"ana/softmax.py": "x = 1"})
    path = tmp_path / "all.tar.gz"
    with tarfile.open(path, "w:gz") as file:
        file.add(good / "ana" / "softmax.py", "ana/softmax.py")
        file.add(good / "ana" / "softmax.py", "../../out/softmax.py")
        link = tarfile.TarInfo("eve/softmax.py")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        file.addfile(link)
    found = find(course, path, tmp_path / "scratch")
    assert [one.student for one in found.handed_in] == ["ana"]
    assert [reason for _, reason in found.refused] == [
        "has a path that points outside the tar",
        "is a link or not a file",
    ]
    path.write_bytes(path.read_bytes()[:-40])
    find(course, path, tmp_path / "again")
