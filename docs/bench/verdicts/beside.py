"""A program that runs beside another grader: its packages in a folder of .bench/, and answers as JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from docs.bench.peers.environment import NoPeersError


def install(packages: Sequence[str], folder: Path) -> None:
    """Install packages into a folder, once and without what they depend on; NoPeersError if that fails."""
    if folder.is_dir():
        return
    print(f"==> installing {', '.join(packages)} into .bench/ (once)", file=sys.stderr)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
    done = subprocess.run([*pip, *packages], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoPeersError(f"{', '.join(packages)} could not be installed into .bench/: {done.stderr[-300:]}")


def answers(program: str, questions: Sequence[Any], cwd: Path, variables: Mapping[str, str]) -> list[bool]:
    """Run a program that reads questions and prints, in its last line, which of them it accepts."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(questions), cwd=cwd, env=os.environ | variables, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise NoPeersError(f"a program beside {variables['PYTHONPATH']} did not run: {done.stderr[-300:]}")
    return [bool(one) for one in json.loads(done.stdout.splitlines()[-1])]
