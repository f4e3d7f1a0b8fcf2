"""The sentence of the course, and attention by the formula."""

from __future__ import annotations

import numpy as np

TOKENS = ["The", "cat", "sat", "on", "mat"]
Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
SCORES = Q[0] @ K.T


def softmax(x: np.ndarray) -> np.ndarray:
    """Softmax of one row, by the formula."""
    return np.asarray(np.exp(x) / np.exp(x).sum())


def weights(q: np.ndarray, k: np.ndarray, allowed: np.ndarray | None = None) -> np.ndarray:
    """Attention weights from the formula, over the allowed keys of each query."""
    exps = np.exp(q @ k.T / np.sqrt(k.shape[1])) * (1 if allowed is None else allowed)
    return np.asarray(exps / exps.sum(axis=1, keepdims=True))


def bank_looks() -> dict[str, np.ndarray]:
    """The weights of bank over river, money and itself, with one head and with one for each feature."""
    words = np.array([[2, 0], [0, 2], [1, 1]])
    heads = {"one head": words, "head 0": words[:, :1], "head 1": words[:, 1:]}
    return {name: weights(seen[2:], seen)[0] for name, seen in heads.items()}
