"""The tests of a public course, Stanford's CS336 (assignment 1), in a checkout that the user has.

A student of that course writes functions and names them in `tests/adapters.py`. Here a submission is a text behind that
file, in a copy of the checkout's tests. The checkout itself is not changed.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from functools import partial
from pathlib import Path

from docs.bench.peers.environment import FOLDER, NoPeersError
from docs.bench.verdicts.beside import answers, install
from docs.bench.verdicts.cs336_tasks import TASKS
from docs.bench.verdicts.peer import Peer, Submissions

NAME = "CS336"
ABOUT = """\
a Stanford course on language models. We use the public tests of its first assignment, from a checkout of
`stanford-cs336/assignment1-basics`. Students run them before they submit. They accept a submission if the tests of the
task pass. Multi-head attention is left out: its tests need a file that is not in every copy. The one right solution
that is refused is `exp(x - logsumexp(x))`: near a score of 100, its rounding in float32 is above the tolerance."""
TESTS = {
    "softmax": ("tests/test_nn_utils.py::test_softmax_matches_pytorch",),
    "attention": (
        "tests/test_model.py::test_scaled_dot_product_attention",
        "tests/test_model.py::test_4d_scaled_dot_product_attention",
    ),
    "rope": ("tests/test_model.py::test_rope",),
    "cross_entropy": ("tests/test_nn_utils.py::test_cross_entropy",),
}
TESTS["mask"] = TESTS["attention"]  # the same tests: its attention has a mask
PACKAGES = FOLDER / "cs336"
NEEDED = ("einops==0.8.1", "jaxtyping==0.3.2", "wadler-lindig==0.1.7")  # what its tests import, besides ours
# torch is imported once; each submission has a process of its own, forked from this one.
PROGRAM = """
import json, os, sys
import einops, jaxtyping, numpy, pytest, torch

def passes(tests, folder):
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.chdir(folder)
    sys.path.insert(0, folder)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1), os.dup2(silent, 2)
    os._exit(pytest.main(["-q", "-p", "no:cacheprovider", "-c", "pytest.ini", *tests]))

print(json.dumps([passes(tests, folder) for tests, folder in json.load(sys.stdin)]))
"""


def cs336(clone: Path) -> Peer:
    """Return the grader in a checkout; NoPeersError if it is none."""
    if not (clone / "tests" / "adapters.py").is_file():
        raise NoPeersError(
            f"{clone} is not a checkout of stanford-cs336/assignment1-basics: it has no tests/adapters.py"
        )
    git = ["git", "-C", str(clone), "rev-parse", "--short=7", "HEAD"]
    done = subprocess.run(git, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoPeersError(f"{clone} is not a git checkout, so its version is not known: {done.stderr.strip()[-300:]}")
    return Peer(NAME, done.stdout.strip(), ABOUT, TASKS, partial(accepted_by_cs336, clone))


def accepted_by_cs336(clone: Path, submissions: Submissions) -> list[bool]:
    """Return for each task and submission whether the tests of the checkout pass."""
    install(NEEDED, PACKAGES)
    with tempfile.TemporaryDirectory() as scratch:
        work = [
            (TESTS[task], str(_copy(clone, Path(scratch) / str(number), text)))
            for number, (task, text) in enumerate(submissions)
        ]
        return answers(PROGRAM, work, Path(scratch), {"PYTHONPATH": str(PACKAGES)})


def _copy(clone: Path, folder: Path, text: str) -> Path:
    """Copy the tests without their data, which these tasks do not need, and put a submission behind the adapters."""
    shutil.copytree(clone / "tests", folder / "tests", ignore=shutil.ignore_patterns("fixtures", "__pycache__"))
    with (folder / "tests" / "adapters.py").open("a", encoding="utf-8") as adapters:
        adapters.write(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    return folder
