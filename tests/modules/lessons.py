"""Helpers for the tests of the lessons: the sentence, the formula, and a search for decimals that no test computes."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from grader.course.module import Module

TOKENS = ["The", "cat", "sat", "on", "mat"]
Q = np.array([[1, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
K = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
V = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
SCORES = Q[0] @ K.T
DECIMAL = re.compile(r"(?<![\w.])[−-]?\d*\.\d+")


def softmax(x: np.ndarray) -> np.ndarray:
    """Softmax of one row, by the formula."""
    return np.asarray(np.exp(x) / np.exp(x).sum())


def weights(q: np.ndarray, k: np.ndarray, allowed: np.ndarray | None = None) -> np.ndarray:
    """Attention weights from the formula, over the allowed keys of each query."""
    exps = np.exp(q @ k.T / np.sqrt(k.shape[1])) * (1 if allowed is None else allowed)
    return np.asarray(exps / exps.sum(axis=1, keepdims=True))


def unclaimed(module: Module, computed: Iterable[float]) -> list[str]:
    """Return the decimals in a module's lesson, stub and hints that are not a rounded computed number."""
    claims = [abs(float(number)) for number in computed]
    written = [
        number for path in (module.lesson, module.stub, module.hints) for number in DECIMAL.findall(path.read_text())
    ]
    assert written, f"{module.name} has no decimals at all"
    return [number for number in written if not any(_is_rounded(number, claim) for claim in claims)]


def row(cells: Iterable[float]) -> str:
    """Return numbers in the format of the lessons' tables: four decimals, no leading zero, plain integers."""
    return " | ".join(f"{cell:.4f}".lstrip("0") if cell % 1 else f"{cell:.0f}" for cell in cells)


def _is_rounded(number: str, claim: float) -> bool:
    decimals = len(number.partition(".")[2])
    return round(claim, decimals) == abs(float(number.replace("−", "-")))
