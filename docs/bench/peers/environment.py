"""The environment of the other graders: nbgrader and otter-grader with all they need, separate from ours."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent.parent
FOLDER = ROOT / ".bench"
PEERS = ("nbgrader==0.9.6", "otter-grader==7.0.0")
PINS = (ROOT / "constraints.txt", Path(__file__).with_name("pins.txt"))
NO_PEERS = "the peers could not be installed into .bench/, so nothing was compared with them: {}"


class NoPeersError(Exception):
    """The environment could not be made. The message says why in one line."""


class PeerFailedError(Exception):
    """A command of another grader failed. The message is its last output."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment with the other graders."""

    folder: Path

    def run(self, command: Sequence[str], folder: Path) -> float:
        """Run one of its commands in a folder and return how long it took."""
        started = time.perf_counter()
        self.output(command, folder)
        return time.perf_counter() - started

    def output(self, command: Sequence[str], folder: Path) -> str:
        """Run one of its commands in a folder and return what it printed."""
        program = self.folder / "bin" / command[0]
        done = subprocess.run(
            [program, *command[1:]], cwd=folder, env=self.variables(), capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise PeerFailedError(f"{' '.join(command[:2])}: {_last_line(done.stderr + done.stdout)}")
        return done.stdout

    def variables(self) -> dict[str, str]:
        """Return the variables for its commands: its PATH first, and no settings of ours or of the user."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "JUPYTER"))}
        home = self.folder / "home"  # their caches stay warm between runs
        path = f"{self.folder / 'bin'}{os.pathsep}{kept.get('PATH', '')}"
        return kept | {"PATH": path, "HOME": str(home), "IPYTHONDIR": str(home / "ipython")}


def peers_environment() -> Environment:
    """Return the environment; it is made at the first use, and again if its packages change."""
    folder = FOLDER / "peers"
    ready = folder / "ready"
    wanted = "\n".join([*PEERS, *(path.read_text() for path in PINS), sys.version, str(folder)])
    if not ready.is_file() or ready.read_text() != wanted:
        print("==> installing nbgrader and otter-grader into .bench/ (once: a minute or two)", file=sys.stderr)
        _make(folder)
        (folder / "home").mkdir(exist_ok=True)
        ready.write_text(wanted)
    return Environment(folder)


def _make(folder: Path) -> None:
    constraints = [word for path in PINS for word in ("-c", str(path))]
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [*pip, "install", *constraints, *PEERS, "numpy"],
    ):
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise NoPeersError(NO_PEERS.format(error)) from None
        if done.returncode:
            raise NoPeersError(NO_PEERS.format(_last_line(done.stderr + done.stdout)))


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if re.search(r"\w", line)]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["no reason given"])[-1].strip()
