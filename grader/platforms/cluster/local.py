"""A cluster on this machine, for as long as a command needs it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import grader
from grader.platforms.cluster import ClusterError
from grader.platforms.cluster.certificates import make_certificates

CODE = Path(grader.__file__).parent.parent  # not that of an installed package
START_SECONDS = 60.0
CLOSE_SECONDS = 10.0


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
