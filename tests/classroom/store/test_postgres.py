"""What only a database can do: a server that goes away, several graders at once, migrations, URLs with passwords."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from grader.classroom.journal import ReportKey
from grader.classroom.results import Results
from grader.classroom.store import StoreError
from grader.classroom.store.connection import Connection, read_url
from grader.classroom.store.opening import open_store
from grader.classroom.store.store import SavedMarksError, read_earlier_marks, read_marks
from grader.classroom.store.tables import (
    FOLDER,
    migrate,
    migrate_database,
    migrations,
    read_catalog,
    require_version,
    version_of,
)
from tests.classroom.store.made import MODULE, grade, provenance, report, settle
from tests.conftest import ROOT
from tests.postgres import PASSWORD, USER, Database
from tests.waiting import LIMIT

STUDENTS = [f"s{number:02}" for number in range(20)]


def in_parallel(*works: Callable[[], None]) -> None:
    """Run some work at once, and raise what any of it raised."""
    problems: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - it is raised again below
            problems.append(error)

    threads = [threading.Thread(target=run, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


def test_a_server_that_restarts_loses_and_doubles_nothing(database: Database) -> None:
    said: list[str] = []
    store = open_store(database.url, "reports", tell=said.append)
    with Results(store) as results:
        for number, student in enumerate(STUDENTS):
            if number in (3, 11):
                database.server.restart()
            results.write(ReportKey(MODULE, student), report(student), provenance())
        database.server.restart()
        keys = [ReportKey(MODULE, student) for student in STUDENTS]
        results.writer.atomically(lambda: settle(results, keys, dict.fromkeys(STUDENTS, 8.0)), alone=True)
    database.server.restart()
    assert [one.id for one in read_marks(store)] == STUDENTS
    assert database.sql("select student from report order by student") == [(student,) for student in STUDENTS]
    lost, again = said[:2]
    assert "does not answer. Trying again for 120 s" in lost
    assert again.endswith("answers again")
    assert not any(PASSWORD in text for text in said)


def test_steps_that_belong_together_are_made_again_together(database: Database) -> None:
    store = open_store(database.url, "reports")
    tries = []
    with Results(store) as results:
        grade(results, {"ana": 8.0, "ben": 8.0})

        def work() -> None:
            results.write(ReportKey(MODULE, "ana"), report("ana", 1.0), provenance())
            tries.append(1)
            if len(tries) == 1:
                assert database.sql("select content ->> 'score' from report where student = 'ana'") == [("8.0",)]
                database.server.restart()
            results.write(ReportKey(MODULE, "ben"), report("ben", 1.0), provenance())

        results.writer.atomically(work, alone=True)
    assert len(tries) == 2
    assert database.sql("select content ->> 'score', count(*) from report group by 1") == [("1.0", 2)]


def test_a_server_that_stays_away_is_an_error_in_words(database: Database) -> None:
    said: list[str] = []
    connection = Connection(read_url(database.url), said.append, wait_s=0.0)
    connection.run(lambda made: made.execute("select 1"))
    database.server.stop()
    try:
        with pytest.raises(StoreError, match="has not answered for 0 s") as caught:
            connection.run(lambda made: made.execute("select 1"))
    finally:
        database.server.start()
    assert PASSWORD not in str(caught.value)
    assert len(said) == 1


def test_a_request_that_a_running_server_refuses_is_not_tried_again(database: Database) -> None:
    """psycopg calls it an OperationalError, as it does a lost connection. A full disk is such an error, too."""
    said: list[str] = []
    connection = Connection(read_url(database.url), said.append)

    def slow(made: Any) -> None:
        made.execute("set local statement_timeout = '10ms'")
        made.execute("select pg_sleep(60)")

    with pytest.raises(StoreError, match="refused a request: canceling statement due to statement timeout"):
        connection.run(slow)
    assert said == []
    assert connection.run(lambda made: made.execute("select 1").fetchone()) == (1,)


def test_two_graders_share_a_round_and_one_class_list(database: Database) -> None:
    with Results(open_store(database.url, "reports")) as results:
        grade(results, dict.fromkeys(STUDENTS, 5.0))
    half = len(STUDENTS) // 2
    both_write = threading.Barrier(2, timeout=LIMIT)

    def part(students: list[str]) -> Callable[[], None]:
        def work() -> None:
            with Results(open_store(database.url, "reports")) as results:
                grade(results, dict.fromkeys(students[:1], 8.0), finish=False)
                both_write.wait()
                grade(results, dict.fromkeys(students, 8.0))

        return work

    in_parallel(part(STUDENTS[:half]), part(STUDENTS[half:]))
    store = open_store(database.url, "reports")
    assert [(one.id, one.final) for one in read_marks(store)] == [(student, 8.0) for student in STUDENTS]
    assert [one.final for one in read_earlier_marks(store)] == [5.0] * len(STUDENTS)  # of the round before
    rows = database.sql("select student, earlier ->> 'score' from report order by student")
    assert rows == [(student, "5.0") for student in STUDENTS]


def test_two_graders_of_the_same_work_write_it_once(database: Database) -> None:
    def work() -> None:
        with Results(open_store(database.url, "reports")) as results:
            grade(results, dict.fromkeys(STUDENTS, 8.0))

    in_parallel(work, work, work)
    assert database.sql("select count(*), count(distinct student), count(mark) from report") == [(20, 20, 20)]
    assert len(read_marks(open_store(database.url, "reports"))) == 20


def test_while_one_of_two_graders_runs_there_is_no_class_list(database: Database) -> None:
    store = open_store(database.url, "reports")
    with Results(open_store(database.url, "reports")) as slow:
        grade(slow, {"ana": 8.0}, finish=False)
        with Results(store) as fast:
            grade(fast, {"ben": 8.0})
            assert fast.writer.unmarked() == [f"{MODULE}/ana"]
        slow.write(ReportKey(MODULE, "cy"), report("cy"), provenance())
        with pytest.raises(SavedMarksError, match="did not finish"):
            read_marks(store)
        grade(slow, {"ana": 8.0, "cy": 8.0})
    assert [one.id for one in read_marks(store)] == ["ana", "ben", "cy"]


def test_classes_in_one_database_are_apart(database: Database) -> None:
    for name, score in (("week1", 8.0), ("week2", 9.0)):
        with Results(open_store(database.url, name)) as results:
            grade(results, {"ana": score})
    assert [one.final for one in read_marks(open_store(database.url, "week1"))] == [8.0]
    assert [one.final for one in read_marks(open_store(database.url, "./week2/"))] == [9.0]
    assert read_catalog(read_url(database.url)).classes == ("week1", "week2")
    assert database.sql("select class, id, final from grade order by class") == [
        ("week1", "ana", 8.0),
        ("week2", "ana", 9.0),
    ]


def test_reading_makes_no_tables(database: Database) -> None:
    assert not open_store(database.url, "reports").is_begun
    assert read_catalog(read_url(database.url)).version == 0
    assert database.sql("select to_regclass('report')") == [(None,)]


def test_graders_that_begin_at_once_make_the_tables_once(database: Database) -> None:
    in_parallel(*[lambda: open_store(database.url, "reports").open().close()] * 4)
    versions = database.sql("select version, name from attn_migration order by version")
    assert versions == [(one.version, one.name) for one in migrations()]
    assert database.sql("select name from class") == [("reports",)]
    assert migrate_database(read_url(database.url)) == []


def test_a_grader_never_sees_half_of_the_tables(database: Database, tmp_path: Path) -> None:
    """The second step waits for a lock that this test holds, so that the look in between is no matter of luck."""
    (tmp_path / "0001_first.sql").write_text("create table first (x integer)")
    (tmp_path / "0002_second.sql").write_text("select pg_advisory_xact_lock(7)")
    waiting = "select count(*) from pg_locks where locktype = 'advisory' and not granted"
    with psycopg.connect(database.url, autocommit=True) as ours, psycopg.connect(database.url, autocommit=True) as its:
        ours.execute("select pg_advisory_lock(7)")
        maker = threading.Thread(target=migrate, args=[its, tmp_path])
        maker.start()
        while database.sql(waiting) == [(0,)]:
            assert maker.is_alive()
        between = version_of(ours)
        ours.execute("select pg_advisory_unlock(7)")
        maker.join()
        assert (between, version_of(ours)) == (0, 2)


def test_migrations_change_old_tables_and_keep_what_is_in_them(database: Database, tmp_path: Path) -> None:
    old, newer = tmp_path / "old", tmp_path / "newer"
    old.mkdir()
    shutil.copy(FOLDER / "0001_results.sql", old)
    shutil.copytree(FOLDER, newer)
    (newer / f"{len(migrations()) + 1:04}_notes.sql").write_text("alter table report add column note text default 'x'")
    with psycopg.connect(database.url, autocommit=True) as connection:
        assert migrate(connection, old) == ["0001_results"]
        connection.execute("insert into class (name) values ('reports')")
        with pytest.raises(StoreError, match=r"of version 1, and this AttnLab needs .* attn store migrate"):
            require_version(connection, "here")
        with pytest.raises(StoreError, match="attn store migrate"):
            open_store(database.url, "reports").open()
        assert migrate_database(read_url(database.url)) == [one.name for one in migrations()[1:]]
        with Results(open_store(database.url, "reports")) as results:
            grade(results, {"ana": 8.0})
        assert migrate(connection, newer) == [f"{len(migrations()) + 1:04}_notes"]
        assert connection.execute("select student, note from report").fetchall() == [("ana", "x")]
    with pytest.raises(StoreError, match=r"knows only .* same AttnLab on all machines"):
        read_marks(open_store(database.url, "reports"))


def test_a_migration_that_fails_changes_nothing(database: Database, tmp_path: Path) -> None:
    (tmp_path / "0001_good.sql").write_text("create table one ()")
    (tmp_path / "0002_bad.sql").write_text("create table two (); create table one ()")
    with psycopg.connect(database.url, autocommit=True) as connection:
        with pytest.raises(psycopg.Error):
            migrate(connection, tmp_path)
        assert version_of(connection) == 0
        assert connection.execute("select to_regclass('one'), to_regclass('two')").fetchone() == (None, None)
    (tmp_path / "0004_gap.sql").write_text("")
    migrations.cache_clear()
    with pytest.raises(StoreError, match="not numbered one by one"):
        migrations(tmp_path)


@pytest.mark.parametrize(
    "url",
    [
        "mysql://grader:secret@db/attention",
        "postgresql+psycopg2://grader:secret@db/attention",
        "grader:secret@db",
        "postgresql://grader:sec@ret@db/attention",
        "postgresql://grader:secret/1@db/attention",
        "postgresql://grader:secret@db/attention?secret=1",
        "postgresql://grader:secret@db:port/attention",
    ],
)
def test_a_wrong_url_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(StoreError) as caught:
        read_url(url)
    assert "sec" not in str(caught.value)
    assert "ret" not in str(caught.value)


def test_a_url_is_shown_without_its_password(database: Database) -> None:
    url = read_url("postgresql://grader:se%2Fcret@db:5433/attention?sslmode=require")
    assert url.shown == "postgresql://grader@db:5433/attention"
    assert "se" not in repr(url).partition("shown")[0]
    assert url.hide("no se/cret here") == "no *** here"
    wrong = database.url.replace(f"{USER}:", f"{USER}:wrong-")
    with pytest.raises(StoreError, match=r"cannot be opened: .*password authentication failed") as caught:
        open_store(wrong, "reports").open()
    assert PASSWORD not in str(caught.value)
    assert "wrong-" not in str(caught.value)
    with pytest.raises(StoreError, match="cannot be opened"):
        open_store(database.url.replace(f"/{database.name}?", "/nowhere?"), "reports").open()


def test_a_folder_needs_no_package_for_databases() -> None:
    code = """import sys
sys.modules["psycopg"] = None
import cli.instructor.grade, cli.instructor.stats, cli.instructor.store
from grader.classroom.store import StoreError
from grader.classroom.store.opening import open_store
try:
    open_store("postgresql://db/attention", "reports")
except (StoreError, ValueError) as error:
    print(error)"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "attnlab[postgres]" in done.stdout
