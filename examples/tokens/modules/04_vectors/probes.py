"""Probes of 04_vectors: the calls by which its wrong ways are told apart."""

import numpy as np

from grader.diagnosis.probe import probe

PROBES = [
    probe("vectors", np.array([3.0])),
    probe("vectors", np.array([[1.0, -1.0], [0.5, 4.0]])),
]
