"""torch-judge as a user runs it: `check` on a namespace that has the submission. Installed into .bench/, once."""

from __future__ import annotations

import tempfile
from pathlib import Path

from docs.bench.peers.environment import FOLDER
from docs.bench.verdicts.attention_tasks import ATTENTION, CACHE, CAUSAL, GROUPS, HEADS, ROPE, SOFTMAX
from docs.bench.verdicts.beside import answers, install
from docs.bench.verdicts.model_tasks import FLASH, LINEAR, LOSS, NORM, SAMPLING, WINDOW
from docs.bench.verdicts.peer import Peer, Submissions

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
    install([f"torch-judge=={VERSION}"], PACKAGES)
    with tempfile.TemporaryDirectory() as scratch:
        # It keeps a file of what was solved; ours must not end up in the project.
        variables = {"PYTHONPATH": str(PACKAGES), "PROGRESS_PATH": str(Path(scratch) / "progress.json")}
        return answers(PROGRAM, submissions, Path(scratch), variables)


ABOUT = """\
a public judge for PyTorch exercises, from PyPI. It is for practice: it has no hidden tests, its tests are short enough
to read, and it covers topics that this course does not have. It accepts a submission if its `check` says that all tests
passed. We chose every task that both have."""
TASKS = (SOFTMAX, ATTENTION, CAUSAL, HEADS, ROPE, GROUPS, CACHE, FLASH, LINEAR, WINDOW, NORM, LOSS, SAMPLING)
TORCH_JUDGE = Peer("torch-judge", VERSION, ABOUT, TASKS, accepted_by_torch_judge)
