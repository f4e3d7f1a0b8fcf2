"""Fixtures of all tests: this repository's course, and students made from a few lines of source."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from grader.authoring.build import build_module, new_module
from grader.authoring.proof import read_proof
from grader.authoring.soundness import check_module, check_modules
from grader.core.machine import Tier
from grader.core.report import Report
from grader.course.api import read_api
from grader.course.course import Course, read_course
from grader.course.module import Backend
from grader.grading.grade import grade
from grader.grading.workers import Workers
from grader.sandbox.jail.limits import Limits
from grader.sandbox.jail.plan import JailPlan
from grader.sandbox.jail.spawner import Spawner, ZygoteSpawner
from grader.sandbox.jail.tiers import TierAttempt, best, survey
from grader.sandbox.session import PLAIN, Program, Session, SessionOptions
from grader.sandbox.student import Student
from grader.submission.submission import Source, Submission
from tests.postgres import Database, Server, running_server
from tests.quick import TURN, turn

ROOT = Path(__file__).parent.parent
DATA = ROOT / "tests" / "data"

os.environ[TURN] = turn()  # all processes of these tests choose the same samples
os.environ["ATTN_WARM"] = "0"  # tests with a terminal must not leave processes behind

# Short enough for a test that hangs on purpose, long enough for normal code on a slow machine.
LIMITS = Limits(cpu_s=0.5, wall_s=2.0, endings=2)

PROVING_S, POLL_S = 7200, 0.5  # all proofs take minutes: only a hang takes longer

# Right, but the cost of svd is unknown, so the costs of softmax are undecided.
UNDECIDED = """\
import numpy as np


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    np.linalg.svd(np.ones((2, 2)))
    return e / e.sum(axis=axis, keepdims=True)
"""

# Files that take long, the longest first. They begin first, so that no core is left alone with one at the end.
LONGEST = ["test_soundness", "test_types", "test_journey", "test_page", "test_parity", "test_cheats", "test_honest"]
LONGEST += ["test_blocks", "test_class", "test_right_solutions", "test_styles", "test_naming", "test_implementations"]
LONGEST += ["test_pairs", "test_autograde", "test_gradescope", "test_shown_shapes", "test_strict", "test_contained"]
LONGEST += ["test_reproducers", "test_salts"]  # it needs proofs that test_soundness makes
LONGEST += ["test_jail", "test_gpt", "test_sync", "test_submit", "test_layers"]
LONGEST += ["test_results", "test_store", "test_notebooks", "test_grade", "test_explain", "test_bundle_names"]
LONGEST += ["test_suite", "test_trained", "test_marking", "test_site", "test_transformer_on_top", "test_anonymous"]
LONGEST += ["test_dev"]  # it needs all proofs

StudentOf = Callable[..., Student]
GradeSource = Callable[..., Report]


def pytest_report_header() -> str:
    """Say which samples run."""
    return f"samples of the turn {turn()}: {TURN}={turn()} runs them again, also after a change"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first."""
    ranks = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(item.path.stem, len(ranks)))


def write(folder: Path, files: dict[str, str]) -> Path:
    """Write files below a folder, and return it."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@cache
def _survey() -> tuple[TierAttempt, ...]:
    return survey("numpy")


def tier_here() -> Tier:
    """Return the best tier that this machine supports."""
    return best(_survey())


def needs_tier(tier: Tier) -> None:
    """Skip the test if this machine does not support a tier. In CI, fail."""
    problems = [attempt.problem for attempt in _survey() if attempt.plan.tier == tier]
    if not problems or all(problems):
        reason = f"no {tier} jail here: {problems or 'bubblewrap is not installed'}"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)


def needs_jail() -> None:
    """Skip the test if there is no jail, because `attn grade` refuses to run. In CI, fail."""
    if tier_here() == "none":
        reason = "there is no jail here, so `attn grade` refuses to run"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)


@cache
def shared_workers(backend: Backend) -> Workers:
    """Workers for all tests of this process: a zygote with PyTorch takes two seconds to start."""
    return Workers(backend, None, None, alone=False)


@pytest.fixture(scope="session", autouse=True)
def _end_shared_workers() -> Iterator[None]:
    yield
    end_shared_workers()


def end_shared_workers() -> None:
    """End the zygotes of this process that tests have shared."""
    backends: tuple[Backend, ...] = ("numpy", "torch")
    for backend in backends:
        shared_workers(backend).close()
    shared_workers.cache_clear()


def prove_once(*names: str) -> None:
    """Prove modules of this repository's course, unless a test of this or another process has done so.

    One process proves at a time. The others wait only until the proofs that they need are there.
    """
    course = read_course(ROOT)
    modules = [course.module(name) for name in names]
    folder = ROOT / ".attnlab"
    folder.mkdir(exist_ok=True)
    deadline = time.monotonic() + PROVING_S
    with (folder / "proving").open("w") as lock:
        while any(read_proof(course, module) is None for module in modules):
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                assert time.monotonic() < deadline, f"{', '.join(names)}: another process is still proving"
                time.sleep(POLL_S)
            else:
                check_modules(course, modules)
                return


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A real PostgreSQL server that runs as long as the tests; skip if there is none."""
    yield from running_server()


