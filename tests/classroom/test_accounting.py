"""Every file and every person is in exactly one line, and the last lines add up."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from grader.classroom.accounting import account
from grader.classroom.marks import Marking
from grader.classroom.roster import Person, Roster
from grader.course.course import Course
from grader.submission.choose import Policy
from grader.submission.finder import find_submissions
from grader.submission.identity import Identity
from tests.classroom.conftest import HALF, RIGHT, Grade
from tests.conftest import write

CODE = "def tiny(x):\n    return x + x\n"
HELPER = "def helper(x):\n    return x\n"
NAMES = (
    "tiny.py",
    "Tiny.py",
    "tiny (1).py",
    "tiny-1.py",
    "hw1.py",
    "01_tiny/tiny.py",
    "01_tiny/answer.py",
    "tiny.ipynb",
)
JUNK = (".DS_Store", "notes.txt", "__pycache__/tiny.cpython-311.pyc", "data.csv", "Thumbs.db", "helper.py", "work.rar")
NOTEBOOK = json.dumps({"nbformat": 4, "cells": [{"cell_type": "code", "source": CODE}]})


@dataclass
class RandomClass:
    """A class folder, with the number of lines that its files must have."""

    folder: Path
    rng: random.Random
    files: int = 0
    people: list[Person] = field(default_factory=list)

    def put(self, name: str, text: str = CODE) -> None:
        path = self.folder / name
        if path.exists() or any(parent.is_file() for parent in path.parents):
            return
        hidden = next((n for n, part in enumerate(Path(name).parts) if part.startswith((".", "__"))), None)
        first = hidden is None or not self.folder.joinpath(*Path(name).parts[: hidden + 1]).exists()
        self.files += first  # a hidden folder is one line, whatever is in it
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(NOTEBOOK if name.endswith(".ipynb") else HELPER if "helper" in name else text)

    def put_zip(self, name: str) -> None:
        path = self.folder / name
        if path.exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        inside = self.rng.sample(["tiny.py", "x/helper.py", "tiny.ipynb", "photo.png"], self.rng.randint(0, 3))
        with zipfile.ZipFile(path, "w") as file:
            for one in inside:
                file.writestr(one, NOTEBOOK if one.endswith(".ipynb") else HELPER if "helper" in one else CODE)
        self.files += sum(one != "photo.png" for one in inside) or 1  # its files, or itself if it has no work

    def fill(self) -> None:
        for number in range(self.rng.randint(1, 9)):
            person = Person(str(100 + number), f"First{number} Last{number}", email=f"s{number}@x.edu")
            if self.rng.random() < 0.9:
                self.people.append(person)
            if self.rng.random() < 0.2:
                continue  # nothing from this one
            self.student(person, number)
        for name in self.rng.sample(JUNK[:5], self.rng.randint(0, 3)):
            self.put(name)

    def student(self, person: Person, number: int) -> None:
        last = person.name.split()[1].lower()
        own = {
            "id": person.id,
            "email": person.email,
            "moodle": f"{person.name}_{number}_assignsubmission_file_",
            "name": person.name,
        }
        style = self.rng.choice([*own, "canvas", "zip", "empty"])
        if style == "canvas":
            late = self.rng.choice(["", "LATE_"])
            for version in range(self.rng.randint(1, 3)):
                again = f"-{version}" if version else ""
                self.put(f"{last}first{number}_{late}{900 + number}_{5000 + 10 * number + version}_tiny{again}.py")
        elif style == "zip":
            self.put_zip(f"{person.id}.zip")
        elif style == "empty":
            if not (self.folder / person.id).exists():
                (self.folder / person.id).mkdir(parents=True)
        else:
            folder = own[style]
            for name in self.rng.sample(NAMES, self.rng.randint(0, 3)):
                self.put(f"{folder}/{self.rng.choice(['', '', 'try1/', 'try2/', 'new stuff/'])}{name}")
            for name in self.rng.sample(JUNK, self.rng.randint(0, 2)):
                self.put(f"{folder}/{name}")
            if self.rng.random() < 0.2:
                self.put_zip(f"{folder}/hand in.zip")
            if self.rng.random() < 0.2:  # the same person again, under another name
                self.put(f"{person.id}/tiny.py")


def numbers(line: str) -> list[int]:
    """Return the numbers of a sum: the total first, then its parts."""
    text = line.partition(";")[0]
    return [int(one) for one in re.findall(r"(?<![\w@.])(\d+)(?= )", re.sub(r"^\w+: (?=\d+ on)", "", text))]


@pytest.mark.parametrize("seed", range(200))
def test_the_sums_hold_for_any_class(built: Course, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    made = RandomClass(tmp_path / "class", rng)
    made.folder.mkdir()
    made.fill()
    roster = Roster(tuple(made.people)) if made.people else None
    marking = Marking(roster)

    def resolve(who: Identity) -> str | None:
        person = marking.person(who)
        return person.id if person else None

    policies: list[Policy | None] = [None, None, "latest", "best"]
    policy = rng.choice(policies)
    module = built.modules[0] if rng.random() < 0.3 else None
    found = find_submissions(built, [made.folder], module, policy, resolve=resolve)
    done = account(found, marking, [built.modules[0].name])
    # Every file has one line, and so has every folder without work.
    paths = [line.path for line in done.files]
    assert len(set(paths)) == len(paths)
    folders = [path for path in paths if Path(path).is_dir() and not Path(path).name.startswith((".", "__"))]
    assert len(paths) - len(folders) == made.files
    # Every person has one line.
    assert [line.id for line in done.people] == [person.id for person in made.people]
    # The sums are those of the lines.
    sums = done.sums()
    assert sum(numbers(sums[0])[1:]) == numbers(sums[0])[0] == len(paths)
    if roster:
        assert sum(numbers(sums[1])[1:]) == numbers(sums[1])[0] == len(made.people)
    # What is graded is said to be graded, once for each attempt.
    fates = Counter(line.fate for line in done.files)
    assert fates["graded"] == len(found.handed_in)
    assert done.has_skipped == bool(fates["skipped"])
    # Nobody whose work was found is missing.
    with_work = {
        person
        for line in done.files
        if line.fate in ("graded", "skipped")
        for who in line.who
        if (person := resolve(who))
    }
    assert not with_work & {line.id for line in done.people if line.fate == "missing"}
    shutil.rmtree(made.folder)


def test_skipped_work_makes_exit_status_1_and_is_not_missing(grade: Grade, tmp_path: Path) -> None:
    folder = write(tmp_path / "class", {"ana/tiny.py": RIGHT, "ben/work.rar": "x", ".DS_Store": ""})
    write(tmp_path, {"roster.csv": "id,name\nana,Ana\nben,Ben\ncy,Cy\n"})
    out = tmp_path / "out"
    done = grade(folder, "--roster", tmp_path / "roster.csv", "--to", out)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-2:] == [
        "3 files: 1 graded, 1 skipped, 1 not work",
        "01_tiny: 3 on the roster: 1 graded, 1 skipped, 1 missing",
    ]
    assert "skipped the work of Ben" in done.stdout
    rows = {one["id"]: one["status"] for one in json.loads((out / "grades.json").read_text())}
    assert rows == {"ana": "graded", "ben": "skipped", "cy": "missing"}


def test_a_run_of_one_student_does_not_make_the_skipped_ones_missing(grade: Grade, tmp_path: Path) -> None:
    folder = write(tmp_path / "class", {"ana/tiny.py": RIGHT, "ben/work.rar": "x"})
    write(tmp_path, {"roster.csv": "id,name\nana,Ana\nben,Ben\n"})
    out = tmp_path / "out"
    grade(folder, "--roster", tmp_path / "roster.csv", "--to", out)
    done = grade(folder / "ana", "--student", "ana", "--to", out, "--resume")
    assert done.returncode == 0, done.stderr
    (ben,) = (line for line in (out / "grades.csv").read_text().splitlines() if "Ben" in line)
    assert "skipped" in ben
    assert "work.rar" in ben


def test_a_resumed_run_finds_work_by_the_map_that_was_kept(grade: Grade, tmp_path: Path) -> None:
    folder = write(tmp_path / "class", {"s1/my work.py": "print('no function of a module')\n"})
    write(tmp_path, {"map.csv": "folder,student,module\ns1,ana,tiny\n"})
    out = tmp_path / "out"
    first = grade(folder, "--map", tmp_path / "map.csv", "--to", out)
    assert first.returncode == 1, first.stderr
    done = grade(folder, "--to", out, "--resume")
    assert "1 of 1 are in " in done.stderr


def test_dry_run_prints_everything_and_grades_nothing(grade: Grade, tmp_path: Path) -> None:
    write(tmp_path / "class", {"doejane_LATE_7_1_tiny-1.py": RIGHT, "ben/my code.py": HELPER, "cy/tiny.py": RIGHT})
    write(tmp_path, {"roster.csv": "id,name\n1,Jane Doe\nben,Ben\ncy,Cy\ndee,Dee\n"})
    options = [tmp_path / "class", "--dry-run", "--roster", tmp_path / "roster.csv", "--to", tmp_path / "out"]
    done = grade(*options)
    assert done.returncode == 1
    assert "doejane (Canvas 7) = 1, 01_tiny, marked LATE, time unknown" in done.stdout
    reason = "defines no function of any module: cannot tell which module it is for. Use --module, or --map"
    assert reason in " ".join(done.stdout.split())
    assert "dee (Dee)  01_tiny" in done.stdout
    assert done.stdout.endswith(
        "3 files: 2 graded, 1 skipped\n01_tiny: 4 on the roster: 2 graded, 1 skipped, 1 missing\n"
    )
    assert not (tmp_path / "out").exists()
    data = json.loads(grade(*options, "--json").stdout)
    assert [one["fate"] for one in data["people"]] == ["graded", "skipped", "graded", "missing"]
    assert {one["students"][0]: one["marked_late"] for one in data["files"]}["doejane (Canvas 7)"]


class TestMap:
    """`--map`."""

    def test_folders_and_files_get_students_and_modules(self, grade: Grade, tmp_path: Path) -> None:
        folder = write(tmp_path / "class", {"group 7/tiny.py": RIGHT, "x9/stuff.py": HELPER, "x9/notes.py": HELPER})
        lines = "folder,student,module\ngroup 7,ana,\ngroup 7,ben,\nx9/stuff.py,cy,tiny\n"
        write(tmp_path, {"map.csv": lines, "roster.csv": "id,name\nana,Ana\nben,Ben\ncy,Cy\n"})
        options = ["--map", tmp_path / "map.csv", "--roster", tmp_path / "roster.csv", "--dry-run"]
        done = grade(folder, *options)
        assert "ana, ben, 01_tiny, time unknown" in done.stdout
        assert "cy, 01_tiny, time unknown" in done.stdout
        assert "01_tiny: 3 on the roster: 3 graded" in done.stdout

    @pytest.mark.parametrize(
        ("lines", "words"),
        [
            ("folder,student\nana,\n", "line 2: it needs the columns folder and student"),
            ("folder,student\nx,ana\n,ben\n", "line 3: it needs the columns folder and student"),
            ("folder,student,module\nx,ana,nothing\n", "line 2: "),
            ("folder,student\nx,ana\nx,ana\n", "line 3: the same folder and student are already in line 2"),
            ("folder,student,module\nx,ana,tiny\nx,ben,\n", "line 3: 'x' has another module in a line above"),
            ("folder,student\n", "has no lines"),
            ('folder,student\n"x,ana\n', "is not a CSV file"),
        ],
    )
    def test_bad_line_is_an_error_with_its_number(self, grade: Grade, tmp_path: Path, lines: str, words: str) -> None:
        write(tmp_path, {"class/x/tiny.py": RIGHT, "map.csv": lines})
        done = grade(tmp_path / "class", "--map", tmp_path / "map.csv")
        assert (done.returncode, done.stdout) == (2, "")
        assert words in done.stderr

    def test_line_that_fits_nothing_is_reported(self, grade: Grade, tmp_path: Path) -> None:
        write(tmp_path, {"class/x/tiny.py": RIGHT, "map.csv": "folder,student\nx,ana\ny,ben\n"})
        done = grade(tmp_path / "class", "--map", tmp_path / "map.csv")
        assert "map.csv, line 3: nothing here is called 'y'" in done.stderr
        assert done.returncode == 0


@pytest.mark.exhaustive
def test_policy_best_lists_marks_that_lateness_changed(grade: Grade, tmp_path: Path) -> None:
    folder = write(tmp_path / "class", {"ana/try1/tiny.py": HALF, "ana/try2/tiny.py": RIGHT})
    write(tmp_path, {"times.csv": "id,submitted\nana,2026-10-01T12:00Z\n"})
    out = tmp_path / "out"
    options = [folder, "--to", out, "--policy", "best", "--times", tmp_path / "times.csv"]
    first = grade(*options, "--due", "2026-10-02T00:00Z", "--late-penalty", "10%/day")
    assert "2 files: 1 graded, 1 not counted" in first.stderr
    again = grade(*options, "--resume", "--due", "2026-09-30T12:00Z", "--yes")
    assert "Final marks that changed only because of lateness:\n  ana 01_tiny: 10 → 9\n" in again.stdout
    third = grade(*options, "--resume", "--due", "2026-09-30T12:00Z")
    assert "because of lateness" not in third.stdout


@pytest.mark.parametrize("folders", [("try1", "try2"), ("v1", "final"), ("1", "2")])
def test_without_a_policy_the_latest_attempt_counts(grade: Grade, tmp_path: Path, folders: tuple[str, str]) -> None:
    folder = write(tmp_path / "class", {f"ana/{name}/tiny.py": RIGHT for name in folders})
    os.utime(folder / "ana" / folders[0] / "tiny.py", (100, 100))
    done = grade(folder)
    assert done.returncode == 0, done.stderr
    assert "2 files: 1 graded, 1 not counted" in done.stderr
    for name in folders:
        os.utime(folder / "ana" / name / "tiny.py", (100, 100))
    same = grade(folder)
    assert same.returncode == 2
    assert "cannot tell which is the latest: their times are unknown" in same.stderr
