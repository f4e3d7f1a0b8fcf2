"""Runs the visible checks of AttnLab. Classroom 50's runner starts it in the student's repository.

It uses only Python's own library: it installs the wheel and the packages beside it, and then starts the grader.
ATTNLAB_PYTHON names a Python that has them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent


def installed_python() -> str:
    """Return a Python with the packages of the bundle."""
    folder = HERE / ".venv"
    venv.create(folder, with_pip=True)
    python = str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    packages = json.loads((HERE / "classroom50.json").read_text(encoding="utf-8"))["packages"]
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], cwd=HERE, check=True)
    return python


def main() -> int:
    """Run the autograder; a status other than 0 means that there is no result, and the runner says so."""
    python = os.environ.get("ATTNLAB_PYTHON") or installed_python()
    return subprocess.call([python, "-P", "-m", "grader.platforms.classroom50.autograder", str(HERE)])


if __name__ == "__main__":
    sys.exit(main())
