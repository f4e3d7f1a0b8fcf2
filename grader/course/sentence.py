"""The example sentence of the lessons, "The cat sat on mat", with a query, a key and a value for each token."""

from __future__ import annotations

import numpy as np

TOKENS = ("The", "cat", "sat", "on", "mat")
# Floats, as in the checks: integer inputs have checks of their own.
Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]], dtype=float)
K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
CAUSAL = np.tri(len(TOKENS))  # a token sees itself and the tokens before it
