"""A command that is told to end removes what it unpacked, as after Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import EXECUTABLE
from tests.conftest import ROOT, write
from tests.waiting import wait_until


@pytest.mark.skipif(os.name != "posix", reason="Windows ends a process without asking it")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_ends_the_command_leaves_no_file(number: signal.Signals, tmp_path: Path) -> None:
    write(tmp_path, {"class/ana/softmax.py": "while True: pass\n", "class/ben/softmax.py": "while True: pass\n"})
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [EXECUTABLE, "grade", str(tmp_path / "class"), "-j", "1", "--allow-unjailed"]
    running = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(scratch)},
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # under nohup, it would be ignored
    )
    wait_until("a journal", lambda: list(scratch.glob("*/journal.jsonl")), by=running)  # there is one without --to, too
    running.send_signal(number)
    assert running.wait(60) == 128 + number
    assert list(scratch.glob("*/journal.jsonl")) == []
