"""nbgrader's gradebook in a real PostgreSQL database, and proof that it is the one that is used."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from grader.course.course import Course
from grader.platforms.nbgrader.course_dir import CONFIG, init_course_dir
from grader.platforms.nbgrader.release import release_modules
from tests.cli.conftest import EXECUTABLE
from tests.conftest import ROOT
from tests.platforms.nbgrader.conftest import Nbgrader
from tests.platforms.nbgrader.students import MODULE, NO_MAXIMUM, RIGHT, Notebook, hand_in
from tests.postgres import PASSWORD, Database

SCORES = """
select submitted_assignment.student_id, sum(grade.auto_score)
from grade
join submitted_notebook on submitted_notebook.id = grade.notebook_id
join submitted_assignment on submitted_assignment.id = submitted_notebook.assignment_id
group by 1 order by 1
"""


def attn(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run `attn` in the course."""
    done = subprocess.run([EXECUTABLE, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert PASSWORD not in done.stdout + done.stderr
    return done


@pytest.mark.exhaustive  # half a minute of nbgrader
def test_the_gradebook_is_in_postgres_and_nowhere_else(
    course: Course, server: object, database: Database, tmp_path: Path, nbgrader: Nbgrader
) -> None:
    del server
    results = database.server.new_database()
    in_postgres, in_sqlite = tmp_path / "postgres" / "attention", tmp_path / "sqlite" / "attention"
    made = attn("course", "init", in_postgres, "--db", database.nbgrader_url)
    assert made.returncode == 0, made.stderr
    assert (in_postgres / CONFIG).stat().st_mode & 0o077 == 0  # it has the password
    init_course_dir(course, in_sqlite)
    for root in (in_postgres, in_sqlite):
        release_modules(course, course.modules[:1], root)
        notebook = Notebook(root / "release" / MODULE / "softmax.ipynb")
        right = notebook.answer(RIGHT)
        hand_in(root, "ana", right.text)
        hand_in(root, "ben", right.write("answer-softmax", NO_MAXIMUM).text)
        hand_in(root, "emil", notebook.text)
    assert attn("grade", in_postgres / "submitted", "--to", "week1", "--store", results.url).returncode == 1
    assert attn("store", "copy", "store:week1", tmp_path / "week1", "--store", results.url).returncode == 0
    # The same sync from the database and from files, into PostgreSQL and into SQLite.
    for source, root in ((["week1", "--store", results.url], in_postgres), ([tmp_path / "week1"], in_sqlite)):
        done = attn("gradebook", "sync", *source, "--nbgrader", root)
        assert (done.returncode, done.stdout.splitlines()[0]) == (0, "3 reports: 3 written"), done.stderr
    again = attn("gradebook", "sync", "week1", "--store", results.url, "--nbgrader", in_postgres)
    assert again.stdout.splitlines()[0] == "3 reports: 3 unchanged"
    scores = database.sql(SCORES)
    assert [student for student, _ in scores] == ["ana", "ben", "emil"]
    assert scores[0][1] == 46.0
    assert 0 < scores[1][1] < 46.0
    assert scores[2][1] == 0.0
    # nbgrader's own commands use it, too. It once fell back to SQLite without a word.
    for root in (in_postgres, in_sqlite):
        assert nbgrader(root, "export").returncode == 0
    assert (in_postgres / "grades.csv").read_text() == (in_sqlite / "grades.csv").read_text()
    database.sql("update grade set auto_score = null")
    shutil.rmtree(in_postgres / "autograded")
    done = nbgrader(in_postgres, "autograde", MODULE)
    assert done.returncode == 0, done.stderr
    assert database.sql(SCORES) == scores
    assert not list((tmp_path / "postgres").rglob("*.db"))
    assert (in_sqlite / "gradebook.db").is_file()
