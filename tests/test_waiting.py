"""A wait ends when the thing is there, when its process has ended, or at its limit."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.waiting import wait_until


def test_a_wait_returns_what_came() -> None:
    answers = iter(["", "", "here"])
    assert wait_until("an answer", lambda: next(answers)) == "here"


def test_a_wait_says_what_did_not_come() -> None:
    with pytest.raises(TimeoutError, match=r"^not in 0 seconds: a miracle$"):
        wait_until("a miracle", lambda: False, 0)


def test_nothing_is_awaited_of_a_process_that_has_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", "raise SystemExit(7)"]) as process:
        process.wait()
        with pytest.raises(AssertionError, match="ended with 7 before this: a miracle"):
            wait_until("a miracle", lambda: False, by=process)
