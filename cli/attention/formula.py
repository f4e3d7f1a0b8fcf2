"""Attention by the formula of the lessons, and by the formulas behind some misconceptions.

The explorer shows them beside a student's own numbers. The softmax is the one with which a diagnosis reads weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal

import numpy as np

from cli.attention.weights_reading import softmax_over_keys


@dataclass(frozen=True)
class Case:
    """One head of one sentence under one setting. A divisor of None is that of the formula."""

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    mask: np.ndarray | None = None
    divisor: float | None = None
    temperature: float = 1.0

    @property
    def allowed(self) -> np.ndarray:
        """Which query may look at which key."""
        shape = len(self.q), len(self.k)
        return np.ones(shape, bool) if self.mask is None else np.broadcast_to(self.mask != 0, shape)


@dataclass(frozen=True)
class Stages:
    """The numbers of a case, one table for each stage."""

    raw: np.ndarray
    scaled: np.ndarray
    weights: np.ndarray
    output: np.ndarray


MaskUse = Literal["before", "after", "ignored", "inverted", "times_scores"]
Over = Literal["keys", "queries", "table"]


@dataclass(frozen=True)
class Formula:
    """A way to compute attention. As it is, the right one."""

    divisor: Callable[[Case], float] = lambda case: sqrt(case.q.shape[1])
    mask: MaskUse = "before"
    over: Over = "keys"
    swapped: bool = False

    def stages(self, case: Case, *, through: bool = False) -> Stages:
        """Return the numbers of a case.

        A case with its own divisor has it in place of the formula's. With `through`, the queries are multiplied so that
        the right formula would divide by it: this is how a function is asked that has no separate step for the scale.
        """
        products = case.q @ case.k.T
        raw = products.T if self.swapped else products
        divisor = self.divisor(case)
        if case.divisor is not None:
            divisor *= case.divisor / sqrt(case.q.shape[1]) if through else case.divisor / divisor
        scaled = raw / divisor
        used = self if case.mask is not None else replace(self, mask="before")  # no mask cannot be used wrongly
        weights = used.weights_of(scaled / case.temperature, case.allowed)
        return Stages(raw, scaled, weights, np.einsum("qk,kc->qc", weights, case.v))

    def weights_of(self, scores: np.ndarray, allowed: np.ndarray) -> np.ndarray:
        """Return the weights of scores that are scaled already."""
        everything = np.ones_like(allowed)
        if self.mask == "times_scores":
            return softmax_over_keys(scores * allowed, everything)
        used = {"before": allowed, "inverted": ~allowed}.get(self.mask, everything)
        if self.over == "queries":
            weights = softmax_over_keys(scores.T, used.T).T
        elif self.over == "table":
            weights = softmax_over_keys(scores.reshape(1, -1), used.reshape(1, -1)).reshape(scores.shape)
        else:
            empty = ~used.any(axis=1, keepdims=True)
            weights = softmax_over_keys(scores, used | empty) * ~empty
        return weights * allowed if self.mask == "after" else weights


EXPECTED = Formula()
_NO_SCALE = Formula(divisor=lambda _: 1.0)
_D_K = Formula(divisor=lambda case: float(case.q.shape[1]))
_N_K = Formula(divisor=lambda case: sqrt(len(case.k)))
_TIMES = Formula(divisor=lambda case: 1 / sqrt(case.q.shape[1]))
# Misconceptions of 02 and 03 that are a formula of their own, and what it would be in words.
WHAT_IF: Mapping[str, tuple[str, Formula]] = {
    "no_scaling": ("no scaling", _NO_SCALE),
    "divides_by_d_k": ("dividing by d_k", _D_K),
    "scale_without_root": ("dividing by d_k", _D_K),
    "multiplies_by_scale": ("multiplying by √d_k", _TIMES),
    "inverse_scale": ("multiplying by √d_k", _TIMES),
    "divides_by_sqrt_n_k": ("dividing by the root of the number of keys", _N_K),
    "softmax_over_queries": ("a softmax over the queries", Formula(over="queries")),
    "softmax_over_everything": ("one softmax over the complete table", Formula(over="table")),
    "mask_ignored": ("ignoring the mask", Formula(mask="ignored")),
    "mask_inverted": ("an inverted mask", Formula(mask="inverted")),
    "mask_after_softmax": ("a mask after the softmax", Formula(mask="after")),
    "mask_multiplies_scores": ("scores multiplied by the mask", Formula(mask="times_scores")),
    "q_and_k_swapped": ("queries and keys swapped", Formula(swapped=True)),
}
