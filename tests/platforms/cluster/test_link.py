"""The link to a scheduler that is away for longer than Dask tries to connect again."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from grader.platforms.cluster import link
from grader.platforms.cluster.certificates import security_of
from grader.platforms.cluster.link import Link
from tests.platforms.cluster.machines import Machines
from tests.waiting import wait_until

SECONDS = 60


def linked(machines: Machines) -> Link:
    return Link(machines.address, security_of(machines.certs), patience=SECONDS, connect=SECONDS)


def test_after_dask_gave_up_all_jobs_are_sent_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "CONNECT_SECONDS", 0.5)  # Dask gives up after this time
    with Machines(tmp_path) as machines, closing(linked(machines)) as one:
        one.send("first", "")
        machines.kill_scheduler()

        def given_up() -> bool:
            assert one.next(0.05) is None or one._client.status == "connecting"  # no answer of a lost connection
            return bool(one._client.status == "closed")

        wait_until("the end of Dask's tries", given_up)
        one.send("second", "")  # as the command does before it knows
        assert one.next(0.05) is None
        machines.start_scheduler()
        assert one.renewed()
        assert not one.renewed()
        one.send("third", "")
        assert one.next(0.05) is None  # there is no worker
