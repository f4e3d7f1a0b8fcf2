"""Workers in this process, for a student's own page in a browser, which has no other process. They grade nothing.

A session sends its requests and reads the replies as from any worker. Nothing is jailed, and what student code does to
Python itself, such as replacing a function of NumPy, stays until the page starts Python again.
"""

from __future__ import annotations

import ast
import contextlib
import io
import linecache
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TextIO

import numpy as np

from grader.core.machine import Tier
from grader.course.module import Backend
from grader.sandbox.jail.limits import MEMORY_BYTES, DeadlineError
from grader.sandbox.jail.spawner import Closing, Exit, Process
from grader.sandbox.protocol.decoder import decode
from grader.sandbox.protocol.encoder import encode
from grader.sandbox.protocol.wire import UnsendableError
from grader.sandbox.worker.loop_watch import LoopWatch, OverTimeError
from grader.sandbox.worker.seeding import replace_system_randomness, seed_everything
from grader.sandbox.worker.warm_up import warm_up
from grader.sandbox.worker.worker import READY, BoundedOutput, Worker

_FLOAT_ERRORS: Mapping[str, Any] = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


class SameProcessSpawner(Closing):
    """Starts workers that answer in this process."""

    tier: Tier = "none"
    memory = MEMORY_BYTES
    alive: ClassVar[list[Callable[[float], None]]] = []  # told before each request how many seconds it may take

    def __init__(self, backend: Backend) -> None:
        self.backend: Backend = backend

    def spawn(self) -> Process:
        """Return a worker without any of the student's objects."""
        worker = _WorkerSocket(self.alive)
        return Process(
            os.getpid(),
            worker,  # type: ignore[arg-type] # it has what a channel needs of a socket
            kill=lambda: None,
            wait=lambda _: Exit(0),
            dismiss=lambda: None,
            ask_where=worker.write_place,
            allow=worker.allow,
        )

    def again(self) -> SameProcessSpawner:
        """Return another one."""
        return SameProcessSpawner(self.backend)

    def close(self) -> None:
        """Do nothing: no process was started."""


class _WorkerSocket:
    """A socket whose other end is a worker in this process. It answers when a reply is read."""

    def __init__(self, alive: Sequence[Callable[[float], None]]) -> None:
        self._worker = Worker()
        self._alive = alive
        self._printed = BoundedOutput()
        self._output = io.TextIOWrapper(self._printed, encoding="utf-8", errors="backslashreplace", write_through=True)  # type: ignore[type-var]
        self._float_errors = dict(_FLOAT_ERRORS)
        self._watch = LoopWatch()
        self._seconds = 0.0
        self._asked = bytearray()
        self._answers = bytearray(READY)
        seed_everything(0)
        with warnings.catch_warnings():  # Python forgets which warnings it has shown, as in a new process
            pass

    def allow(self, seconds: float) -> None:
        """Set the time of the next request."""
        self._seconds = seconds
        for tell in self._alive:
            tell(seconds)

    def settimeout(self, seconds: float) -> None:
        """Do nothing: there is no waiting in one process."""

    def send(self, data: bytes | memoryview) -> int:
        self._asked += data
        return len(data)

    def recv(self, count: int) -> bytes:
        """Return the next bytes; none means the end, as from a socket."""
        if not self._answers and self._asked:
            request, self._asked = bytes(self._asked), bytearray()
            self._answers += self._answer(decode(request))
        chunk = bytes(self._answers[:count])
        del self._answers[:count]
        return chunk

    def write_place(self) -> None:
        """Write the line of the loop that was ended, as faulthandler would."""
        if self._watch.place is not None:
            file, line = self._watch.place
            self._answers += f'File "{file}", line {line} in loop\n'.encode()

    def close(self) -> None:
        self._asked.clear()
        self._answers.clear()

    def _answer(self, request: dict[str, Any]) -> bytes:
        """Carry out a request as in a process of its own: with its own output and its own setting of float errors."""
        with np.errstate(**self._float_errors), _output_to(self._output):
            with self._watch.limited(self._seconds, _StudentFiles(self._worker)):
                reply = {"id": request["id"], **self._worker.answer(request)}
            self._float_errors = dict(np.geterr())
        if self._watch.place is not None:
            raise DeadlineError(f"more than {self._seconds:g} s of CPU time", waited=False)
        try:
            return bytes(encode({**reply, "printed": self._printed.take()}, self._worker.keep))
        except (UnsendableError, MemoryError) as error:
            noted: dict[str, Any] = {part: reply[part] for part in ("changed", "called") if part in reply}
            described = self._worker.describe(error)
            return bytes(encode({"id": request["id"], **noted, "error": described, "printed": self._printed.take()}))


class _StudentFiles:
    """The names of the student's files that a worker has loaded so far; loading adds to them."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def __contains__(self, name: object) -> bool:
        return name in self._worker.filenames


@contextlib.contextmanager
def _output_to(stream: TextIO) -> Iterator[None]:
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        yield


def prepare() -> None:
    """Make this process like that of a worker for NumPy: repeatable, and without torch."""
    warm_up("numpy")
    replace_system_randomness()


def tell_before_requests(alive: Callable[[float], None]) -> None:
    """Tell before each request how many seconds it may take: what takes longer cannot be ended from inside."""
    SameProcessSpawner.alive.append(alive)


def run_script(file: str, text: str, seconds: float) -> tuple[str, int] | None:
    """Run a file as `python FILE` does, and print its exception. Return the line of a loop that took too long.

    If the last statement is an expression, its value is printed, as in a notebook.
    """
    watch = LoopWatch()
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {"__name__": "__main__", "__file__": file}
    try:
        body, last = _with_last_value(ast.parse(text, file))
        with watch.limited(seconds, {file}):
            exec(compile(body, file, "exec", dont_inherit=True), names)
            if last is not None:
                sys.displayhook(eval(compile(last, file, "eval", dont_inherit=True), names))
    except OverTimeError:
        pass
    except SystemExit as left:
        sys.stderr.write("" if left.code in (None, 0) else f"{left.code}\n")
    except BaseException as error:  # noqa: BLE001 - shown as Python shows it, without our own lines
        own = None if error.__traceback__ is None else error.__traceback__.tb_next
        traceback.print_exception(type(error), error, own)
    return watch.place


def _with_last_value(tree: ast.Module) -> tuple[ast.Module, ast.Expression | None]:
    """Split a file before its last statement, if that is an expression."""
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        return tree, None
    return ast.Module(tree.body[:-1], tree.type_ignores), ast.Expression(last.value)
