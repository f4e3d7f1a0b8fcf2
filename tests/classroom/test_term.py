"""A term: two modules, two due dates, one results folder. No order of the work changes a mark."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.instructor import grade as grade_command
from cli.main import attn
from grader.authoring.build import build_module, new_module
from grader.classroom import provenance
from grader.classroom.store.files import FileStore
from grader.classroom.store.store import read_marks
from grader.course.course import Course, read_course
from tests.classroom.term import FINAL, ReportsOnce, Term, finals, random_order

TOTALS = {"ana": "20 of 20; ", "ben": "8 of 20; ", "cy": "10 of 20; 02 is missing", "dee": "9 of 20; 01 is missing"}


@pytest.fixture(scope="module")
def two(built: Course, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course with two small modules."""
    root = Path(shutil.copytree(built.root, tmp_path_factory.mktemp("term") / "course"))
    new_module(read_course(root), "twin", "Twin")
    course = read_course(root)
    build_module(course, course.module("twin"))
    return course


@pytest.fixture(scope="module")
def reports() -> ReportsOnce:
    """One executor for all orders: each submission is really graded, once."""
    return ReportsOnce()


@pytest.fixture
def here(two: Course, reports: ReportsOnce, monkeypatch: pytest.MonkeyPatch) -> ReportsOnce:
    """Make the command `attn grade` of this process take its reports from there."""
    monkeypatch.chdir(two.root)
    monkeypatch.setattr(grade_command, "open_executor", reports.opened)
    monkeypatch.setattr(provenance, "grader_hash", lambda: "the same")  # most of the time of a run
    monkeypatch.setattr(os, "fsync", lambda _: None)
    return reports


def in_this_process(words: Sequence[str]) -> tuple[int, str]:
    done = CliRunner().invoke(attn, list(words))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


def check_order(seed: int, folder: Path, executor: ReportsOnce) -> None:
    """Go through a term in a random order, and compare its class list with the marks that the rules give."""
    term = Term(folder, in_this_process, executor=executor)
    for name, module in random_order(seed):
        term.step(name, module)
    found = read_marks(FileStore(folder / "reports"))
    assert finals(found) == FINAL, term.done


@pytest.mark.parametrize("seed", range(3))
def test_no_order_of_a_term_changes_a_mark(here: ReportsOnce, tmp_path: Path, seed: int) -> None:
    check_order(seed, tmp_path, here)


@pytest.mark.exhaustive
def test_none_of_300_orders_changes_a_mark(here: ReportsOnce, tmp_path: Path) -> None:
    for seed in range(3, 303):
        check_order(seed, tmp_path / str(seed), here)
        shutil.rmtree(tmp_path / str(seed))
