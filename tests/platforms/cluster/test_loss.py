"""A class of 2 000 on four workers, of which two are killed, and the scheduler too: nothing is lost, nothing double."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from grader.course.course import Course
from tests.cli.conftest import EXECUTABLE
from tests.platforms.cluster.machines import Machines, texts, written
from tests.waiting import wait_until

pytestmark = pytest.mark.exhaustive  # 2 000 submissions, twice

SIZE = 2000
MINUTES = 20  # for a part of them: only a hang takes longer
MODULE = "01_tiny"
HONEST = (
    "def tiny(x):\n    return x + x\n",
    "def tiny(x):\n    return 2 * x\n",
    "def tiny(x):\n    return x ** 2\n",
    "def tiny(x):\n    x *= 2\n    return x\n",
    "def tiny(x):\n    raise ValueError('no')\n",
    "def tiny(x:\n",
)
_IN_THE_CALL = "import ctypes, os, signal, sys\n\n\ndef tiny(x):\n    "
HARMFUL = tuple(
    _IN_THE_CALL + body + "\n"
    for body in (
        "while True: pass",
        "ctypes.string_at(0)",
        "os._exit(0)",
        "os.kill(os.getppid(), signal.SIGKILL)",
        "os.kill(-1, signal.SIGKILL)",
        "return bytearray(1 << 40)",  # at once: what is filled piece by piece would come near the limit of time
        "return bytearray(1 << 25)",
        "os.write(1, b'{\"report\": {}}' * 10**5); return x + x",
        "sys.setrecursionlimit(10**9); return tiny(x)",
        "os.fork()",
    )
)
COUNT = 20  # each of them twice
LIMITS = "limits = {cpu_s = 0.5}\n"  # of a call: an endless one should not cost the test much


def write_class(folder: Path) -> None:
    kinds = [HONEST[number % len(HONEST)] for number in range(SIZE)]
    for number in range(COUNT):
        kinds[(2 * number + 1) * SIZE // (2 * COUNT)] = HARMFUL[number % len(HARMFUL)]
    for number, text in enumerate(kinds):
        path = folder / f"s{number:04d}" / MODULE / "tiny.py"
        path.parent.mkdir(parents=True)
        path.write_text(text)


def command(folder: Path, out: Path, *options: str) -> list[str]:
    return [EXECUTABLE, "grade", str(folder), "--to", str(out), "--allow-unjailed", *options]


def wait_for(reports: int, out: Path, running: subprocess.Popen[bytes]) -> None:
    wait_until(
        f"{reports} reports", lambda: len(list((out / MODULE).glob("*.json"))) >= reports, MINUTES * 60, by=running
    )


def test_lost_machines_lose_nothing_and_double_nothing(built: Course, tmp_path: Path) -> None:
    root = Path(shutil.copytree(built.root, tmp_path / "course"))
    file = root / "modules" / MODULE / "module.toml"
    file.write_text(file.read_text() + LIMITS)
    folder, local, out = tmp_path / "class", tmp_path / "local", tmp_path / "cluster"
    write_class(folder)
    with Machines(tmp_path / "machines") as machines:
        for _ in range(4):
            machines.add_worker()
        words = command(folder, out, *machines.options)
        with (
            (tmp_path / "said").open("wb") as said,
            subprocess.Popen(words, cwd=root, stdout=subprocess.DEVNULL, stderr=said) as running,
        ):
            wait_for(SIZE // 5, out, running)
            machines.kill_worker()
            machines.kill_worker()
            wait_for(SIZE * 2 // 5, out, running)
            machines.kill_scheduler()
            machines.start_scheduler()
    assert running.returncode == 1, (tmp_path / "said").read_text()[-2000:]
    done = subprocess.run(command(folder, local), cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr[-2000:]
    assert len(texts(out, MODULE)) == SIZE
    assert texts(out, MODULE) == texts(local, MODULE)
    assert sorted(written(out)) == sorted(written(local)) == [(MODULE, f"s{number:04d}") for number in range(SIZE)]
    assert (out / "grades.csv").read_bytes() == (local / "grades.csv").read_bytes()
    assert not (out / ".cluster").exists()


def test_a_killed_command_takes_over_what_the_workers_finished(built: Course, tmp_path: Path) -> None:
    root = Path(shutil.copytree(built.root, tmp_path / "course"))
    folder, local, out = tmp_path / "class", tmp_path / "local", tmp_path / "cluster"
    students = [f"s{number:02d}" for number in range(60)]
    for number, name in enumerate(students):
        path = folder / name / MODULE / "tiny.py"
        path.parent.mkdir(parents=True)
        path.write_text(HONEST[number % len(HONEST)])
    reports = out / ".cluster" / "spool" / "reports"
    with Machines(tmp_path / "machines") as machines:
        machines.add_worker()
        words = command(folder, out, *machines.options)
        with subprocess.Popen(words, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
            wait_until("ten reports", lambda: len(list(reports.rglob("*.json"))) >= 10, by=running)
            running.kill()
        found = [path.read_bytes() for path in reports.rglob("*.json")]
        left = {json.loads(data)["submission"]: data for data in found}
        assert left
        done = subprocess.run([*words, "--resume"], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr[-2000:]
    assert subprocess.run(command(folder, local), cwd=root, capture_output=True, check=False).returncode == 1
    assert texts(out, MODULE) == texts(local, MODULE)
    assert sorted(written(out)) == [(MODULE, name) for name in students]
    # With their timing: they were not graded again.
    assert {name: (out / MODULE / f"{name}.json").read_bytes() for name in left} == left
    assert not (out / ".cluster").exists()
