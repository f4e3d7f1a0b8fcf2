"""`attn grade` on a cluster of processes on this machine."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.course.course import Course
from grader.platforms.cluster.certificates import make_certificates
from tests.cli.conftest import EXECUTABLE
from tests.conftest import ROOT
from tests.platforms.cluster.machines import Machines, texts, written

MODULE = "01_tiny"
CLASS = {
    "ana": "def tiny(x):\n    return x + x\n",
    "ben": "def tiny(x):\n    return x ** 2\n",
    "cy": "def tiny(x:\n",
    "dee": "import os\n\n\ndef tiny(x):\n    os._exit(0)\n",
    "eva": "def tiny(x):\n    raise ValueError('no')\n",
    "fay": "def tiny(x):\n    return 2 * x\n",
}
STRANGER = """
import sys
from pathlib import Path
from distributed import Client
from grader.platforms.cluster.certificates import security_of
try:
    Client(sys.argv[1], security=security_of(Path(sys.argv[2])), timeout=5)
except OSError:
    print("refused")
"""
Grade = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def root(built: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the small course, with a class beside it."""
    folder = tmp_path_factory.mktemp("shared")
    for name, text in CLASS.items():
        path = folder / "class" / name / MODULE / "tiny.py"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    return Path(shutil.copytree(built.root, folder / "course"))


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """A scheduler and two workers."""
    with Machines(tmp_path_factory.mktemp("machines")) as found:
        found.add_worker()
        found.add_worker()
        yield found


@pytest.fixture(scope="module")
def grade(root: Path) -> Grade:
    """Run `attn grade` on the class."""

    def run(*options: object) -> subprocess.CompletedProcess[str]:
        command = [EXECUTABLE, "grade", str(root.parent / "class"), "--allow-unjailed", *map(str, options)]
        return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)

    return run


@pytest.fixture(scope="module")
def local(grade: Grade, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of the local pool."""
    out = tmp_path_factory.mktemp("out") / "local"
    assert grade("--to", out).returncode == 1
    return out


def test_reports_are_those_of_the_local_pool(grade: Grade, machines: Machines, local: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = grade("--to", out, *machines.options)
    assert done.returncode == 1, done.stderr
    assert texts(out, MODULE) == texts(local, MODULE)
    assert list(texts(out, MODULE)) == list(CLASS)
    assert sorted(written(out)) == sorted(written(local))
    assert (out / "grades.csv").read_bytes() == (local / "grades.csv").read_bytes()
    assert not (out / ".cluster").exists()
    again = grade("--to", out, "--resume", *machines.options)
    assert f"{len(CLASS)} of {len(CLASS)} are in" in again.stderr


def test_a_worker_with_another_version_is_refused(grade: Grade, tmp_path: Path) -> None:
    code = shutil.copytree(ROOT / "grader", tmp_path / "other" / "grader", ignore=shutil.ignore_patterns("__pycache__"))
    with (code / "core" / "compare.py").open("a") as file:
        file.write("# another version\n")
    with Machines(tmp_path / "machines") as machines:
        machines.add_worker(code=tmp_path / "other")
        done = grade("--to", tmp_path / "out", *machines.options)
    assert done.returncode == 2
    assert "has another version of AttnLab: install the same on all machines" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((tmp_path / "out").glob(f"{MODULE}/*.json"))


def test_a_stranger_without_the_certificate_is_refused(machines: Machines, tmp_path: Path) -> None:
    make_certificates(tmp_path / "own")
    link = subprocess.run(
        [sys.executable, "-c", STRANGER, machines.address, str(tmp_path / "own")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert link.stdout == "refused\n", link.stderr


def test_a_pool_for_a_gpu_needs_one(grade: Grade, machines: Machines, tmp_path: Path) -> None:
    done = grade("--to", tmp_path / "out", "--on-gpu", machines.address, "--certs", machines.certs)
    assert done.returncode == 2
    assert f"all workers at {machines.address} must have the same GPU, but they have: none" in done.stderr


@pytest.mark.exhaustive
def test_a_cluster_for_one_run(grade: Grade, local: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = grade("--to", out, "--cluster", "local", "--jobs", 2)
    assert done.returncode == 1, done.stderr
    assert texts(out, MODULE) == texts(local, MODULE)
    assert not (out / ".cluster").exists()
