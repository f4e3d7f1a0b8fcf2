"""Copies of a zygote: when they end, and what ends with them. `test_jail.py` shows that their workers are jailed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

import psutil
import pytest

from grader.sandbox.jail.spawner import JailError, WorkerLostError, ZygoteSpawner
from grader.sandbox.jail.tiers import open_spawner
from tests.conftest import tier_here
from tests.sandbox.jail.jails import zygote_of

SECONDS = 60


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    """What is closed after the test."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture(params=["strict", "contained"])
def zygote(request: pytest.FixtureRequest, opened: ExitStack) -> ZygoteSpawner:
    """A zygote in a jail."""
    return opened.enter_context(zygote_of(request.param))


def worker(spawner: ZygoteSpawner, opened: ExitStack) -> psutil.Process:
    """Start a worker and wait until it says that it is ready."""
    started = spawner.spawn()
    sock = opened.enter_context(started.sock)
    sock.settimeout(SECONDS)
    assert len(sock.recv(1)) == 1
    return psutil.Process(started.pid)


def test_a_copy_ends_with_its_own_workers_only(zygote: ZygoteSpawner, opened: ExitStack) -> None:
    first, second = (opened.enter_context(zygote.copy()) for _ in range(2))
    workers = [worker(one, opened) for one in (zygote, first, second)]
    first.close()
    workers[1].wait(SECONDS)
    assert [one.is_running() for one in workers] == [True, False, True]
    for other in (second, zygote):
        worker(other, opened)
    second.close()
    workers[2].wait(SECONDS)
    assert workers[0].is_running()


@pytest.mark.exhaustive
def test_a_copy_stays_on_its_core_with_its_workers(zygote: ZygoteSpawner, opened: ExitStack) -> None:
    cores = psutil.Process().cpu_affinity()
    for core in cores:
        copy = opened.enter_context(zygote.copy(core))
        assert worker(copy, opened).cpu_affinity() == [core]
    gone = opened.enter_context(zygote.copy(10_000))
    assert worker(gone, opened).cpu_affinity() == cores
    assert worker(zygote, opened).cpu_affinity() == cores


def test_a_copy_ends_with_the_first_zygote(zygote: ZygoteSpawner, opened: ExitStack) -> None:
    copy = opened.enter_context(zygote.copy())
    process = worker(copy, opened)
    zygote.close()
    process.wait(SECONDS)
    with pytest.raises(WorkerLostError):
        spawn_two(copy, opened)  # the first one may have been there already


def spawn_two(spawner: ZygoteSpawner, opened: ExitStack) -> None:
    for _ in range(2):
        opened.enter_context(spawner.spawn().sock)


def test_a_zygote_that_is_gone_cannot_be_copied(zygote: ZygoteSpawner) -> None:
    zygote.close()
    with pytest.raises(JailError):
        zygote.copy()


def test_a_forked_process_takes_the_copy_and_leaves_the_first(zygote: ZygoteSpawner, opened: ExitStack) -> None:
    copy = zygote.copy()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            zygote.disconnect()
            worker(copy, opened)
            copy.close()
            code = 0
        finally:
            os._exit(code)
    copy.disconnect()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    worker(zygote, opened)


def test_a_lost_zygote_does_not_lower_the_tier(opened: ExitStack) -> None:
    zygote = opened.enter_context(zygote_of(tier_here()))
    copy = opened.enter_context(zygote.copy())
    zygote.close()
    again = open_spawner("numpy", copy)
    opened.callback(again.close)
    assert again is not copy
    assert again.tier == tier_here()
