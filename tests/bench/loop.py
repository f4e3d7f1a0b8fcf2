"""What a student waits for: `attn test` as a whole process, and in `attn watch` from saving to the verdict."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from grader.course import Course, read_course
from grader.grading import check_own_files
from grader.report import Report
from grader.submission import Submission, own_submission

ROOT = Path(__file__).parent.parent.parent
ALLOWED = {"attn test softmax": 4.0, "attn watch": 0.5}
ROUNDS = 11


def print_loop() -> bool:
    """Print both waits beside the import of NumPy, medians of one run; whether each keeps to its limit."""
    numpy, tests = [], []
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "modules", Path(folder) / "modules", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "solutions" / "01_softmax" / "softmax.py", Path(folder) / "modules" / "01_softmax")
        attn = str(Path(sys.executable).with_name("attn"))
        for _ in range(ROUNDS):
            numpy.append(_process([sys.executable, "-c", "import numpy"], folder))
            tests.append(_process([attn, "test", "softmax"], folder))
        watched = _watched(read_course(Path(folder)))
    base = statistics.median(numpy)
    print(f"a student's loop; import numpy is {base * 1000:.0f} ms")
    good = True
    for name, seconds in (("attn test softmax", statistics.median(tests)), ("attn watch", statistics.median(watched))):
        ratio = seconds / base
        good = good and ratio <= ALLOWED[name]
        print(f"  {name:<32} {seconds * 1000:7.0f} ms, {ratio:.2f} x import numpy, allowed {ALLOWED[name]} x")
    return good


def _process(command: list[str], folder: str) -> float:
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    return time.perf_counter() - started


def _watched(course: Course) -> list[float]:
    """Return the times from a save to its verdict, as `attn watch` has them: it looks every hundredth of a second."""
    from cli.watch import POLL_SECONDS

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
