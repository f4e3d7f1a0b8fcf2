from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Vector(Sequence):
    """A list of numbers that knows the dot product."""

    __slots__ = ("_entries",)

    def __init__(self, entries) -> None:
        self._entries = tuple(float(entry) for entry in entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, index):
        return self._entries[index]

    def __iter__(self) -> Iterator[float]:
        return iter(self._entries)

    def __mul__(self, other: Vector) -> float:
        if not isinstance(other, Vector):
            return NotImplemented
        if len(self) != len(other):
            raise ValueError(f"a vector of length {len(self)} times one of length {len(other)}")
        total = 0.0
        for i, entry in enumerate(self):
            total += entry * other[i]
        return total

    def __repr__(self) -> str:
        return "Vector(" + ", ".join(f"{entry:.4g}" for entry in self) + ")"


class Result(NamedTuple):
    output: list
    weights: list


@dataclass(frozen=True)
class Lookup:
    """One query against all keys."""

    query: Vector
    keys: list[Vector]
    allowed: list[bool]
    scale: float

    @property
    def weights(self) -> Vector:
        scores = [self.query * key / self.scale if ok else None for key, ok in zip(self.keys, self.allowed)]
        seen = [s for s in scores if s is not None]
        if not seen:
            return Vector(0.0 for _ in scores)
        top = max(seen)
        exps = Vector(0.0 if s is None else math.exp(s - top) for s in scores)
        total = math.fsum(exps)
        return Vector(e / total for e in exps)


def dot_product(a, b):
    return Vector(a) * Vector(b)


def common(*arrays: np.ndarray) -> type:
    return np.float32 if {a.dtype for a in arrays} == {np.dtype("float32")} else np.float64


def attention_scores(Q, K):
    if Q.shape[1] != K.shape[1]:
        raise ValueError(f"queries of width {Q.shape[1]}, keys of width {K.shape[1]}")
    keys = [Vector(k) for k in K]
    return np.array([[q * k for k in keys] for q in map(Vector, Q)], dtype=common(Q, K))


def scale_factor(d_k, variance=1.0):
    return variance * math.sqrt(d_k)


def attend(Q, K, V, mask) -> Result:
    keys, columns = [Vector(k) for k in K], [Vector(c) for c in V.T]
    scale = scale_factor(Q.shape[1])
    result = Result([], [])
    for query, allowed in zip(Q, mask.tolist(), strict=True):
        weights = Lookup(Vector(query), keys, allowed, scale).weights
        result.weights.append(list(weights))
        result.output.append([weights * column for column in columns])
    return result


def scaled_dot_product_attention(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries of width {Q.shape[-1]}, keys of width {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"{K.shape[-2]} keys, {V.shape[-2]} values")
    full = np.broadcast_to(np.True_ if mask is None else np.asarray(mask) != 0, (*Q.shape[:-1], K.shape[-2]))
    if Q.ndim == 2:
        result = attend(Q, K, V, full)
    else:
        parts = [attend(*part) for part in zip(Q, K, V, full, strict=True)]
        result = Result([part.output for part in parts], [part.weights for part in parts])
    kind = common(Q, K, V)
    return np.array(result.output, dtype=kind), np.array(result.weights, dtype=kind)


REFLECT_MULTIPLY_ADDS_N512_D64 = 33554432
REFLECT_COST_RATIO_WHEN_N_DOUBLES = 4
