"""The screen of `attn test`: one failure in full, and what the student's source says about it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from cli.ui.own_screen import own_screen
from grader.core.report import CheckResult, EndingRecord, Report
from grader.course.api import Api
from grader.course.course import Course
from grader.grading import grade
from grader.grading.own_words import explained, stopped_words
from grader.grading.suite import Suite
from grader.sandbox.jail.limits import Limits
from grader.submission.submission import Source, Submission
from tests.cli.conftest import Attn
from tests.conftest import ROOT

SOLUTION = (ROOT / "solutions" / "01_softmax" / "softmax.py").read_text()
RENAMED = SOLUTION.replace("def softmax(", "def my_softmax(")
WITHOUT_RETURN = """

def softmax(x, axis=-1):
    exps = np.exp(x - np.max(x, axis=axis, keepdims=True))
    exps / exps.sum(axis=axis, keepdims=True)
"""
OVER_AXIS_0 = """

def softmax(x, axis=-1):
    exps = np.exp(np.asarray(x) - np.max(x, axis=0, keepdims=True))
    return exps / exps.sum(axis=0, keepdims=True)
"""
ENDLESS = """

def softmax(x, axis=-1):
    done = False
    while not done:
        x = x + 1
    return x
"""


def shown(attn: Attn, bundle: Path, text: str) -> str:
    (bundle / "modules" / "01_softmax" / "softmax.py").write_text(text)
    return attn("test", "softmax", cwd=bundle).stdout


def line_of(text: str, code: str) -> int:
    return len(text[: text.rindex(code)].splitlines()) + 1


def test_the_first_failure_is_shown_and_the_others_are_counted(attn: Attn, bundle: Path) -> None:
    text = SOLUTION + "\n\ndef softmax(x, axis=-1):\n    return np.ones(3)[7]\n"
    lines = shown(attn, bundle, text).splitlines()
    assert len(lines) <= 24
    assert "########------------  2 passed · 3 failed" in lines
    assert sum(line.startswith("Fix first: ") for line in lines) == 1
    assert all(len(line) <= 80 for line in lines)


def test_warnings_of_numpy_are_not_what_the_code_printed(example_report: Report) -> None:
    warning = "softmax.py:3: RuntimeWarning: overflow encountered in exp\n  e = np.exp(x)\n"
    assert "printed" not in own_screen(replace(example_report, printed=warning))
    said = own_screen(replace(example_report, printed=f"mine\n{warning}also mine\n"))
    assert "  | mine\n  | also mine" in said
    assert "Warning" not in said


def test_much_that_was_printed_leaves_room_for_the_rest(example_report: Report) -> None:
    much = replace(example_report, printed="\n".join(map(str, range(100))))
    lines = own_screen(much).splitlines()
    assert len(lines) == 23
    assert "  | … " in "\n".join(lines)
    assert "  | 99" in own_screen(much, everything=True)


@pytest.mark.parametrize(
    ("code", "line", "marks"),
    [
        ("x = (1,\n", "x = (1,", "^"),
        ("def f(:\n    return 1\n", "def f(:", "^"),
        ("y = nothing + 1\n", None, "^^^^^^^"),
    ],
)
def test_a_file_that_does_not_load_shows_the_line(
    attn: Attn, bundle: Path, code: str, line: str | None, marks: str
) -> None:
    lines = shown(attn, bundle, code).splitlines()
    at = lines.index(f"    {line or code.strip()}")
    assert lines[at + 1].strip() == marks
    assert lines[at + 1].index("^") - 4 == {"x = (1,": 4, "def f(:": 6}.get(line or "", 4)


def test_a_function_with_another_name_is_noticed(attn: Attn, bundle: Path) -> None:
    text = shown(attn, bundle, RENAMED)
    said = f"softmax is not defined. Line {line_of(RENAMED, 'def my_softmax')} has `def my_softmax`: rename it to"
    assert said in " ".join(text.split())
    assert "not written" not in text


def test_a_missing_return_is_said_as_such(attn: Attn, bundle: Path) -> None:
    text = SOLUTION + WITHOUT_RETURN
    said = f"softmax (line {line_of(text, 'def softmax(')}) has no `return` with a value, so it returns None"
    assert said in " ".join(shown(attn, bundle, text).split())


def test_an_endless_loop_is_shown_with_its_line_and_the_limit(example_report: Report) -> None:
    """The line comes from the worker: tests/sandbox/test_session.py. This is what the screen makes of it."""
    loop = line_of(ENDLESS, "    while not done")
    name = example_report.checks[0].name
    ended = replace(example_report, endings=(EndingRecord("deadline", name, "softmax.py", loop + 1),))
    submission = Submission("ana", "01_softmax", "softmax.py", {"softmax": Source("softmax.py", (ENDLESS,), False)})
    words = " ".join(own_screen(explained(ended, submission, Api((), {}, ()), Limits())).split())
    assert f"stopped after 3 s of computing, in line {loop + 1} of softmax.py, inside this loop" in words
    assert f"line {loop}: while not done: This loop probably never ends." in words


def test_of_two_loops_the_inner_one_is_shown() -> None:
    text = "def f(rows):\n    for row in rows:\n        while row:\n            row = row\n"
    words = stopped_words("work.py", 4, text, 3.0)
    assert "line 3: while row:" in words
    assert "for row in rows" not in words


def test_the_limit_is_that_of_the_module(
    course: Course, example_report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ends the call is tested in tests/sandbox/. Here its report is made by hand, so that no test waits."""
    module = replace(course.module("softmax"), cpu_s=30.0)
    name = example_report.checks[0].name
    ended = replace(example_report, endings=(EndingRecord("deadline", name, "softmax.py", 5),))
    source = Source("softmax.py", (ENDLESS,), notebook=False)

    def graded(_: Suite, works: Iterable[Submission], on_report: Callable[[Report], None], **__: object) -> None:
        for _work in works:
            on_report(ended)

    monkeypatch.setattr(grade, "run_grading", graded)
    reports: list[Report] = []
    submission = Submission("ana", module.name, "softmax.py", {"softmax": source})
    grade.check_own_files(course, module, [submission], reports.append)
    assert "stopped after 30 s of computing" in reports[0].checks[0].message


