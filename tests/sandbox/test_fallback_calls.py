"""What a fallback calls is the course's doing: it is not noted as a call of the student's."""

from __future__ import annotations

import pytest
import torch

from grader.course.module import Backend
from grader.sandbox.jail.limits import Limits
from grader.sandbox.jail.spawner import Spawner
from grader.sandbox.protocol.script import GIVEN, Script, ScriptCall
from grader.sandbox.session import PLAIN, Program, Session, SessionOptions

READY_MADE = "import torch.nn.functional as F\n\n\ndef attend(q):\n    return F.scaled_dot_product_attention(q, q, q)\n"
TOP = "from mylab.earlier import attend\n\n\ndef top(q):\n    return attend(q)\n"
OWN = f"import torch\n{TOP}".replace("attend(q)", "attend(torch.nn.functional.scaled_dot_product_attention(q, q, q))")
NAME = "torch.scaled_dot_product_attention"


def session_of(spawner: Spawner, top: str, file: str, *, given: bool, options: SessionOptions = PLAIN) -> Session:
    earlier = {"file": file, "cells": [READY_MADE.encode()], "notebook": False} | ({"given": True} if given else {})
    files = {"top": {"file": "top.py", "cells": [top.encode()], "notebook": False}, "earlier": earlier}
    return Session(spawner, Program(files, "top", ("top",)), Limits(cpu_s=20.0), options)


@pytest.mark.parametrize(("top", "given", "noted"), [(TOP, False, True), (TOP, True, False), (OWN, True, True)])
def test_calls_in_checks_and_with_meters(spawners: dict[Backend, Spawner], top: str, given: bool, noted: bool) -> None:
    q = torch.ones(1, 2, 3)
    checked = session_of(
        spawners["torch"], top, "fallback.py of 02_top", given=given, options=SessionOptions(named=True)
    )
    checked.request({"op": "call", "ref": [0, ["top"]], "calls": [[[q], {}]], "inputs": False}, "top", "top")
    checked.close()
    assert (NAME in checked.record.calls.called.get("top", set())) == noted
    measured = session_of(
        spawners["torch"], top, "fallback.py of 02_top", given=given, options=SessionOptions(loading="metered")
    )
    script = Script({}, (), ScriptCall(("top",), ((GIVEN, q),)))
    message = {"op": "measure", "main": "top", "path": ["top"], "calls": [script.data]}
    answer = measured.request(message, "top", "top")
    measured.close()
    assert any("scaled_dot_product" in name for name in answer["calls"][0]["events"]) == noted


def test_only_the_students_files_are_audited(spawners: dict[Backend, Spawner]) -> None:
    session = session_of(spawners["torch"], TOP, "fallback.py of 02_top", given=True)
    assert list(session.program.own_files) == ["top"]
