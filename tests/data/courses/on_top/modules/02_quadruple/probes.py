"""Probes of 02_quadruple."""

import numpy as np

from grader.diagnosis.probe import probe

PROBES = [probe("quadruple", np.array([3.0])), probe("quadruple", np.array([[1.0, -2.0]]))]
