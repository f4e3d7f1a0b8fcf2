"""Readings: the axis, the mask and the scale, read from a table of weights.

This works however the table was computed. If V is the identity, the output of attention is such a table, so that fused
or looped code can be read too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.core.compare import as_float64, shape_of
from grader.diagnosis.probe import Reading

_EQUAL = 1e-6


@dataclass(frozen=True, eq=False)
class Weights:
    """Reads a result that is a table of weights: probe(..., reads=Weights(scores)).

    `part` is the item of the result that holds the weights. If V is the identity, the output of attention is its
    weights.
    """

    scores: np.ndarray
    scale: float = 1.0
    mask: np.ndarray | None = None
    part: int | None = None

    def __call__(self, value: Any) -> Reading | None:
        """Return the first mistake in a table of weights; None if it has none, or is not such a table."""
        weights = _part(value, self)
        if weights is None:
            return None
        shape = self.scores.shape
        allowed = np.ones(shape, bool) if self.mask is None else np.broadcast_to(self.mask != 0, shape)
        for read in (_sums, _mask, _scale):
            if found := read(weights, self, allowed):
                return found
        return None


def _part(value: Any, of: Weights) -> np.ndarray | None:
    if of.part is not None:
        value = value[of.part] if type(value) is tuple and len(value) > of.part else None
    if shape_of(value) != of.scores.shape or of.scores.ndim < 2:
        return None
    weights = as_float64(value)
    return weights if weights is not None and np.isfinite(weights).all() and (weights >= -_EQUAL).all() else None


def _sums(weights: np.ndarray, of: Weights, allowed: np.ndarray) -> Reading | None:
    open_rows = allowed.any(axis=-1)
    rows, columns = weights.sum(axis=-1), weights.sum(axis=-2)
    if np.allclose(rows[open_rows], 1, atol=_EQUAL):
        return None
    evidence = f"your rows sum to {_listed(rows)}"
    if of.mask is None and np.allclose(columns, 1, atol=_EQUAL):
        return Reading(f"{evidence}, your columns to 1", "the softmax runs over the queries, not over the keys")
    if np.isclose(weights.sum(), 1, atol=_EQUAL) and not np.isclose(rows, 1, atol=_EQUAL).any():
        return Reading(evidence, "all weights of the table together sum to 1; each row should")
    expected = softmax_over_keys(of.scores / of.scale, np.ones_like(allowed))
    if of.mask is not None and np.allclose(weights, expected * allowed, atol=_EQUAL):
        return Reading(
            evidence, "the mask is applied after the softmax; the softmax should run over the allowed keys only"
        )
    return Reading(f"{evidence}; each should sum to 1", "")


def _mask(weights: np.ndarray, of: Weights, allowed: np.ndarray) -> Reading | None:
    leaked = weights[~allowed]
    if of.mask is None or not leaked.size or leaked.max() <= _EQUAL:
        return None
    evidence = f"a blocked key has weight {leaked.max():.4g}"
    if _is_inverted(weights, of, allowed):
        return Reading(f"{evidence}, and no allowed key has any", "the mask is inverted: blocked keys are allowed")
    if np.allclose(weights, softmax_over_keys(of.scores / of.scale, np.ones_like(allowed)), atol=_EQUAL):
        return Reading(evidence, "the mask is not used")
    return Reading(evidence, "")


def _is_inverted(weights: np.ndarray, of: Weights, allowed: np.ndarray) -> bool:
    """Whether every row with a blocked key has the weights of its blocked keys alone."""
    rows = np.asarray(~allowed.all(axis=-1))
    expected = softmax_over_keys(of.scores / of.scale, ~allowed | ~rows[..., None])
    return bool(np.allclose(weights[rows], expected[rows], atol=_EQUAL))


def _scale(weights: np.ndarray, of: Weights, allowed: np.ndarray) -> Reading | None:
    """Find the number that the scores were divided by. The logarithms of weights are a line over the scores."""
    if (weights[allowed] <= 0).any():
        return None
    logs = _centred(np.log(np.where(allowed, weights, 1.0)), allowed)
    scores = _centred(of.scores, allowed)
    steep = float((logs * scores).sum() / (scores**2).sum()) if (scores**2).sum() else 0.0
    if not np.allclose(logs, steep * scores, atol=_EQUAL):
        return None
    if abs(steep) < _EQUAL:
        return Reading("all weights in a row are the same", "the weights do not depend on the scores")
    if abs(1 / steep - of.scale) < _EQUAL * of.scale:
        return None
    evidence = f"your weights match scores divided by {1 / steep:.6g}; it should be {of.scale:.6g}"
    return Reading(evidence, "")


def _centred(table: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    count = np.maximum(allowed.sum(axis=-1, keepdims=True), 1)
    mean = np.where(allowed, table, 0.0).sum(axis=-1, keepdims=True) / count
    return np.where(allowed, table - mean, 0.0)


def softmax_over_keys(scores: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Return the weights of a table of scores, in which every row has an allowed key."""
    kept = np.where(allowed, scores, -np.inf)
    exps = np.exp(kept - kept.max(axis=-1, keepdims=True))
    return np.asarray(exps / exps.sum(axis=-1, keepdims=True))


def _listed(sums: np.ndarray) -> str:
    shown = [f"{number:.4g}" for number in sums.ravel()[:4]]
    return ", ".join(shown) + (" …" if sums.size > 4 else "")
