"""What a diagnosis prints can be pasted, and gives what it shows as `yours`."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from grader.authoring.misconceptions import as_submission, read_misconceptions
from grader.core.report import Diagnosis
from grader.course.course import Course
from grader.course.module import Module
from grader.diagnosis.diagnose import Diagnoser
from grader.diagnosis.findings import Finding, findings
from grader.diagnosis.fingerprints import Fingerprints
from grader.diagnosis.observe import observe
from grader.diagnosis.outcome import ProbeOutcome, Side
from grader.diagnosis.probe import Probe, probe
from grader.diagnosis.reproducer import literal, paste
from grader.diagnosis.wording import _against, shown_probe
from grader.grading.load_student import load, program_of
from grader.sandbox.jail.limits import Limits
from grader.sandbox.session import Session
from tests.conftest import ROOT, shared_workers
from tests.diagnosis.graded import MODULES
from tests.quick import EVERY_CASE, QUICK, in_turn, quick_or_exhaustive

FEW, MANY, EVERY = 3, 4, 12  # of each module; all of `make test-every` are more than a hundred


@dataclass(frozen=True)
class Case:
    """One failure: the student's file, what to paste, and what the screen says of it."""

    name: str
    module: Module
    prints: Fingerprints
    text: str
    diagnosis: Diagnosis
    finding: Finding
    number: int
    found: ProbeOutcome


def cases(course: Course, module: Module, most: int) -> Iterator[Case]:
    """Yield failures that misconceptions cause, in the order of the turn."""
    diagnoser = Diagnoser(module)
    prints = diagnoser.prints
    assert prints is not None
    ways = [way for way in read_misconceptions(course, module) if not way.costly]
    left = most
    spawner = shared_workers(module.backend).spawner
    for way in in_turn(ways, lambda way: way.code):
        submission = as_submission(course, module, way)
        session = Session(spawner, program_of(submission, module, course.api(module)), Limits())
        try:
            load(session, module)
            observed = observe(session, prints.probes)
            for finding in findings(prints, observed, {}):
                if finding.deviation is None or not left:
                    continue
                number = shown_probe(finding, prints, observed)
                source = submission.sources[module.slug]
                shown = diagnoser._diagnosis(finding, prints, observed, source, (), session)
                if not shown.paste:  # too long
                    continue
                left -= 1
                yield Case(way.name, module, prints, source.cells[0], shown, finding, number, observed[number])
        finally:
            session.close()
        if not left:
            return


def pasted(cases: Sequence[Case], course: Course, folder: Path) -> list[dict[str, Any]]:
    """Run every case in plain Python, in a folder as a student has it."""
    for earlier in course.modules:
        (folder / "mylab").mkdir(exist_ok=True)
        shutil.copy(course.solution(earlier), folder / "mylab" / f"{earlier.slug}.py")
    orders = []
    for number, case in enumerate(cases):
        script = folder / str(number) / f"{case.module.slug}.py"
        script.parent.mkdir()
        script.write_text(case.text)
        shutil.copy(case.module.probes, script.parent)
        orders.append({"script": str(script), "paste": case.diagnosis.paste, "to": str(script.with_suffix(".pickle"))})
    (folder / "orders.json").write_text(json.dumps(orders))
    command = [sys.executable, "-m", "tests.diagnosis.pasted", str(folder / "orders.json")]
    env = {"PYTHONPATH": f"{ROOT}:{folder}", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=True)
    assert not done.stderr.strip() or "Warning" in done.stderr, done.stderr
    return [pickle.loads(Path(order["to"]).read_bytes()) for order in orders]


def says(case: Case, found: ProbeOutcome) -> list[str]:
    """Return the lines `yours` and `expected` for an outcome."""
    assert case.finding.deviation is not None
    probe, right = case.prints.probes[case.number], case.prints.outcome(None, case.number)
    lines = _against(case.finding.deviation.side, probe, found, right)
    return [line for part in lines for line in part]


def outcome(case: Case, got: dict[str, Any]) -> ProbeOutcome:
    """Return what was pasted as an outcome, like the one that the diagnosis saw."""
    if "error" in got:
        return case.found
    if case.diagnosis.kind == "inputs":
        return replace(case.found, changed=dict.fromkeys(list(case.found.changed)[:1], got["value"]))
    return ProbeOutcome("returned", got["value"], raw=case.found.raw)


def differences(made: Sequence[Case], course: Course, folder: Path) -> list[str]:
    """Paste failures, and return those that gave something else than the screen says."""
    wrong = []
    for case, got in zip(made, pasted(made, course, folder), strict=True):
        raised = case.found.ended != "returned"
        expected, given = says(case, case.found), says(case, outcome(case, got))
        error = case.found.raised.type.rpartition(".")[2] if case.found.raised else ""
        if raised != ("error" in got) or (raised and got["error"] != error):
            wrong.append(f"{case.name}: {case.diagnosis.paste}: {got} instead of {case.found}")
        elif expected != given:
            wrong.append(f"{case.name}: {case.diagnosis.paste}: {given} instead of {expected}")
    return wrong


@pytest.mark.parametrize("name", quick_or_exhaustive(QUICK))
def test_a_printed_call_gives_what_the_screen_says(course: Course, name: str, tmp_path: Path) -> None:
    made = list(cases(course, course.module(name), FEW))
    assert len(made) == FEW
    assert differences(made, course, tmp_path) == []


@pytest.mark.exhaustive
def test_the_printed_calls_of_every_module_give_what_the_screen_says(course: Course, tmp_path: Path) -> None:
    count = EVERY if os.environ.get(EVERY_CASE) else MANY
    made = [case for name in MODULES for case in cases(course, course.module(name), count)]
    assert differences(made, course, tmp_path) == []
    assert len(made) == count * len(MODULES)


@pytest.mark.parametrize(
    ("one", "changed", "call"),
    [
        (probe("f", np.ones(1), np.ones(1)), "1", "f(given, np.array([1.]))"),
        (probe("f", np.ones(1), np.ones(1)), "2", "f(np.array([1.]), given)"),
        (
            probe("f", np.ones(1), kwargs={"k": np.ones(1), "v": np.ones(1)}),
            "v",
            "f(np.array([1.]), k=np.array([1.]), v=given)",
        ),
    ],
)
def test_the_argument_that_is_changed_is_the_one_that_is_printed(one: Probe, changed: str, call: str) -> None:
    assert paste(one, Side.INPUTS, (changed,)) == f"given = np.array([1.])\n{call}\ngiven"


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (np.array([[0.0, 2.5]]), "np.array([[0., 2.5]])"),
        (np.array([1, 0]), "np.array([1, 0])"),
        (np.array([True]), "np.array([True])"),
        (np.array([0.1, np.inf], dtype=np.float32), "np.float32([0.1, np.inf])"),
        (np.zeros((0, 3)), "np.zeros((0, 3))"),
        (np.array([1, 2], dtype=np.int32), "np.array([1, 2], dtype=np.int32)"),
        ((1, [2.0, None]), "(1, [2., None])"),
        (torch.bfloat16, "torch.bfloat16"),
    ],
)
def test_a_literal_is_exact(value: Any, code: str) -> None:
    assert literal(value) == code
    again = eval(code, {"np": np, "torch": torch})
    if isinstance(value, np.ndarray):
        assert again.dtype == value.dtype
        np.testing.assert_array_equal(again, value)
    else:
        assert again == value
