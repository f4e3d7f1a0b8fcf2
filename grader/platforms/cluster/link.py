"""The link of `attn grade` to a scheduler: it sends jobs, gives back answers, and connects again if it breaks."""

from __future__ import annotations

import contextlib
import logging
import queue
import time
from typing import Any

from distributed import Client, Future, KilledWorker, Security
from distributed.client import ClosedClientError

from grader.platforms.cluster import ClusterError, ClusterLostError
from grader.platforms.cluster.task import gpu_of_worker, grade_chunk

CONNECT_SECONDS = 30.0
PATIENCE_SECONDS = 600.0  # for a scheduler or workers that are gone
CORES_SECONDS = 2.0  # the number of cores is asked for again after this time
RESULT_SECONDS = 60.0
# What an answer can mean instead of one: the machine or the connection was lost.
AGAIN = None
_GIVEN_UP = ("closing", "closed")  # Dask does so when it cannot connect again


class Link:
    """A connection to one scheduler. It has the futures; nothing else knows Dask."""

    def __init__(
        self,
        address: str,
        security: Security | None,
        patience: float = PATIENCE_SECONDS,
        connect: float = CONNECT_SECONDS,
    ) -> None:
        """Connect. A scheduler that was just started may need more time for `connect`."""
        self.address = address
        self._security = security
        self._patience = patience
        self._futures: dict[str, Future] = {}  # Dask forgets a task whose future is gone
        self._done: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._cores = 0
        self._cores_at = -CORES_SECONDS
        self._client = self._connected(connect)

    def send(self, name: str, text: str) -> None:
        """Send a job under a name that is never used again."""
        try:
            future = self._client.submit(grade_chunk, text, key=name, pure=False)
        except ClosedClientError:  # after `renewed`, it is sent again
            return
        self._futures[name] = future
        future.add_done_callback(self._done.put)

    def next(self, seconds: float) -> tuple[str, str | None] | None:
        """Return the name of a job and its answer, or AGAIN if it was lost; None if nothing comes in time."""
        try:
            future = self._done.get(timeout=seconds)
        except queue.Empty:
            return None
        if self._client.status in _GIVEN_UP:
            return None  # `renewed` says that all jobs must be sent again
        if self._futures.pop(future.key, None) is not future:
            return None  # of a connection that is gone
        return future.key, self._answer(future)

    def cores(self) -> int:
        """Return how many chunks the workers can grade at once; 0 while nothing can be reached."""
        now = time.monotonic()
        if now - self._cores_at >= CORES_SECONDS:
            self._cores, self._cores_at = 0, now
            if self._client.status == "running":
                with contextlib.suppress(OSError, TimeoutError):
                    self._cores = sum(self._client.nthreads().values())
        return self._cores

    def wait_for_workers(self) -> None:
        """Wait until there is a worker."""
        try:
            self._client.wait_for_workers(1, timeout=self._patience)
        except TimeoutError:
            text = f"the scheduler at {self.address} has no workers. Start some with `attn cluster worker`"
            raise ClusterError(text) from None
        self._cores_at = -CORES_SECONDS

    def gpus(self) -> set[str | None]:
        """Return the names of the GPUs of all workers; None for one that has none."""
        return set(self._client.run(gpu_of_worker).values())

    def renewed(self) -> bool:
        """Connect again if Dask has given up; return whether all jobs must be sent again."""
        if self._client.status not in _GIVEN_UP:
            return False
        self._futures.clear()
        try:
            self._client = self._connected(self._patience)
        except ClusterError as error:
            raise ClusterLostError(str(error)) from None
        return True

    def close(self) -> None:
        """Give up all jobs that are not done, and leave."""
        with contextlib.suppress(Exception):
            self._client.cancel(list(self._futures.values()), force=True)
        self._futures.clear()
        with contextlib.suppress(Exception):
            self._client.close(timeout=5)

    def _connected(self, seconds: float) -> Client:
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters is said by the command
        until = time.monotonic() + seconds
        while True:
            try:
                return Client(
                    self.address, security=self._security, timeout=CONNECT_SECONDS, set_as_default=False, name="attn"
                )
            except (OSError, TimeoutError) as error:
                if time.monotonic() >= until:
                    why = str(error).splitlines()[0] if str(error) else "no answer"
                    raise ClusterError(f"no scheduler can be reached at {self.address}: {why}") from None
                time.sleep(1)

    def _answer(self, future: Future) -> str | None:
        if future.status == "error":
            error = future.exception()
            if isinstance(error, KilledWorker):
                return AGAIN
            text = f"{type(error).__name__}: {error}".splitlines()[0]
            raise ClusterError(f"a worker could not run its task ({text}): is the same AttnLab installed there?")
        if future.status != "finished":  # cancelled: the connection was lost
            return AGAIN
        try:
            answer: Any = future.result(timeout=RESULT_SECONDS)
        except Exception:  # noqa: BLE001 - the worker that had the answer is gone
            return AGAIN
        return str(answer)
