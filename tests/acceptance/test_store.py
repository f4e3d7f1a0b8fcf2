"""A class graded into a real PostgreSQL that is restarted in the middle, by two graders at once, one of them killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from grader.course.course import Course
from tests.classroom.conftest import HALF, RIGHT, SQUARE
from tests.cli.conftest import EXECUTABLE
from tests.conftest import write
from tests.postgres import PASSWORD, Database
from tests.waiting import wait_until

KINDS = (RIGHT, SQUARE, HALF, "def tiny(:\n", "import os\n\n\ndef tiny(x):\n    os._exit(3)\n")
STUDENTS = [f"s{number:03}" for number in range(100)]
REPORTS = "select student, content::text from report where attempt = '' order by student"
COUNTS = "select count(*), count(distinct (module, student, attempt)), count(mark) from report"

pytestmark = pytest.mark.exhaustive  # a class of 100, several times


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of five kinds of students in two halves."""
    files = {
        f"{number % 2}/{student}/tiny.py": KINDS[number // 2 % len(KINDS)] for number, student in enumerate(STUDENTS)
    }
    return write(tmp_path_factory.mktemp("handed-in"), files)


@pytest.fixture(scope="module")
def expected(built: Course, handed_in: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of the class in a folder."""
    out = tmp_path_factory.mktemp("expected") / "reports"
    process = grader(built, handed_in / "0", handed_in / "1", "--to", out)
    assert process.wait() == 1
    return out


def grader(course: Course, *arguments: object, url: str = "") -> subprocess.Popen[bytes]:
    """Start `attn grade`. Its messages go to a file, because nothing reads them while it runs."""
    environment = os.environ | ({"ATTN_STORE": url} if url else {})
    command = [EXECUTABLE, "grade", *map(str, arguments), "--allow-unjailed", "-j", "1"]
    log = (course.root.parent / f"log-{time.monotonic_ns()}").open("wb")
    with log:
        return subprocess.Popen(command, cwd=course.root, env=environment, stdout=log, stderr=log)


def logs(course: Course) -> str:
    return "".join(path.read_text() for path in sorted(course.root.parent.glob("log-*")))


def wait_for(database: Database, count: int, *processes: subprocess.Popen[bytes]) -> None:
    """Wait until so many reports are there. The graders must still have something to do."""

    def there() -> bool:
        assert all(process.poll() is None for process in processes)
        made = database.sql("select to_regclass('report') is not null")[0][0]
        return bool(made and database.sql(COUNTS)[0][0] >= count)

    wait_until(f"{count} reports", there)


def without_timing(text: str | bytes) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(text)
    return data | {"timing": None}


def assert_complete(database: Database, expected: Path) -> None:
    """Every submission has exactly one report and one mark, and they are those of the folder but for `timing`."""
    assert database.sql(COUNTS) == [(len(STUDENTS),) * 3]
    found = dict(database.sql(REPORTS))
    assert sorted(found) == STUDENTS
    for student, text in found.items():
        theirs = (expected / "01_tiny" / f"{student}.json").read_bytes()
        assert without_timing(text) == without_timing(theirs)
        # Byte for byte: only the lines of `timing` may differ.
        ours, other = text.encode().splitlines(), theirs.splitlines()
        differing = [line for line, same in zip(ours, other, strict=True) if line != same]
        assert all(b"wall_s" in line or b"cpu_s" in line for line in differing)
    lists = dict(database.sql("select name, content from document where name in ('grades.json', 'grades.csv')"))
    assert lists["grades.csv"] == (expected / "grades.csv").read_bytes().decode()
    assert lists["grades.json"] == (expected / "grades.json").read_text()


@pytest.mark.parametrize("where", [(), ("--cluster", "local")], ids=["this machine", "a cluster"])
def test_a_server_that_is_restarted_in_the_middle(
    built: Course, handed_in: Path, expected: Path, database: Database, where: tuple[str, ...]
) -> None:
    process = grader(built, handed_in / "0", handed_in / "1", "--to", "week1", *where, url=database.url)
    for count in (10, 40, 70):
        wait_for(database, count, process)
        database.server.restart()
    assert process.wait() == 1
    assert_complete(database, expected)
    said = logs(built)
    assert "does not answer. Trying again" in said
    assert "answers again" in said
    assert PASSWORD not in said


def test_two_graders_at_once_one_killed_and_the_server_restarted(
    built: Course, handed_in: Path, expected: Path, database: Database
) -> None:
    first, second = (grader(built, handed_in / half, "--to", "week1", url=database.url) for half in "01")
    wait_for(database, 20, first, second)
    database.server.restart()
    wait_for(database, 30, first, second)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert second.wait() == 1
    # The killed grader has left reports without a mark, and nothing that is not complete.
    assert database.sql(COUNTS)[0][0] < len(STUDENTS)
    again = grader(built, handed_in / "0", "--to", "week1", "--resume", url=database.url)
    assert again.wait() == 1
    assert_complete(database, expected)


def test_two_graders_of_the_same_class_give_one_result(
    built: Course, handed_in: Path, expected: Path, database: Database
) -> None:
    both = [grader(built, handed_in / "0", handed_in / "1", "--to", "week1", url=database.url) for _ in range(2)]
    wait_for(database, 30, *both)
    database.server.restart()
    assert [process.wait() for process in both] == [1, 1]
    assert_complete(database, expected)
