"""Probes of 01_regression."""

import torch

from grader.diagnosis.probe import probe
from grader.testing import generator

ROWS = torch.tensor([[1.0, 2.0, 0.5], [0.0, -1.0, 2.0], [3.0, 1.0, 1.0], [-2.0, 0.5, 4.0]])
PROBES = [
    probe("draw_batch", ROWS, 3, generator(1)),
    probe("draw_batch", ROWS, 2, generator(2)),
    probe("train", ROWS, 3, generator(3)),
    probe("train", ROWS, 2, generator(4)),
]
