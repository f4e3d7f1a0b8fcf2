"""What pip installs as `attnlab`: the start of `attn`. It imports nothing of ours before our own folder comes first.

`cli` and `grader` are plain names. So a wheel has them in `attnlab/lib/`, where no other package overwrites them, and
`attn` looks there first. In a clone there is no such folder. See setup.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

LIB = Path(__file__).parent / "lib"


def main() -> None:
    """Run `attn`."""
    if LIB.is_dir():
        sys.path.insert(0, str(LIB))
    from cli.main import main as run  # here: only now is it ours

    run()