def test_the_screen_says_how_to_try_the_call(attn: Attn, bundle: Path) -> None:
    """The command as it is printed, with the printed call as input. tests/diagnosis/test_reproducers.py tries more."""
    lines = shown(attn, bundle, SOLUTION + OVER_AXIS_0).splitlines()
    command = lines[lines.index("To try this call, paste it after this command:") + 1]
    assert command == 'cd modules/01_softmax && python -i -c "from softmax import *"'
    start = lines.index("Fix first: softmax") + 1
    end = next(number for number, line in enumerate(lines) if line.startswith("  yours:"))
    call = "\n".join(lines[start:end])  # as it stands there, without a change
    done = subprocess.run(
        ["sh", "-c", command.replace("python", sys.executable)],
        input=f"{call}\n",
        cwd=bundle,
        capture_output=True,
        text=True,
        check=True,
    )
    yours, got = (
        [f"{float(number):.3g}" for number in re.findall(r"[\d.]+", text)]
        for text in (lines[end].partition(":")[2], done.stdout)
    )
    assert len(yours) == 4
    assert yours == got


@pytest.fixture
def example_report() -> Report:
    check = CheckResult("rows", "visible", "softmax", 1.0, 0.0, "failed", "rows sum to 1", "it did not return", "")
    nothing: tuple[()] = ()
    return Report(
        "01_softmax", "ana", "softmax.py", "graded", 0.0, 1.0, "", (check,), nothing, nothing, nothing, nothing, "none",
        {}, {},
    )  # fmt: skip
