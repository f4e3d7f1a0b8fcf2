"""The calls of checks are made again: what they call is seen, and code that ends its process there is not trusted."""

from __future__ import annotations

import numpy as np
import pytest

from grader.complexity.cost import CodeLine
from grader.complexity.measurer import definition
from grader.complexity.watched_checks import WatchedCalls, calls_in_checks, named_in_checks
from grader.core.errors import StudentEndedError
from grader.course.module import Backend
from grader.sandbox.jail.spawner import Spawner
from grader.sandbox.session import Program, Session, SessionOptions
from tests.conftest import LIMITS

HONEST = "def f(a, b):\n    return sum(x * y for x, y in zip(a, b))\n"
BY_SHAPE = "def f(a, b):\n    return a @ b if a.dtype == 'float32' else sum(x * y for x, y in zip(a, b))\n"
ENDS = """
import os

def f(a, b):
    if 'attn_meter' in globals():
        os._exit(0)
    return a @ b
"""
LIES = """
import grader.sandbox.worker.worker as w

def f(a, b):
    w.OPERATIONS['watch'] = lambda *_: [3]
    return a @ b
"""


def watched(spawner: Spawner, source: str) -> WatchedCalls:
    files = {"f": {"file": "f.py", "cells": [source.encode()], "notebook": False}}
    session = Session(spawner, Program(files, "f", ("f",)), LIMITS, SessionOptions(recorded=True))
    recorded = session.record.requests
    try:
        with session.checking("a_check"):
            for kind in ("float64", "float32"):
                pair = [np.ones(3, kind), np.ones(3, kind)]
                message = {"op": "call", "ref": [0, ["f"]], "calls": [[pair, {}]], "inputs": False}
                session.request(message, "f", "f")
        with session.worker.metered(returning=False):
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


BUILT_IN = """
import torch

def f(q):
    return torch.nn.functional.scaled_dot_product_attention(q, q, q) if q.shape[0] == 3 else q.softmax(-1)
"""
NO_NAMES = """
import torch
from grader.sandbox.worker.meters.torch_names import TorchNames

TorchNames.__torch_function__ = lambda self, *_: self.names.update({7: None})

def f(q):
    return q.softmax(-1)
"""


def named(spawner: Spawner, source: str, *, wanted: bool = True) -> WatchedCalls:
    import torch

    files = {"f": {"file": "f.py", "cells": [source.encode()], "notebook": False}}
    session = Session(spawner, Program(files, "f", ("f",)), LIMITS, SessionOptions(named=wanted))
    try:
        for size in (2, 3):
            calls = [[[torch.ones(size, 4)], {}]]
            session.request({"op": "call", "ref": [0, ["f"]], "calls": calls, "inputs": False}, "f", "f")
        return named_in_checks(session)
    finally:
        session.close()


def test_torch_functions_are_named_in_the_checks_themselves(spawners: dict[Backend, Spawner]) -> None:
    found = named(spawners["torch"], BUILT_IN).names["f"]
    assert "torch.scaled_dot_product_attention" in found
    assert found <= {"torch.scaled_dot_product_attention", "torch.softmax"}
    assert named(spawners["torch"], BUILT_IN, wanted=False).names == {}


def test_names_that_are_no_text_end_the_worker(spawners: dict[Backend, Spawner]) -> None:
    with pytest.raises(StudentEndedError):
        named(spawners["torch"], NO_NAMES)


@pytest.mark.parametrize(("notebook", "file"), [(False, "f.py"), (True, "f.py[2]")])
def test_a_definition_is_found_by_its_line(notebook: bool, file: str) -> None:
    cells = [b"import math\n", HONEST.replace("def f(", "\n\ndef f(").encode()]
    files = {"f": {"file": "f.py", "cells": cells if notebook else cells[1:], "notebook": notebook}}
    assert definition(files, "f") == CodeLine(file, 3)
    assert definition(files, "other") == CodeLine("", 1)
