"""The engine of the page in a process of its own, as in a browser: one process, and no jail.

It reads a folder from its arguments, then requests from standard input, and writes an answer for each: lines of JSON.
"""

from __future__ import annotations

import json
import sys

import click  # noqa: F401 - these two need the real name of the system
import numpy as np  # noqa: F401


def main() -> None:
    """Answer until the input ends."""
    sys.platform = "emscripten"
    for name in ("_sqlite3", "_ssl", "_lzma"):  # what Python in the page does not have
        sys.modules[name] = None  # type: ignore[assignment]
    from cli.web import engine

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
