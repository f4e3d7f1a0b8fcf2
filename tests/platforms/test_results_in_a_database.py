"""Every command that reads results prints and writes the same from a folder and from a database."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import EXECUTABLE
from tests.platforms.conftest import Graded
from tests.postgres import PASSWORD, Database

# REPORTS is the results, OUT a new file or folder, ROSTER the roster.
COMMANDS = [
    "stats REPORTS",
    "stats REPORTS --all --anonymous",
    "stats REPORTS --json",
    "review REPORTS --all --json",
    "mark --reports REPORTS",
    "dashboard REPORTS --to OUT.html",
    "dashboard REPORTS --to OUT.html --anonymous",
    "feedback REPORTS --to OUT",
    "export csv REPORTS --out OUT",
    "export csv REPORTS --out OUT --checks --anonymous",
    "export canvas REPORTS --out OUT --roster ROSTER",
    "export junit REPORTS --out OUT",
]


class Place:
    """A folder of results, or their name in a database, and commands that read them."""

    def __init__(self, graded: Graded, folder: Path, name: str, url: str = "") -> None:
        self.graded = graded
        self.folder = folder
        self.name = name
        self.url = url

    def attn(self, command: str) -> tuple[int, str, dict[str, bytes]]:
        """Run a command; return its status, what it printed and what it wrote, with the places in one spelling."""
        out = self.folder / "out"
        out.mkdir(parents=True)
        values = {
            "REPORTS": self.name,
            "OUT.html": out / "page.html",
            "OUT": out / "made",
            "ROSTER": self.graded.roster,
        }
        words = [str(values.get(word, word)) for word in command.split()]
        environment = os.environ | ({"ATTN_STORE": self.url} if self.url else {})
        done = subprocess.run(
            [EXECUTABLE, *words], cwd=self.graded.course, env=environment, capture_output=True, text=True, check=False
        )
        assert PASSWORD not in done.stdout + done.stderr
        made = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}
        shutil.rmtree(out)
        printed = (done.stdout + done.stderr).replace(str(self.folder), "HERE").replace(self.name, "REPORTS")
        return done.returncode, printed, made


@pytest.fixture
def places(graded: Graded, database: Database, tmp_path: Path) -> tuple[Place, Place]:
    """The same results twice."""
    reports = shutil.copytree(graded.reports, tmp_path / "files" / "reports")
    marked = [EXECUTABLE, "mark", "zoe", "1", "-r", reports, "--points", "3", "--because", "right idea"]
    subprocess.run([str(word) for word in marked], cwd=graded.course, check=True, capture_output=True)
    copied = [EXECUTABLE, "store", "copy", str(reports), "store:the class", "--store", database.url]
    done = subprocess.run(copied, cwd=graded.course, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "store:the class: 7 reports\n"), done.stderr
    files = Place(graded, tmp_path / "files", str(reports))
    return files, Place(graded, tmp_path / "database", "the class", database.url)


@pytest.mark.exhaustive  # half a minute of commands
def test_the_same_comes_out_of_both(places: tuple[Place, Place]) -> None:
    files, database = places
    for command in COMMANDS:
        expected = files.attn(command)
        assert expected[0] in (0, 1, 3), expected
        assert any(expected[1:]), command
        assert database.attn(command) == expected, command


@pytest.mark.exhaustive
def test_stats_and_a_mark_by_hand_are_the_same_in_both(places: tuple[Place, Place]) -> None:
    files, database = places
    for command in ("mark ana 1 --points 2 --because so --reports REPORTS", "stats REPORTS --json"):
        expected = files.attn(command)
        assert expected[0] == 0
        assert database.attn(command) == expected


def test_a_database_is_checked_and_listed(places: tuple[Place, Place]) -> None:
    _, database = places
    status, printed, _ = database.attn("store check")
    assert (status, printed.splitlines()[-1]) == (0, "REPORTS: 7 reports, finished")
    assert "tables of version 2" in printed
    assert database.attn("store check nothing")[0] == 1
    assert database.attn("store migrate")[1].endswith("nothing to change\n")
    status, printed, _ = database.attn("stats nothing")
    assert status == 2
    assert "there are no reports in nothing in postgresql://grader@" in printed


def test_grading_into_a_database_needs_a_name(graded: Graded, tmp_path: Path) -> None:
    command = f"grade {graded.folder} --store postgresql://grader@db/attention"
    status, printed, _ = Place(graded, tmp_path, "reports").attn(command)
    assert status == 2
    assert "add --to NAME" in printed


def test_a_wrong_url_is_a_usage_error(graded: Graded, tmp_path: Path) -> None:
    status, printed, _ = Place(graded, tmp_path, "reports", "mysql://grader@db/attention").attn("stats REPORTS")
    assert status == 2
    assert "begins with postgresql://, not with mysql://" in printed
    away = f"postgresql://grader:{'x' * 9}@/attention?host={tmp_path}"
    status, printed, _ = Place(graded, tmp_path, "reports", away).attn("stats REPORTS")
    assert status == 3
    assert "cannot be opened" in printed
    assert "x" * 9 not in printed
