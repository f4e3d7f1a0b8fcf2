"""Probes of 01_double."""

import numpy as np

from grader.diagnosis.probe import probe

PROBES = [probe("double", np.array([3.0])), probe("double", np.array([[1.0, -2.0]]))]
