"""torch-judge as a user runs it: `check` on a namespace that has the submission. Installed into .bench/, once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.peers.environment import FOLDER, NoPeersError
from tests.bench.verdicts.attention_tasks import ATTENTION, CACHE, CAUSAL, GROUPS, HEADS, ROPE, SOFTMAX
from tests.bench.verdicts.model_tasks import FLASH, LINEAR, LOSS, NORM, SAMPLING, WINDOW
from tests.bench.verdicts.peer import Peer, Submissions

VERSION = "0.1.1"
PACKAGES = FOLDER / f"torch-judge-{VERSION}"
# Runs beside torch-judge. It prints one line at the end: which submissions were accepted.
PROGRAM = """
import contextlib, io, json, sys
from torch_judge import check

def accepted(task, text):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(text + f"\\nfrom torch_judge import check\\ncheck({task!r})\\n", "<submission>", "exec"), {})
    return "tests passed!" in said.getvalue()

print(json.dumps([accepted(task, text) for task, text in json.load(sys.stdin)]))
"""


def accepted_by_torch_judge(submissions: Submissions) -> list[bool]:
    """Return for each task and submission whether all tests of torch-judge pass."""
    _install()
    with tempfile.TemporaryDirectory() as scratch:
        # It keeps a file of what was solved; ours must not end up in the project.
        environment = os.environ | {"PYTHONPATH": str(PACKAGES), "PROGRESS_PATH": str(Path(scratch) / "progress.json")}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            input=json.dumps(submissions), cwd=scratch, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode:
        raise NoPeersError(f"torch-judge did not run: {done.stderr[-300:]}")
    return [bool(one) for one in json.loads(done.stdout.splitlines()[-1])]


def _install() -> None:
    if PACKAGES.is_dir():
        return
    print("==> installing torch-judge into .bench/ (once)", file=sys.stderr)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(PACKAGES)]
    done = subprocess.run([*pip, f"torch-judge=={VERSION}"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoPeersError(f"torch-judge could not be installed into .bench/: {done.stderr[-300:]}")


ABOUT = """\
a public judge for PyTorch exercises, from PyPI. It is for practice: it has no hidden tests, its tests are short enough
to read, and it covers topics that this course does not have. It accepts a submission if its `check` says that all tests
passed. We chose every task that both have."""
TASKS = (SOFTMAX, ATTENTION, CAUSAL, HEADS, ROPE, GROUPS, CACHE, FLASH, LINEAR, WINDOW, NORM, LOSS, SAMPLING)
TORCH_JUDGE = Peer("torch-judge", VERSION, ABOUT, TASKS, accepted_by_torch_judge)
