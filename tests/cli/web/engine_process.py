"""The engine of the page in a process of its own, as in a browser: one process, and no jail.

It reads a folder from its arguments, then requests from standard input, and writes an answer for each: lines of JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click  # noqa: F401 - these two need the real name of the system
import numpy as np  # noqa: F401


def main() -> None:
    """Answer until the input ends."""
    sys.platform = "emscripten"
    for name in ("_sqlite3", "_ssl", "_lzma"):  # what Python in the page does not have
        sys.modules[name] = None  # type: ignore[assignment]
    from cli.web import engine

    engine.SCRATCH = Path(sys.argv[1]).with_name("scratch")  # a fixed folder would belong to the user who came first
    shown: list[str] = []
    answers = sys.stdout
    engine.warm()
    found = engine.start(sys.argv[1], shown.append, lambda _: None)
    for line in sys.stdin:
        shown.clear()
        reply = json.loads(found.answer(line))
        answers.write(json.dumps(reply | {"screen": "".join(shown)}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
