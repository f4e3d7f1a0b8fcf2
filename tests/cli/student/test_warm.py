"""The keeper of `attn test`: the same answers, from a process that stays."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cli.student.warm import VARIABLE, Answer, address_of, ask, is_wanted, start
from grader.course.course import read_course
from tests.cli.conftest import EXECUTABLE
from tests.conftest import ROOT
from tests.waiting import wait_until

MODULE = "05_torch_attention"
STARTS = 5


@pytest.fixture
def own(bundle: Path) -> Path:
    """A student's file of a torch module. It is right."""
    path = bundle / "modules" / MODULE / "torch_attention.py"
    shutil.copyfile(ROOT / "solutions" / MODULE / path.name, path)
    return path


def answered(bundle: Path) -> Answer:
    """Ask until a keeper has started. On a starved machine one may give up: then the next command starts another."""
    course = read_course(bundle)
    module = course.module(MODULE)

    def answer() -> Answer | None:
        found = ask(course, module, everything=False)
        return found if isinstance(found, Answer) else None

    for _ in range(STARTS):
        with contextlib.suppress(TimeoutError):
            found = wait_until("the answer of a keeper", answer, pause=0.2)
            assert found is not None
            return found
        start(course, module)
    raise AssertionError("no keeper answers")


@pytest.mark.exhaustive  # two starts of PyTorch
def test_a_keeper_answers_as_a_new_process_does_until_a_file_of_the_course_changes(bundle: Path, own: Path) -> None:
    command = [EXECUTABLE, "test", MODULE, "--json"]
    done = subprocess.run(command, cwd=bundle, env=os.environ | {VARIABLE: "1"}, capture_output=True, check=True)
    cold = json.loads(done.stdout)
    warm = answered(bundle)
    assert warm.report | {"timing": {}} == cold | {"timing": {}}
    assert "9 of 9 visible checks pass." in warm.screen
    own.write_text(own.read_text().replace("math.sqrt(", "float("))
    changed = answered(bundle)
    assert changed.report["diagnoses"]
    assert json.loads((bundle / ".attnlab" / "progress.json").read_text())["modules"][MODULE]["mistake"]
    own.unlink()
    course = read_course(bundle)
    assert ask(course, course.module(MODULE), everything=False) == "absent"  # the command says what is wrong
    checks = bundle / "modules" / MODULE / "checks.py"
    checks.write_text(checks.read_text() + "\n")
    assert ask(course, course.module(MODULE), everything=False) == "absent"
    address = address_of(course)
    assert address is not None
    wait_until("the end of the keeper", lambda: not address.exists())


def test_no_process_stays_where_it_is_not_expected(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    course = read_course(bundle)
    monkeypatch.delenv(VARIABLE)
    assert not is_wanted(course.module(MODULE))  # a test has no terminal
    monkeypatch.setenv(VARIABLE, "1")
    assert is_wanted(course.module(MODULE))
    assert not is_wanted(course.module("01_softmax"))  # it starts quickly anyway
    monkeypatch.setenv("TMPDIR", str(bundle))
    monkeypatch.setattr("tempfile.tempdir", str(bundle))
    (bundle / f"attn-{os.getuid()}").mkdir(mode=0o777)
    (bundle / f"attn-{os.getuid()}").chmod(0o777)
    assert address_of(course) is None  # others could listen there
