"""Probes of 01_tiles."""

import numpy as np

from grader.diagnosis.probe import probe

Q, K = np.array([[1.0, 0.0], [2.0, 1.0], [3.0, -1.0]]), np.array([[1.0, 2.0], [1.0, -1.0], [2.0, 0.5]])
PROBES = [
    probe("tiled_sum", Q, K, 2),
    probe("tiled_sum", Q, K, 3),
    probe("causal_sum", Q, K, 2),
]
