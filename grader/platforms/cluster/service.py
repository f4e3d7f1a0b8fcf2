"""The scheduler and the workers of a cluster, as processes: `python -m grader.platforms.cluster.service`."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask
from distributed import Scheduler, Security, Worker, WorkerPlugin

import grader
from grader.core.atomic_file import write_atomically
from grader.grading.pool import cores_of
from grader.platforms.cluster import ClusterError, task
from grader.platforms.cluster.certificates import make_certificates, security_of

# A chunk is innocent of the death of its machine: student code runs in a jail, and is limited there.
SETTINGS: dict[str, Any] = {
    "distributed.scheduler.allowed-failures": 1000,
    "distributed.worker.profile.enabled": False,  # it costs CPU time all the time
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "500ms",
    "distributed.worker.use-file-locking": False,
    "distributed.comm.timeouts.connect": "10s",
    # Its web pages are not encrypted.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
RECONNECT_SECONDS = 600.0
LOOPBACK = "127.0.0.1"
CODE = Path(grader.__file__).parent.parent  # not that of an installed package
START_SECONDS = 60.0
CLOSE_SECONDS = 10.0


def run_scheduler(host: str, port: int, certs: Path | None, ready: Callable[[str], None]) -> None:
    """Run a scheduler until it is stopped; `ready` gets its address."""
    security = security_of(certs)
    asyncio.run(_scheduler(host, port, security, ready))


def run_worker(
    address: str,
    cores: int,
    certs: Path | None,
    ready: Callable[[str], None] = lambda _: None,
    patience: float = RECONNECT_SECONDS,
) -> None:
    """Run a worker until it is stopped. If the scheduler goes away, wait for it to come back."""
    security = security_of(certs)
    asyncio.run(_worker(address, cores, security, ready, patience))


async def _scheduler(host: str, port: int, security: Security | None, ready: Callable[[str], None]) -> None:
    dask.config.set(SETTINGS)
    logging.getLogger("distributed").setLevel(logging.WARNING)
    protocol = "tls" if security else "tcp"
    try:
        running = await Scheduler(
            host=host,
            port=port,
            protocol=protocol,
            security=security,
            dashboard=False,
            dashboard_address=f"{LOOPBACK}:0",
        )
    except (OSError, RuntimeError) as error:
        raise ClusterError(f"cannot listen on {host}:{port}: {error.__cause__ or error}") from None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, os._exit, 0)
    ready(str(running.address))
    await running.finished()


async def _worker(
    address: str, cores: int, security: Security | None, ready: Callable[[str], None], patience: float
) -> None:
    dask.config.set(SETTINGS)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    task.use_cores(cores_of(cores))
    with tempfile.TemporaryDirectory(prefix="attn-worker-", ignore_cleanup_errors=True) as scratch:

        def stop() -> None:
            """End at once. The grading processes end with their threads, and jailed workers with them."""
            shutil.rmtree(scratch, ignore_errors=True)
            os._exit(0)

        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop)
        for number in range(sys.maxsize):
            name = f"{socket.gethostname()}-{os.getpid()}-{number}"
            try:
                running = await Worker(
                    address,
                    nthreads=cores,
                    name=name,
                    security=security,
                    memory_limit=0,  # jails limit memory; Dask would only pause the worker
                    local_directory=scratch,
                    death_timeout=patience,
                    plugins=(_Abandoning(),),
                )
            except (OSError, RuntimeError, TimeoutError) as error:
                raise ClusterError(f"no scheduler can be reached at {address}: {error.__cause__ or error}") from None
            ready(name)
            await running.finished()


class _Abandoning(WorkerPlugin):  # type: ignore[misc] # Dask gives it no types
    """A plugin of a worker: when it loses its scheduler, chunks end after the submission that they grade now."""

    name = "attnlab"

    def teardown(self, worker: Worker) -> None:
        """End the chunks."""
        del worker
        task.abandon()


@contextlib.contextmanager
def local_cluster(folder: Path, cores: int) -> Iterator[tuple[str, Path]]:
    """Run a scheduler and one worker; give the address and the certificates, which are in a folder of this user."""
    certs = folder / "certs"
    make_certificates(certs)
    with scheduler_process(folder, certs) as (address, _), worker_process(address, certs, cores):
        yield address, certs


@contextlib.contextmanager
def scheduler_process(
    folder: Path, certs: Path, host: str = "127.0.0.1", port: int = 0
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a scheduler; give its address and its process."""
    file = folder / "address"
    file.unlink(missing_ok=True)  # of a run that was killed
    with _service("scheduler", "--host", host, "--port", port, "--file", file, "--certs", certs) as process:
        yield _address(file, process), process


def worker_process(
    address: str, certs: Path, cores: int, code: Path = CODE
) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    """Run a worker, by default with the code of this process; give its process."""
    return _service("worker", "--address", address, "--cores", cores, "--certs", certs, code=code)


@contextlib.contextmanager
def _service(role: str, *options: object, code: Path = CODE) -> Iterator[subprocess.Popen[bytes]]:
    path = os.pathsep.join(filter(None, [str(code), os.environ.get("PYTHONPATH", "")]))
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "grader.platforms.cluster.service", role, *map(str, options)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
        start_new_session=True,  # Ctrl-C is for the command, which ends this process itself
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _address(file: Path, process: subprocess.Popen[bytes]) -> str:
    """Wait for the address of a scheduler."""
    until = time.monotonic() + START_SECONDS
    while not file.is_file():
        if process.poll() is not None or time.monotonic() > until:
            raise ClusterError("the scheduler did not start: see its message above")
        time.sleep(0.05)
    return file.read_text()


def main() -> None:
    """Run one of the two for `attn grade --cluster local`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("role", choices=["scheduler", "worker"])
    parser.add_argument("--address", default="")
    parser.add_argument("--host", default=LOOPBACK)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--certs", type=Path)
    parser.add_argument("--file", type=Path, help="gets the address of the scheduler")
    given = parser.parse_args()
    if sys.platform == "linux":
        from grader.sandbox.jail.kernel import die_with_parent

        die_with_parent()
    if given.role == "scheduler":
        run_scheduler(given.host, given.port, given.certs, lambda address: write_atomically(given.file, address))
    else:
        run_worker(given.address, given.cores, given.certs)


if __name__ == "__main__":
    main()
