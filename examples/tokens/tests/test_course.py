"""The course is ready for students. `python -m pytest` runs this here and in CI."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_module_is_sound():
    command = [sys.executable, "-m", "attnlab", "dev", "check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
