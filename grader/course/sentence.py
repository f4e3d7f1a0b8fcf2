"""The sentence of the lessons, "The cat sat on mat": a query, a key and a value for each token."""

from __future__ import annotations

import numpy as np

TOKENS = ("The", "cat", "sat", "on", "mat")
# Floats, as in the checks: what integers become is a question of its own.
Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]], dtype=float)
K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
CAUSAL = np.tri(len(TOKENS))  # a token sees itself and those before it