@pytest.fixture
def database(server: Server) -> Database:
    """An empty database."""
    return server.new_database()


@pytest.fixture(scope="session")
def course() -> Course:
    """The course in this repository."""
    return read_course(ROOT)


@pytest.fixture
def course_copy(tmp_path: Path) -> Course:
    """A copy of this repository's course that a test may break."""
    for name in ("modules", "solutions", "tests/hidden"):
        shutil.copytree(ROOT / name, tmp_path / "course" / name, ignore=shutil.ignore_patterns("__pycache__"))
    return read_course(tmp_path / "course")


class _Spawners(dict[Backend, Spawner]):
    """The spawner of each backend, opened when it is first asked for."""

    def __missing__(self, backend: Backend) -> Spawner:
        return shared_workers(backend).spawner


@pytest.fixture(scope="session")
def spawners() -> dict[Backend, Spawner]:
    """One zygote for each backend, shared by all tests."""
    return _Spawners()


@pytest.fixture
def unjailed() -> Iterator[Spawner]:
    """A zygote whose workers are not jailed, for tests that a jail would block."""
    with ZygoteSpawner(JailPlan("numpy")) as spawner:
        yield spawner


@pytest.fixture
def student_of(spawners: dict[Backend, Spawner]) -> Iterator[StudentOf]:
    """Make a Student from source text. Its worker ends with the test."""
    sessions: list[Session] = []

    def make(
        source: str,
        backend: Backend = "numpy",
        limits: Limits = LIMITS,
        mylab: dict[str, str] | None = None,
        options: SessionOptions = PLAIN,
    ) -> Student:
        texts = {"work": source, **(mylab or {})}
        files = {
            slug: {"file": f"{slug}.py", "cells": [text.encode()], "notebook": False} for slug, text in texts.items()
        }
        api = read_api(source)
        session = Session(spawners[backend], Program(files, "work", api.names), limits, options)
        sessions.append(session)
        assert session.load().errors == ()
        return Student(session, api)

    yield make
    for session in sessions:
        session.close()


@pytest.fixture
def grade_source(course: Course) -> GradeSource:
    """Grade source text as a submission for 01_softmax."""

    def run(source: str, limits: Limits = LIMITS) -> Report:
        reports: list[Report] = []
        submission = Submission("ana", "01_softmax", "softmax.py", {"softmax": Source("softmax.py", (source,), False)})
        grade(course, course.module("01_softmax"), [submission], reports.append, limits, allow_unjailed=True)
        (report,) = reports
        return report

    return run


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course with one small sound module, as `attn dev new tiny` makes it."""
    root = tmp_path_factory.mktemp("tiny")
    new_module(Course(root, ()), "tiny", "Tiny")
    course = read_course(root)
    build_module(course, course.modules[0])
    assert check_module(course, course.modules[0]).problems == ()
    return course


@pytest.fixture
def tiny(built: Course, tmp_path: Path) -> Course:
    """A copy of the small course that a test may break."""
    return read_course(shutil.copytree(built.root, tmp_path / "tiny"))
