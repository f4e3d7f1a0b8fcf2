"""The threads of a worker share its cores, if it has one thread for each."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from grader.platforms.cluster import task
from tests.waiting import LIMIT


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux keeps threads on a core")
def test_each_thread_stays_on_a_core_of_its_own() -> None:
    cores = sorted(os.sched_getaffinity(0))
    together = threading.Barrier(len(cores), timeout=LIMIT)

    def settle(_: int) -> set[int]:
        own = settled()
        together.wait()  # or one thread could do the work of two
        return own

    try:
        task.use_cores(cores)
        with ThreadPoolExecutor(len(cores)) as threads:
            assert sorted(threads.map(settle, cores), key=min) == [{core} for core in cores]
        task.use_cores([None])
        with ThreadPoolExecutor(1) as threads:
            assert threads.submit(settled).result() == set(cores)
    finally:
        task.use_cores([None])


def settled() -> set[int]:
    """Return the cores of this thread after it has settled."""
    task._stay_on_own_core()
    return os.sched_getaffinity(0)
