"""Probes of 01_log: scripts, because one call alone shows nothing."""

import numpy as np

from grader.diagnosis.probe import probe, step

FIRST, SECOND = np.array([1.0, 2.0]), np.array([5.0, 0.0])
PROBES = [
    probe("Log.length", init=(2,), before=[step("append", FIRST), step("append", SECOND)]),
    probe("Log.mean", init=(2,), before=[step("append", FIRST)]),
    probe("Log.mean", init=(2,), before=[step("append", FIRST), step("append", SECOND)]),
    probe("Log.append", np.ones(3), init=(2,), names=(2, 3)),
    probe("Log.append", SECOND, init=(2,), before=[step("append", FIRST)]),
]
