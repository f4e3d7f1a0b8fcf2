"""The prover: returns the proofs of many modules. Missing proofs are made by one process for each core."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import grader
from grader.authoring.misconceptions import read_misconceptions
from grader.authoring.proof import Proof, keep_proof, proof_from, prove_module, read_proof
from grader.course.course import Course
from grader.course.module import Backend, CourseError, Module
from grader.grading.pool import usable_cores
from grader.grading.workers import Workers
from grader.sandbox.jail.view import ONE_THREAD

POLL_SECONDS = 0.5  # Ctrl-C does not interrupt an endless wait on Windows
TORCH_FACTOR = 2  # a misconception in torch takes about twice as long

TellModule = Callable[[str, str], None]  # a module, and what is tried in it


class ProverError(Exception):
    """A proving process failed: a fault of the grader."""


def prove(course: Course, modules: Sequence[Module], tell: TellModule = lambda *_: None) -> dict[str, Proof]:
    """Return the proof of each module by its name; only those whose files or grader changed are proved again."""
    found = {module.name: proof for module in modules if (proof := read_proof(course, module)) is not None}
    todo = [module for module in modules if module.name not in found]
    jobs = min(usable_cores(), len(todo))
    for proof in _prove_here(course, todo, tell) if jobs < 2 else _prove_in_processes(course, todo, jobs, tell):
        keep_proof(course, proof)
        found[proof.module] = proof
    return found


@contextmanager
def open_zygotes() -> Iterator[Callable[[Backend], Workers]]:
    """Give out the workers of each backend; all modules of a backend share one zygote."""
    opened: dict[Backend, Workers] = {}
    with ExitStack() as stack:

        def workers_of(backend: Backend) -> Workers:
            if backend not in opened:
                opened[backend] = stack.enter_context(Workers(backend, allow_unjailed=True))
            return opened[backend]

        yield workers_of


def _prove_here(course: Course, modules: Sequence[Module], tell: TellModule) -> Iterator[Proof]:
    with open_zygotes() as workers_of:
        for module in modules:
            yield prove_module(course, module, workers_of(module.backend), partial(tell, module.name))


def _prove_in_processes(course: Course, modules: Sequence[Module], jobs: int, tell: TellModule) -> Iterator[Proof]:
    """Yield proofs as they are done. The longest begin first, so that no core is left alone with one at the end."""
    waiting = deque(sorted(modules, key=partial(_weight, course), reverse=True))
    answers: queue.SimpleQueue[dict[str, Any] | Exception | None] = queue.SimpleQueue()
    processes = [_start_process(course.root) for _ in range(jobs)]
    threads = [threading.Thread(target=_drive, args=(one, waiting, answers), daemon=True) for one in processes]
    for thread in threads:
        thread.start()
    try:
        working = len(threads)
        while working:
            try:
                answer = answers.get(timeout=POLL_SECONDS)
            except queue.Empty:
                continue
            if answer is None:
                working -= 1
            elif isinstance(answer, Exception):
                raise answer
            elif "proof" in answer:
                yield proof_from(answer["proof"])
            else:
                tell(*answer["tell"])
    finally:
        waiting.clear()
        for process in processes:
            process.kill()
            process.wait()
        for thread in threads:
            thread.join()
        for process in processes:
            for pipe in filter(None, (process.stdin, process.stdout)):
                with contextlib.suppress(OSError):
                    pipe.close()


def _weight(course: Course, module: Module) -> int:
    try:
        count = len(read_misconceptions(course, module))
    except CourseError:  # the proof will report it
        return 0
    return count * (TORCH_FACTOR if module.backend == "torch" else 1)


def _start_process(root: Path) -> subprocess.Popen[bytes]:
    # Our own folder comes first: the process must run this code, not that of an installed package.
    path = os.pathsep.join(filter(None, [str(Path(grader.__file__).parent.parent), os.environ.get("PYTHONPATH", "")]))
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "grader.authoring.prover_process", str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
        start_new_session=True,  # Ctrl-C is for the command, which ends this process itself
    )


def _drive(
    process: subprocess.Popen[bytes],
    waiting: deque[Module],
    answers: queue.SimpleQueue[dict[str, Any] | Exception | None],
) -> None:
    """Give a process one module after another, and pass its answers on."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        while waiting:
            try:
                module = waiting.popleft()
            except IndexError:
                break
            process.stdin.write(f"{module.name}\n".encode())
            process.stdin.flush()
            for line in process.stdout:
                answer = json.loads(line)
                if "fault" in answer:
                    raise ProverError(f"proving {module.name} failed:\n{answer['fault']}")
                answers.put(answer)
                if "proof" in answer:
                    break
            else:
                raise ProverError(f"the process that proved {module.name} ended with {process.wait()}")
    except (OSError, ValueError, ProverError) as error:
        answers.put(error)
    finally:
        answers.put(None)
