"""Malicious submissions that try to stop the grading of a class, and honest ones."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import ROOT

SOLUTION = (ROOT / "solutions" / "01_softmax" / "softmax.py").read_text()
STUB = (ROOT / "modules" / "01_softmax" / "softmax.py").read_text()
HONEST = {
    "right": SOLUTION,
    "stub": STUB,
    "wrong_axis": SOLUTION.replace("axis=axis", "axis=0"),
    "says_much": SOLUTION + "\nprint('hello ' * 1000)\n",
    "raises": SOLUTION + "\n\ndef softmax(x, axis=-1):\n    raise ValueError('no')\n",
}
_INSTEAD = SOLUTION + "\n\ndef softmax(x, axis=-1):\n    "
POISON = {
    "never_returns": _INSTEAD + "while True: pass\n",
    "sleeps_at_import": "import time\ntime.sleep(10**9)\n",
    "crashes": _INSTEAD + "import ctypes; ctypes.string_at(0)\n",
    "floods": _INSTEAD + "\n    for _ in range(10**6): print('x' * 10**6)\n",
    "forks": _INSTEAD + "import os\n    while True: os.fork()\n",
    "not_importable": "def softmax(:\n",
    "three_tebibytes": _INSTEAD + "return np.broadcast_to(np.float64(0.5), (3 << 37,))\n",
    "eats_memory": _INSTEAD + "return [bytearray(1 << 28) for _ in range(10**6)]\n",
    "leaves": "import os\nos._exit(0)\n",
    "deep": _INSTEAD + "\n    def f(): f()\n    import sys; sys.setrecursionlimit(10**9); f()\n",
}


def write_class(folder: Path, size: int) -> dict[str, str]:
    """Write a class with every malicious submission among honest ones; return the kind of each student's."""
    honest = list(HONEST)
    every = size // len(POISON)
    kinds = {f"s{i:03d}": honest[i % len(honest)] for i in range(size)}
    kinds |= {f"s{number * every + every // 2:03d}": kind for number, kind in enumerate(POISON)}
    for name, kind in kinds.items():
        path = folder / name / "softmax.py"
        path.parent.mkdir(parents=True)
        path.write_text((HONEST | POISON)[kind])
    return kinds
