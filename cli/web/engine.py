"""The program behind the page: it runs in the browser's Python, and answers the requests of the page.

The page shows what `attn` prints, so every screen is the one of the terminal. The page keeps the student's files and
sends them with each request. So nothing is lost when the browser's Python is stopped and starts again.
"""

from __future__ import annotations

import base64
import contextlib
import importlib
import io
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cli import main as command
from grader.course.course import read_course
from grader.course.module import Module
from grader.course.notebook import read_cells
from grader.grading.own_words import stopped_words
from grader.sandbox.jail.same_process import prepare, run_script, tell_before_requests
from grader.submission.own_file import own_file
from grader.workspace.progress import all_progress

RUN_SECONDS = 10.0
MAX_OUTPUT = 100_000  # characters of one answer
TELL_SECONDS = 0.1  # between two parts of the output of a program that still runs
CUT = "\n… the rest of the output is not shown\n"
# Here is not the place of a student's files, so that they are not taken for their work.
SCRATCH = Path("/tmp/attnlab")

# What commands import only when they run.
USED = (
    *(command.COMMANDS[name][0] for name in ("test", "hint", "complete", "reset", "submit", "update")),
    "grader.grading.grade",
    "grader.workspace.own_costs",
    "grader.sandbox.worker.meters.measure",
    "numpy.fft",
    "numpy.linalg",
    "numpy.random",
)

Files = dict[str, dict[str, Any]]  # path → its text, and when it was changed


class Screen(io.TextIOBase):
    """What a program prints, in the order in which it prints it. Parts are told while it runs."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._untold = ""
        self._told = 0
        self._time = time.monotonic()

    def isatty(self) -> bool:
        """Return True, so that verdicts are in colour."""
        return True

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        room = MAX_OUTPUT - self._told - len(self._untold)
        if room > 0:
            self._untold += text[:room] + (CUT if len(text) > room else "")
        if time.monotonic() - self._time > TELL_SECONDS:
            self.flush()
        return len(text)

    def flush(self) -> None:
        if self._untold:
            self._tell(self._untold)
        self._told += len(self._untold)
        self._untold, self._time = "", time.monotonic()


class _Notes(io.TextIOBase):
    """Standard error: the same screen, but no terminal, so that nothing is rewritten in place."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        return self._screen.write(text)


class Engine:
    """A course in a folder, and the answers to requests about it."""

    def __init__(self, root: Path, tell: Callable[[str], None], alive: Callable[[float], None]) -> None:
        self.root = root
        self.course = read_course(root)
        self.alive = alive
        self._tell = tell
        self._given = {path: path.read_bytes() for path in _files(root)}
        os.chdir(root)
        sys.path.insert(0, str(root))  # for `mylab`

    def answer(self, request: str) -> str:
        """Carry out a request of the page, as JSON, and return the reply, as JSON."""
        asked = json.loads(request)
        self._take(asked["files"])
        SCRATCH.mkdir(parents=True, exist_ok=True)
        screen = Screen(self._tell)
        with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(_Notes(screen)):
            reply = OPERATIONS[asked["op"]](self, asked)
        screen.flush()
        return json.dumps(reply | {"files": self._own_files(), "states": self._states()})

    def _take(self, files: Files) -> None:
        """Make the student's files those of the page."""
        wanted = {self.root / path: one for path, one in files.items()}
        for path in _files(self.root):
            if path not in wanted and path not in self._given:
                path.unlink()
            elif path not in wanted and path.read_bytes() != self._given[path]:
                path.write_bytes(self._given[path])
        for path, one in wanted.items():
            data = str(one["text"]).encode()
            if not path.is_file() or path.read_bytes() != data:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            os.utime(path, (one["time"], one["time"]))

    def _own_files(self) -> Files:
        """Return the files that the student, or `attn` for the student, has written."""
        return {
            path.relative_to(self.root).as_posix(): {"text": path.read_text("utf-8"), "time": path.stat().st_mtime}
            for path in _files(self.root)
            if self._given.get(path) != path.read_bytes()
        }

    def _states(self) -> dict[str, Any]:
        """Return how far the student is with each module."""
        return {one.module.name: {"state": one.state, "complete": one.completed} for one in all_progress(self.course)}


def run_attn(engine: Engine, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Run a command."""
    del engine
    sys.argv = ["attn", *asked["words"]]
    return {"status": command.run()}


def run_file(engine: Engine, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Run the student's file of a module as a program."""
    file = engine.course.module(asked["module"]).stub
    text = file.read_text(encoding="utf-8")
    for name in [name for name in sys.modules if name.partition(".")[0] == "mylab"]:
        del sys.modules[name]
    engine.alive(RUN_SECONDS)
    place = run_script(file.name, text, RUN_SECONDS)
    if place is None:
        return {"status": 0}
    sys.stderr.write(stopped_words(*place, text, RUN_SECONDS) + "\n")
    return {"status": 1}


def hand_in(engine: Engine, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Make the zip of `attn submit`, and return it with the answer."""
    words = ["submit", "--anyway", "--student", asked["student"], "--to", str(SCRATCH)]
    reply = run_attn(engine, {"words": words})
    made = sorted(SCRATCH.glob("*.zip"))
    if reply["status"] == 0 and made:
        reply |= {"name": made[0].name, "zip": base64.b64encode(made[0].read_bytes()).decode()}
    for path in made:
        path.unlink()
    return reply


def take_over(engine: Engine, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Take the work of a zip over, as `attn update` does."""
    path = SCRATCH / Path(asked["name"]).name
    path.write_bytes(base64.b64decode(asked["zip"]))
    try:
        reply = run_attn(engine, {"words": ["update", str(path)]})
    finally:
        path.unlink()
    for module in engine.course.modules:
        if own_file(module) == module.notebook:
            _as_script(module)
    return reply


def _as_script(module: Module) -> None:
    """Make a script from the code of a notebook: the page edits scripts only."""
    cells = read_cells(module.notebook.read_bytes())
    module.stub.write_text("\n\n".join(f"# %%\n{cell}" for cell in cells) + "\n", encoding="utf-8")
    module.notebook.unlink()
    sys.stdout.write(f"{module.name}: the code of {module.notebook.name} is now {module.stub.name}.\n")


OPERATIONS: dict[str, Callable[[Engine, Mapping[str, Any]], dict[str, Any]]] = {
    "attn": run_attn,
    "run": run_file,
    "submit": hand_in,
    "update": take_over,
}


def warm() -> None:
    """Import what all requests need. After this, the page's worker keeps a copy of the memory for its next start."""
    prepare()
    for name in USED:
        importlib.import_module(name)


def start(root: str, tell: Callable[[str], None], alive: Callable[[float], None]) -> Engine:
    """Return the engine for a course in a folder; the page's worker calls this once, after `warm`.

    `tell` gets output as it appears, `alive` the seconds that the next call may take.
    """
    tell_before_requests(alive)
    return Engine(Path(root), tell, alive)


def _files(root: Path) -> list[Path]:
    return [path for path in sorted(root.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
