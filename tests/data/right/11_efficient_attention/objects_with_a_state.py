from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np


class Shape(NamedTuple):
    tokens: int
    width: int


@dataclass(frozen=True)
class State:
    memory: np.ndarray
    weight: np.ndarray
    seen: int = 0

    def plus(self, k: np.ndarray, v: np.ndarray) -> "State":
        return replace(
            self, memory=self.memory + k[..., np.newaxis] * v[..., np.newaxis, :], weight=self.weight + k, seen=self.seen + 1
        )

    def answer(self, q: np.ndarray) -> np.ndarray:
        top = (q[..., np.newaxis] * self.memory).sum(axis=-2)
        return top / np.sum(q * self.weight, axis=-1, keepdims=True)

    @classmethod
    def empty(cls, k: np.ndarray, v: np.ndarray) -> "State":
        return cls(np.zeros((*k.shape, v.shape[-1]), dtype=k.dtype), np.zeros_like(k))


def _require(condition: bool, text: str) -> None:
    if not condition:
        raise ValueError(text)


def sliding_window_mask(n: int, window: int, causal: bool = True) -> np.ndarray:
    _require(window >= 1, f"{window=}")
    distance = np.subtract.outer(np.arange(n), np.arange(n))
    return np.logical_and(distance >= (0 if causal else 1 - window), distance < window)


def sliding_window_attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray, window: int) -> np.ndarray:
    _require(window >= 1, f"{window=}")
    q, k, v = Shape(*Q.shape[-2:]), Shape(*K.shape[-2:]), Shape(*V.shape[-2:])
    _require(q.width == k.width, f"{q.width} against {k.width}")
    _require(k.tokens == v.tokens, f"{k.tokens} against {v.tokens}")
    kind = np.float32 if Q.dtype == np.float32 else np.float64
    output = np.empty((*Q.shape[:-1], v.width), dtype=kind)
    for i in range(q.tokens):
        near = slice(max(0, i + 1 - window), i + 1)
        scores = np.einsum("...d,...jd->...j", Q[..., i, :], K[..., near, :]).astype(np.float64) / np.sqrt(q.width)
        weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        weights /= np.sum(weights, axis=-1, keepdims=True)
        output[..., i, :] = np.einsum("...j,...je->...e", weights, V[..., near, :])
    return output


def feature_map(x: np.ndarray) -> np.ndarray:
    x = x if np.issubdtype(x.dtype, np.floating) else x.astype(np.float64)
    with np.errstate(over="ignore"):
        return np.where(x > 0, x, np.expm1(x)) + x.dtype.type(1)


def linear_attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray, causal: bool = False) -> np.ndarray:
    _require(Q.shape[-1] == K.shape[-1], f"{Q.shape[-1]} against {K.shape[-1]}")
    _require(K.shape[-2] == V.shape[-2], f"{K.shape[-2]} against {V.shape[-2]}")
    q, k = feature_map(Q), feature_map(K)
    state = State.empty(k[..., 0, :], V[..., 0, :])
    if not causal:
        for j in range(K.shape[-2]):
            state = state.plus(k[..., j, :], V[..., j, :])
        return np.stack([state.answer(q[..., i, :]) for i in range(Q.shape[-2])], axis=-2)
    rows = []
    for i in range(Q.shape[-2]):
        state = state.plus(k[..., i, :], V[..., i, :])
        rows.append(state.answer(q[..., i, :]))
    return np.stack(rows, axis=-2)


def linear_attention_step(state: State | None, q: np.ndarray, k: np.ndarray, v: np.ndarray):
    _require(q.shape[-1] == k.shape[-1], f"{q.shape[-1]} against {k.shape[-1]}")
    fq, fk = feature_map(q), feature_map(k)
    state = (state or State.empty(fk, v)).plus(fk, v)
    return state, state.answer(fq)


REFLECT_CROSSOVER_N_D64 = 64
REFLECT_REACH_32_LAYERS_WINDOW4096 = 131040
