"""The calls of checks are made again: what they call is seen, and code that ends its process there is not trusted."""

from __future__ import annotations

import numpy as np
import pytest

from grader.complexity.watched_checks import WatchedCalls, calls_in_checks
from grader.course.module import Backend
from grader.sandbox.jail.spawner import Spawner
from grader.sandbox.session import Program, RecordedRequest, Session
from tests.conftest import LIMITS

HONEST = "def f(a, b):\n    return sum(x * y for x, y in zip(a, b))\n"
BY_SHAPE = "def f(a, b):\n    return a @ b if a.dtype == 'float32' else sum(x * y for x, y in zip(a, b))\n"
ENDS = """
import os, sys

def f(a, b):
    if 'grader.sandbox.worker.watched_checks' in sys.modules:
        os._exit(0)
    return a @ b
"""
LIES = """
import grader.sandbox.worker.worker as w

def f(a, b):
    w.Worker._watch = lambda *_: [3]
    return a @ b
"""


def watched(spawner: Spawner, source: str) -> WatchedCalls:
    files = {"f": {"file": "f.py", "cells": [source.encode()], "notebook": False}}
    session = Session(spawner, Program(files, "f", ("f",)), LIMITS)
    try:
        recorded: list[RecordedRequest] = []
        session.recorded = recorded
        for kind in ("float64", "float32"):
            pair = [np.ones(3, kind), np.ones(3, kind)]
            message = {"op": "call", "ref": [0, ["f"]], "calls": [[pair, {}]], "inputs": False}
            session.request(message, "f", "f")
        session.close()
        session.recorded, session.loading = None, "metered"
        if source is LIES:
            session.request(recorded[0].message, "f", "f")
        return calls_in_checks(session, recorded, 0)
    finally:
        session.close()


@pytest.mark.parametrize(("source", "names"), [(HONEST, set()), (BY_SHAPE, {"@"})], ids=["honest", "by dtype"])
def test_what_checks_call_is_seen(spawners: dict[Backend, Spawner], source: str, names: set[str]) -> None:
    found = watched(spawners["numpy"], source)
    assert (found.names["f"], found.complete) == (names, True)


@pytest.mark.parametrize("source", [ENDS, LIES], ids=["ends", "lies"])
def test_code_that_cannot_be_watched_is_noticed(spawners: dict[Backend, Spawner], source: str) -> None:
    assert not watched(spawners["numpy"], source).complete
