"""Attacks against the real jail: each in a worker of one zygote, next to a sibling worker that must keep working."""

from __future__ import annotations

import contextlib
from types import TracebackType
from typing import Any, Self

import numpy as np
import psutil

from grader.core.errors import StudentError, StudentRaisedError
from grader.course.api import read_api
from grader.sandbox.jail import kernel
from grader.sandbox.jail.limits import Limits
from grader.sandbox.jail.plan import JailPlan
from grader.sandbox.jail.spawner import WorkerLostError, ZygoteSpawner
from grader.sandbox.session import Program, Session
from grader.sandbox.student import Student
from grader.testing import assert_close
from tests.acceptance.attacks.attack import PRELUDE, Attack
from tests.acceptance.attacks.world import World
from tests.waiting import wait_until

LIMITS = Limits(cpu_s=0.5, wall_s=2.0, endings=2)
SETTLED = 30.0  # seconds after which a process that is still there was left by the attack
API = read_api("def ok(x): ...\n\n\ndef evil(x): ...\n")
X = np.arange(1.0, 6.0)
PR_SET_CHILD_SUBREAPER = 36


class AttackRange:
    """A zygote under attack, and its sibling worker."""

    def __init__(self, plan: JailPlan, world: World) -> None:
        kernel.prctl(PR_SET_CHILD_SUBREAPER, 1)
        self.plan = plan
        self.world = world
        self.open()

    def open(self) -> None:
        """Start a zygote and a sibling."""
        self.spawner = ZygoteSpawner(self.plan)
        self.sibling = self.session("def ok(x):\n    return x + 1\n")
        self.sibling.load()
        assert self.sibling.worker.live is not None
        self.sibling_pid = self.sibling.worker.live.process.pid
        self.zygote_pid = _zygote_of(self.sibling_pid)
        # The next worker is made ahead of time and belongs to the family.
        assert self.spawner._spawned or self.spawner._take(60.0)
        self.expected = len(self.family())

    def close(self) -> None:
        self.sibling.close()
        self.spawner.close()

    def session(self, source: str) -> Session:
        files = {"work": {"file": "work.py", "cells": [source.encode()], "notebook": False}}
        return Session(self.spawner, Program(files, "work", API.names), LIMITS)

    def run(self, attack: Attack) -> set[str]:
        """Run one attack and return what it reached."""
        facts = self.world.facts(grader_pid=psutil.Process().pid, zygote=self.zygote_pid, sibling=self.sibling_pid)
        session = self.session(attack.source(facts))
        student = Student(session, API)
        try:
            found = self._attempt(session, student)
            found |= self.world.breaches(" ".join([*self._said, session.record.printed]))
            session.close()
            found |= self._alive()
        except WorkerLostError as error:
            found = {f"the zygote: {error}"}
        if found:
            self.recover()
        self.world.restore()
        return found

    def _attempt(self, session: Session, student: Student) -> set[str]:
        self._said: list[str] = []
        found: set[str] = set()
        try:
            errors = session.load().errors
        except StudentError as error:
            self._said.append(_text(error))
            return found  # the import did not finish, so there is no honest function to grade
        assert errors == (), errors
        try:
            value = student.evil(X.copy())
            self._said.append(_everything(value))
            if _passes(value):
                found.add("wrong pass")
        except StudentError as error:
            self._said.append(_text(error))
        with session.checking("ok"):
            if not _honest(student) and not (session.start_afresh() and _honest(student)):
                found.add("the honest function")
        return found

    def _alive(self) -> set[str]:
        """Return what was harmed: the sibling, the zygote, or the cleanup of processes."""
        found = set()
        try:
            if Student(self.sibling, API).ok(41) != 42 or self.sibling.worker.generation:
                found.add("the sibling")
        except StudentError:
            found.add("the sibling")
        if not psutil.pid_exists(self.zygote_pid):
            found.add("the zygote")
        if not self._settled():
            found.add("survivors")
        return found

    def _settled(self) -> bool:
        """Whether the zygote soon has as many processes as before."""
        try:
            wait_until("the processes of before", lambda: len(self.family()) == self.expected, SETTLED)
        except TimeoutError:
            return False
        return True

    def family(self) -> list[int]:
        """Return all processes below this one. It adopts those whose parents have died."""
        found = []
        for process in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process.pid)
        return found

    def recover(self) -> None:
        """Start again with a new zygote, and kill all survivors."""
        with contextlib.suppress(WorkerLostError):
            self.close()
        for pid in self.family():
            with contextlib.suppress(psutil.Error):
                psutil.Process(pid).kill()
        self.open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def _honest(student: Student) -> bool:
    try:
        return bool(student.ok(3) == 4)
    except StudentError:
        return False


def _zygote_of(worker: int) -> int:
    return int(psutil.Process(worker).ppid())


def _passes(value: Any) -> bool:
    try:
        assert_close(value, 2 * X)
    except (AssertionError, StudentError):
        return False
    return True


def _everything(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return value.tobytes().decode("latin-1")
    return repr(value)


def _text(error: StudentError) -> str:
    traceback = error.traceback if isinstance(error, StudentRaisedError) else ""
    # The traceback shows the attack's own source. Only text that it could not know counts.
    lines = [line for line in traceback.splitlines() if line.strip() not in PRELUDE]
    return f"{error}\n" + "\n".join(lines)
