"""Probes of 01_cache."""

import numpy as np

from grader.diagnosis.probe import probe

PROBES = [
    probe("KeyCache.update", np.array([[1.0, 2.0], [0.0, 4.0]]), init=(np.array([[1.0, 3.0], [0.5, 1.0]]), 2)),
]
