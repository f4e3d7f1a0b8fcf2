"""A term: two modules, two due dates, one results folder. No order of the work changes a mark."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.instructor import grade as grade_command
from cli.main import attn
from grader.authoring.build import build_module, new_module
from grader.classroom import provenance
from grader.classroom.store.files import FileStore
from grader.classroom.store.opening import open_store
from grader.classroom.store.store import read_marks
from grader.course.course import Course, read_course
from tests.classroom.term import ReportsOnce, Term, expected, finals, random_order, totals
from tests.cli.conftest import run_attn
from tests.postgres import Database
from tests.quick import sampled


@pytest.fixture(scope="module")
def two(built: Course, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course with two modules; the second is a copy of the first with other names."""
    root = Path(shutil.copytree(built.root, tmp_path_factory.mktemp("term") / "course"))
    new_module(read_course(root), "twin", "Twin")
    return read_course(root)


@pytest.fixture(scope="module")
def both_built(two: Course) -> Course:
    """The same, so that submissions can really be graded."""
    build_module(two, two.module("twin"))
    return two


@pytest.fixture
def here(two: Course, monkeypatch: pytest.MonkeyPatch) -> Callable[[ReportsOnce], ReportsOnce]:
    """Make the command `attn grade` of this process take its reports from an executor."""

    def use(executor: ReportsOnce) -> ReportsOnce:
        monkeypatch.chdir(two.root)
        monkeypatch.setattr(grade_command, "open_executor", executor.opened)
        monkeypatch.setattr(provenance, "grader_hash", lambda: "the same")  # most of the time of a run
        monkeypatch.setattr(os, "fsync", lambda _: None)
        return executor

    return use


def in_this_process(words: Sequence[str]) -> tuple[int, str]:
    done = CliRunner().invoke(attn, list(words))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


def go_through(seed: int, term: Term) -> None:
    """Go through a term in a random order."""
    for name, module in random_order(seed):
        term.step(name, module)


def check_order(seed: int, folder: Path, executor: ReportsOnce) -> None:
    """Compare the class list after a term with the marks that the rules give."""
    term = Term(folder, in_this_process, executor=executor)
    go_through(seed, term)
    found = read_marks(FileStore(folder / "reports"))
    assert finals(found) == expected(term.late_fix, term.extended), term.done


Here = Callable[[ReportsOnce], ReportsOnce]


@pytest.mark.parametrize("seed", range(2))
def test_no_order_of_a_term_changes_a_mark(here: Here, tmp_path: Path, seed: int) -> None:
    check_order(seed, tmp_path, here(ReportsOnce(real=False)))


@pytest.mark.exhaustive
@pytest.mark.usefixtures("both_built")
@pytest.mark.parametrize("first", sampled(range(100, 400, 50), 6))  # all 300 with `make test-every`
def test_none_of_300_orders_changes_a_mark(here: Here, tmp_path: Path, first: int) -> None:
    executor = here(ReportsOnce())
    for seed in range(first, first + 50):
        check_order(seed, tmp_path / str(seed), executor)
        shutil.rmtree(tmp_path / str(seed))
    assert executor.graded <= 18  # each submission once for each version of the other week that it was graded beside


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", [1, 2])
def test_no_order_changes_a_mark_in_a_database(here: Here, tmp_path: Path, database: Database, seed: int) -> None:
    url = ("--store", database.url)
    term = Term(tmp_path, in_this_process, store=url, executor=here(ReportsOnce(real=False)))
    go_through(seed, term)
    found = read_marks(open_store(database.url, "reports"))
    assert finals(found) == expected(term.late_fix, term.extended), term.done


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", [3, 4])
def test_no_order_changes_a_mark_with_real_processes(both_built: Course, tmp_path: Path, seed: int) -> None:
    def attn_there(words: Sequence[str]) -> tuple[int, str]:
        done = run_attn(*words, cwd=both_built.root)
        return done.returncode, done.stdout + done.stderr

    term = Term(tmp_path, attn_there)
    go_through(seed, term)
    assert finals(read_marks(FileStore(tmp_path / "reports"))) == expected(term.late_fix, term.extended), term.done
    table = tmp_path / "class.csv"
    done = run_attn("export", "csv", tmp_path / "reports", "--out", table, cwd=both_built.root)
    assert done.returncode == 0, done.stderr
    found = totals(table.read_text())
    assert found["cy"].endswith(" of 20; 02 is missing")
    assert found["dee"].endswith(" of 20; 01 is missing")
