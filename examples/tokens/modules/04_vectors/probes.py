"""Probes of 04_vectors: calls that tell its misconceptions apart."""

import numpy as np

from grader.diagnosis.probe import probe

TABLE = np.array(
    [[0.1, 0.2, 0.3, 0.4], [1, 0, 0, 0], [0, 1, 0, 0], [0.5, 0.5, -0.5, -0.5], [2, -1, 0, 1], [0, 0, 0, 1]]
)
POSITIONS = np.array([[0, 1, 0, 1], [0.5, 0.5, 0, 1], [1, -0.5, 0.25, 1], [0.75, 0, 0.5, 1]])
SINGLE = np.array([[0.5, 1, 2], [3, 4, 8]], dtype=np.float32)

PROBES = [
    probe("look_up", [4, 0, 4], TABLE),
    probe("look_up", [5, 2], TABLE),
    probe("look_up", np.array([1, 3]), TABLE),
    probe("look_up", [1, 0], SINGLE),
    probe("look_up", [17], TABLE, names=(17,)),
    probe("look_up", [6], TABLE, names=(6,)),
    probe("look_up", [2, -1], TABLE, names=(-1,)),
    probe("look_up", [], TABLE),
    probe("one_hot", [4, 0, 4], 6),
    probe("one_hot", [0], 3),
    probe("one_hot", np.array([1, 2]), 3),
    probe("one_hot", [17], 6, names=(17,)),
    probe("one_hot", [-1], 3, names=(-1,)),
    probe("sinusoidal", 3, 4),
    probe("sinusoidal", 2, 2),
    probe("sinusoidal", 4, 8),
    probe("sinusoidal", 3, 5, names=(5,)),
    probe("embed", [4, 0, 4], TABLE, POSITIONS),
    probe("embed", [1, 2, 3, 5], TABLE, POSITIONS),
    probe("embed", [3, 3], TABLE, POSITIONS[:2]),
    probe("embed", [4, 0, 4], TABLE, POSITIONS[:2], names=(3, 2)),
    probe("embed", [4, 5], TABLE, POSITIONS[:1], names=(2, 1)),
    probe("embed", [4, 5], TABLE, POSITIONS[:, :1], names=(4, 1)),
    probe("embed", [1], TABLE, POSITIONS),
]
