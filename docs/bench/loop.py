"""The time that a student waits: for `attn test`, and in `attn watch` from saving to the verdict."""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from cli.student.warm import VARIABLE, Answer, ask, start
from docs.bench.command import ATTN, run
from docs.bench.row import Row, costs
from grader.core.report import Report
from grader.course.course import Course, read_course
from grader.grading.grade import check_own_files
from grader.submission.submission import Submission, own_submission

ROOT = Path(__file__).parent.parent.parent
PART = "a student's loop"
TEST_MOST, WATCH_MOST = 4.0, 0.5  # times the import of NumPy
COLD_MOST, WARM_MOST = 1.6, 0.3  # times the import of torch
ROUNDS, TORCH_ROUNDS = 11, 5
MODULE = "05_torch_attention"


def loop() -> Iterator[Row]:
    """Yield all waits beside the import of NumPy or torch, medians of one run."""
    yield from _numpy_loop()
    yield from _torch_loop()


def _torch_loop() -> Iterator[Row]:
    torch, cold, warm = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "modules", Path(folder) / "modules", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "solutions" / MODULE / "torch_attention.py", Path(folder) / "modules" / MODULE)
        test = [ATTN, "test", MODULE]
        for _ in range(TORCH_ROUNDS):
            torch.append(run([sys.executable, "-c", "import torch"], Path(folder)).seconds)
            cold.append(run(test, Path(folder)).seconds)
        course = read_course(Path(folder))
        start(course, course.module(MODULE))
        while not isinstance(ask(course, course.module(MODULE), everything=False), Answer):
            time.sleep(0.1)
        os.environ[VARIABLE] = "1"
        warm += [run(test, Path(folder)).seconds for _ in range(ROUNDS)]
        del os.environ[VARIABLE]
    base = ("import torch", statistics.median(torch))
    yield costs(PART, "attn test torch_attention", statistics.median(cold), base, most=COLD_MOST)
    yield costs(PART, "the same, warm", statistics.median(warm), base, most=WARM_MOST)


def _numpy_loop() -> Iterator[Row]:
    numpy, tests = [], []
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "modules", Path(folder) / "modules", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "solutions" / "01_softmax" / "softmax.py", Path(folder) / "modules" / "01_softmax")
        for _ in range(ROUNDS):
            numpy.append(run([sys.executable, "-c", "import numpy"], Path(folder)).seconds)
            tests.append(run([ATTN, "test", "softmax"], Path(folder)).seconds)
        watched = _watched(read_course(Path(folder)))
    base = ("import numpy", statistics.median(numpy))
    yield costs(PART, "attn test softmax", statistics.median(tests), base, most=TEST_MOST)
    yield costs(PART, "attn watch, from save to verdict", statistics.median(watched), base, most=WATCH_MOST)


def _watched(course: Course) -> list[float]:
    """Return the times from a save to its verdict in `attn watch`, which looks every hundredth of a second."""
    from cli.student.watch import POLL_SECONDS

    module = course.modules[0]
    text = module.stub.read_text()
    saved: list[float] = []
    seconds: list[float] = []

    def save(number: int) -> None:
        time.sleep(0.1)
        module.stub.write_text(f"{text}\n# {number}\n")
        saved.append(time.perf_counter())

    def states() -> Iterator[Submission]:
        for number in range(ROUNDS + 2):
            before = module.stub.stat().st_mtime_ns
            threading.Thread(target=save, args=(number,)).start()
            while module.stub.stat().st_mtime_ns == before or len(saved) <= number:
                time.sleep(POLL_SECONDS)
            yield own_submission(course, module)

    def on_report(report: Report) -> None:
        assert all(check.outcome == "passed" for check in report.checks)
        seconds.append(time.perf_counter() - saved[-1])

    check_own_files(course, module, states(), on_report)
    return seconds[2:]  # the first are still waiting for the zygote
