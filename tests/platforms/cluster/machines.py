"""A cluster of processes on this machine, whose parts a test can kill."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grader.platforms.cluster.certificates import make_certificates
from grader.platforms.cluster.service import scheduler_process, worker_process


class Machines:
    """A scheduler, and workers with one core each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.certs = folder / "certs"
        make_certificates(self.certs)
        self.address = ""
        self.workers: list[subprocess.Popen[bytes]] = []
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Machines:
        self.start_scheduler()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def start_scheduler(self) -> None:
        """Start the scheduler, the second time where it was before."""
        port = int(self.address.rpartition(":")[2]) if self.address else 0
        running = scheduler_process(self.folder, self.certs, port=port)
        self.address, self._scheduler = self._stack.enter_context(running)

    def kill_scheduler(self) -> None:
        """Kill the scheduler with SIGKILL. All its connections are gone at once."""
        self._scheduler.kill()
        self._scheduler.wait()

    def add_worker(self, code: Path | None = None) -> None:
        """Start one more worker, if wanted with other code."""
        running = worker_process(self.address, self.certs, 1, *([code] if code else []))
        self.workers.append(self._stack.enter_context(running))

    def kill_worker(self) -> None:
        """Kill a worker with SIGKILL."""
        process = self.workers.pop()
        process.kill()
        process.wait()

    @property
    def options(self) -> list[str]:
        """The options of `attn grade` for this cluster."""
        return ["--on", self.address, "--certs", str(self.certs)]


def texts(out: Path, module: str) -> dict[str, str]:
    """Return the bytes of every report of a module as text, without its timing."""
    found = {}
    for path in sorted((out / module).glob("*.json")):
        text = path.read_bytes().decode()
        timing = json.dumps(json.loads(text)["timing"], indent=1).replace("\n", "\n ")
        assert text.count(timing) == 1
        found[path.stem] = text.replace(timing, "")
    return found


def written(out: Path) -> list[tuple[str, str]]:
    """Return the module and the student of every report that was written, from the journal. Marks come later."""
    lines: Iterator[dict[str, Any]] = map(json.loads, (out / "journal.jsonl").read_text().splitlines())
    return [(line["module"], line["student"]) for line in lines if line["mark"] is None]
