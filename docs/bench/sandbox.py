"""The cost of the jail: the start of a worker, a call, and a class, each compared with the same without a jail."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np

from docs.bench.command import timed
from docs.bench.engine import class_of
from docs.bench.row import Limit, Row, costs
from grader.core.report import Report
from grader.course.api import read_api
from grader.course.course import read_course
from grader.course.module import Backend
from grader.grading.grade import grade
from grader.sandbox.jail.cold_spawner import ColdSpawner
from grader.sandbox.jail.limits import Limits
from grader.sandbox.jail.plan import JailPlan
from grader.sandbox.jail.spawner import Spawner, ZygoteSpawner
from grader.sandbox.jail.tiers import open_spawner
from grader.sandbox.session import Program, Session
from grader.sandbox.student import Student

ROOT = Path(__file__).parent.parent.parent
PART = "the jail"
CLASS = 50
SOURCE = "def f(x):\n    return x + 1\n"
API = read_api(SOURCE)
FEWEST = {"numpy": 10.0, "torch": 30.0}  # a warm worker must be at least this many times faster than a cold process
MOST = 1.3  # grading a class in the jail may take at most this many times as long


def jail() -> Iterator[Row]:
    """Yield the costs of spawning, of calls and of a class."""
    yield spawning("numpy")
    yield spawning("torch")
    yield from calls()
    yield a_class()


def session_on(spawner: Spawner) -> Session:
    files = {"work": {"file": "work.py", "cells": [SOURCE.encode()], "notebook": False}}
    return Session(spawner, Program(files, "work", API.names), Limits())


def first_answers(spawner: Spawner, times: int) -> list[float]:
    """Return the seconds from the request for a worker to its first answer."""
    session = session_on(spawner)
    student = Student(session, API)
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        assert student.f(1) == 2
        seconds.append(time.perf_counter() - started)
        session.close()
    return seconds


def spawning(backend: Backend) -> Row:
    """Return how many times faster a warm worker is than a cold process."""
    with open_spawner(backend) as warm, ColdSpawner(backend) as cold:
        first_answers(warm, 3)  # the zygote has its imports behind it
        quick = statistics.median(first_answers(warm, 40))
        slow = statistics.median(first_answers(cold, 5))
    limit = Limit(least=FEWEST[backend])
    return Row(PART, f"a warm worker, {backend}", quick, "a cold process", slow, slow / quick, "s", limit)


def calls() -> Iterator[Row]:
    """Yield the cost of a call, compared with the same call in this process."""
    with open_spawner("numpy") as spawner:
        session = session_on(spawner)
        student = Student(session, API)
        for name, x in (("3 numbers", np.ones(3)), ("512 KiB", np.ones(1 << 16))):
            far = _each(partial(student.f, x), 300)
            yield costs(PART, f"a call with {name}", far, ("in this process", _each(partial(np.add, x, 1), 300)))
        session.close()


def a_class() -> Row:
    """Return the cost of a class in the jail, compared with the same without a jail."""
    course = read_course(ROOT)
    submissions = class_of(course, CLASS)
    seconds: dict[str, list[float]] = {"jailed": [], "unjailed": []}
    for _ in range(3):  # they take turns, so that a busy moment affects both
        for name, opened in (("jailed", open_spawner), ("unjailed", _unjailed)):
            reports: list[Report] = []
            with mock.patch("grader.grading.workers.open_spawner", opened):
                run = partial(grade, course, course.modules[0], submissions, reports.append, allow_unjailed=True)
                seconds[name].append(timed(run) / CLASS)
            assert (name == "unjailed") == (reports[0].sandbox == "none"), "nothing was compared"
    jailed, bare = map(min, seconds.values())
    return costs(PART, f"each of {CLASS} submissions", jailed, ("without a jail", bare), most=MOST)


def _unjailed(backend: Backend) -> ZygoteSpawner:
    return ZygoteSpawner(JailPlan(backend))


def _each(action: Callable[[], object], times: int) -> float:
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)
