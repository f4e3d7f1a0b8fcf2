"""What the jail costs: a worker's start, a call, and a class, each beside the same thing without it in the same run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from unittest import mock

import numpy as np

from grader.api import read_api
from grader.course import Course
from grader.grading import grade
from grader.module import Backend
from grader.report import Report
from grader.sandbox.client import Program, Session
from grader.sandbox.limits import Limits
from grader.sandbox.plan import Plan
from grader.sandbox.spawn import ColdSpawner, Spawner, ZygoteSpawner
from grader.sandbox.tiers import open_spawner
from grader.student import Student
from grader.submission import Submission

SOURCE = "def f(x):\n    return x + 1\n"
API = read_api(SOURCE)
FEWEST = {"numpy": 10.0, "torch": 30.0}  # how many times quicker a warm worker has to be than a cold process
MOST = 1.3  # how many times slower a class may be graded in the jail than without


def session_on(spawner: Spawner) -> Session:
    files = {"work": {"file": "work.py", "cells": [SOURCE.encode()], "notebook": False}}
    return Session(spawner, Program(files, "work", API.names), Limits())


def first_answers(spawner: Spawner, times: int) -> list[float]:
    """Return the seconds from asking for a worker to its first answer."""
    session = session_on(spawner)
    student = Student(session, API)
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        assert student.f(1) == 2
        seconds.append(time.perf_counter() - started)
        session.close()
    return seconds


def print_spawning(backend: Backend) -> bool:
    """Print what a warm worker costs beside a cold process; False if it is not enough quicker."""
    with open_spawner(backend) as warm, ColdSpawner(backend) as cold:
        first_answers(warm, 3)  # the zygote has its imports behind it
        quick = statistics.median(first_answers(warm, 40))
        slow = statistics.median(first_answers(cold, 5))
        tier = warm.tier
    enough = slow / quick >= FEWEST[backend]
    print(f"  {backend}, {tier}: warm {quick * 1000:.1f} ms, cold {slow * 1000:.0f} ms: {slow / quick:.0f} x", end="")
    print(f" (at least {FEWEST[backend]:g})")
    return enough


def print_calls() -> None:
    """Print what a call adds to the same call made in this process."""
    with open_spawner("numpy") as spawner:
        session = session_on(spawner)
        student = Student(session, API)
        for name, x in (("3 numbers", np.ones(3)), ("512 KiB", np.ones(1 << 16))):
            far = _each(partial(student.f, x), 300)
            near = _each(partial(np.add, x, 1), 300)
            print(
                f"  a call with {name}: {far * 1e6:.0f} µs over the wire, {near * 1e6:.1f} µs here: {far / near:.0f} x"
            )
        session.close()


def print_class(course: Course, submissions: list[Submission]) -> bool:
    """Print what a class costs in the jail beside the same without; False if it costs too much more."""

    def unjailed(backend: Backend) -> ZygoteSpawner:
        return ZygoteSpawner(Plan(backend))

    seconds: dict[str, list[float]] = {"jailed": [], "unjailed": []}
    for _ in range(3):  # by turns, so that a busy moment hits both
        for name, spawning in (("jailed", open_spawner), ("unjailed", unjailed)):
            reports: list[Report] = []
            with mock.patch("grader.grading.open_spawner", spawning):
                started = time.perf_counter()
                grade(course, course.modules[0], submissions, reports.append, allow_unjailed=True)
                seconds[name].append(time.perf_counter() - started)
    jailed, bare = (min(values) / len(submissions) for values in seconds.values())
    print(f"  {len(submissions)} submissions: {jailed * 1000:.1f} ms each in the jail ({reports[0].module}),", end="")
    print(f" {bare * 1000:.1f} ms without: {jailed / bare:.2f} x (at most {MOST:g})")
    return jailed / bare <= MOST


def _each(action: Callable[[], object], times: int) -> float:
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)
