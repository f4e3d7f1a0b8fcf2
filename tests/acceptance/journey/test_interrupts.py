"""Ctrl-C at any time: no process is left, no file is half-written, and the terminal is restored."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import psutil
import pytest

from grader.course.course import Course, read_course
from tests.acceptance.journey.student import StudentAtWork
from tests.acceptance.journey.terminal import PATIENCE, Terminal
from tests.cli.conftest import EXECUTABLE
from tests.conftest import ROOT
from tests.waiting import wait_until

CTRL_C = "\x03"
INTERRUPTED = 130
# It uses no CPU time: then it is ended after twenty seconds, not after three.
WAITS = """

import time


def softmax(x, axis=-1):
    time.sleep(600)


def dot_product(a, b):
    time.sleep(600)
"""
ENDLESS = "\n\ndef softmax(x, axis=-1):\n    while True:\n        pass\n"


@pytest.fixture
def bundle(tmp_path: Path) -> Course:
    shutil.copytree(ROOT / "modules", tmp_path / "modules", ignore=shutil.ignore_patterns("__pycache__"))
    return read_course(tmp_path)


def all_gone(processes: list[psutil.Process]) -> bool:
    """Whether all of them end soon."""
    _, alive = psutil.wait_procs(processes, timeout=PATIENCE / 4)
    return not alive


def is_whole(root: Path) -> bool:
    """Whether no temporary file is left, and the progress can be read."""
    left = [path for path in root.rglob(".*") if path.is_file()]
    progress = root / ".attnlab" / "progress.json"
    if progress.is_file():
        json.loads(progress.read_text())
    return left == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "arguments",
    [
        ["test", "softmax"],
        ["complete", "softmax"],
        ["profile", "softmax"],
        ["submit", "--student", "ana"],
        ["watch", "softmax"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_ctrl_c_while_code_never_returns(bundle: Course, arguments: list[str]) -> None:
    module = bundle.modules[0]
    module.stub.write_text((ROOT / "solutions" / "01_softmax" / "softmax.py").read_text() + ENDLESS)
    terminal = StudentAtWork(bundle, [EXECUTABLE]).attn(*arguments)

    def at_work() -> list[psutil.Process]:
        found = terminal.below()
        return found if len(found) >= 2 else []

    below = wait_until("a zygote and a worker", at_work)
    terminal.type(CTRL_C)
    assert terminal.finish() == INTERRUPTED, terminal.text
    assert "interrupted" in terminal.text
    assert "Traceback" not in terminal.text
    assert all_gone(below)
    assert is_whole(bundle.root)


def is_at(moment: int | str, terminal: Terminal) -> bool:
    """Whether Python has started in a terminal, or there are so many processes below it, or it has ended."""
    process = psutil.Process(terminal.pid)
    if process.status() == psutil.STATUS_ZOMBIE:
        return True
    return len(terminal.below()) >= moment if isinstance(moment, int) else EXECUTABLE in process.cmdline()


# The jail, the zygote and the workers come one after the other: without a jail, there is one fewer, and it ends first.
@pytest.mark.parametrize("moment", [0, "Python", 1, 2, 3, 4])
def test_ctrl_c_during_start_up(bundle: Course, moment: int | str) -> None:
    terminal = StudentAtWork(bundle, [EXECUTABLE]).attn("test", "softmax")
    wait_until(f"{moment} in the terminal", lambda: is_at(moment, terminal), pause=0.001)
    below = terminal.below()
    terminal.type(CTRL_C)
    code = terminal.finish()
    # Python itself dies of the signal until it is our turn; a test that was quicker has ended as it does.
    assert code in (INTERRUPTED, 1, -2), terminal.text
    assert all_gone(below)
    assert is_whole(bundle.root)


def test_ctrl_c_while_watching(bundle: Course) -> None:
    terminal = StudentAtWork(bundle, [EXECUTABLE]).attn("watch", "softmax")
    terminal.expect("5 not written yet")
    terminal.expect("q quit")
    assert not terminal.echoes()  # keys come one by one
    below = terminal.below()
    terminal.type("h")
    terminal.expect("hint 1 of 3")
    terminal.type(CTRL_C)
    terminal.expect("interrupted")
    assert terminal.finish() == INTERRUPTED
    assert all_gone(below)


@pytest.mark.parametrize("key", ["q", CTRL_C])
def test_the_terminal_is_restored(bundle: Course, key: str) -> None:
    """A shell stays in the terminal, so that the test can check its mode."""
    command = ["/bin/sh", "-c", f'"{EXECUTABLE}" watch softmax; echo "left with $?"; trap "" INT; read answer']
    terminal = StudentAtWork(bundle, command).attn()
    assert terminal.echoes()
    terminal.expect("q quit")
    terminal.expect("q quit")
    assert not terminal.echoes()
    terminal.type(key)
    terminal.expect("left with" if key == "q" else "interrupted")
    if key == "q":
        terminal.expect("0")
        assert terminal.echoes()
        terminal.type("\n")
    terminal.finish()


@pytest.mark.exhaustive
def test_watch_shows_what_got_better(bundle: Course) -> None:
    module = bundle.modules[0]
    terminal = StudentAtWork(bundle, [EXECUTABLE]).attn("watch", "softmax")
    terminal.expect("5 not written yet")
    terminal.expect("q quit")
    shutil.copy(ROOT / "solutions" / "01_softmax" / "softmax.py", module.stub)
    terminal.expect("5 of 5 visible checks pass.")
    terminal.expect("Now passing: 5 checks")
    terminal.expect("q quit")
    module.stub.write_text(module.stub.read_text() + "\n\ndef softmax(x, axis=-1):\n    return x\n")
    terminal.expect("No longer passing: ")
    terminal.expect("q quit")
    terminal.type("n")
    terminal.expect("02_loop_attention is locked. First run `attn complete softmax`.")
    module.stub.unlink()
    terminal.expect("softmax.py is missing. Waiting")
    shutil.copy(ROOT / "solutions" / "01_softmax" / "softmax.py", module.stub)
    terminal.expect("5 of 5 visible checks pass.")
    StudentAtWork(bundle, [EXECUTABLE]).runs("complete", "softmax")
    terminal.type("n")
    terminal.expect("read   modules/02_loop_attention/README.md")
    terminal.expect("save   it: every save is checked here")
    terminal.type("r")
    terminal.expect("8 not written yet")
    terminal.type("q")
    assert terminal.finish() == 0


@pytest.mark.exhaustive
def test_watch_goes_from_an_endless_loop_to_the_next_module(bundle: Course) -> None:
    """It says what still runs, a save ends it, and one key completes the module and goes on."""
    module = bundle.modules[0]
    right = (ROOT / "solutions" / "01_softmax" / "softmax.py").read_text()
    module.stub.write_text(right + WAITS)
    terminal = StudentAtWork(bundle, [EXECUTABLE]).attn("watch", "softmax")
    terminal.expect("still running softmax ... ")
    terminal.expect("Save to start again, q quits.")
    module.stub.write_text(right)
    terminal.expect("5 of 5 visible checks pass.")
    assert "time allowed" not in terminal.text
    terminal.expect("Well done! Press n: complete it and go on to 02_loop_attention.")
    terminal.expect("q quit")
    terminal.type("n")
    terminal.expect("01_softmax is complete and in your package `mylab`.")
    terminal.expect("You built it: ")
    terminal.expect("02_loop_attention, Attention in loops")
    terminal.expect("q quit")
    bundle.modules[1].stub.write_text(WAITS)
    terminal.expect("still running")
    terminal.type("q")
    assert terminal.finish() == 0
