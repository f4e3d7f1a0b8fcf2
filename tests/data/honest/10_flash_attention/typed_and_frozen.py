"""Flash attention with types, and one frozen record for the state of a tile of queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]

REFLECT_SCORE_BYTES_SAVED_N8192_FLOAT32: int = 8192 * 8192 * np.dtype(np.float32).itemsize
REFLECT_CAUSAL_TILES_N1024_B128: int = sum(range(1, 1024 // 128 + 1))


class Merged(NamedTuple):
    m_new: Array
    l_new: Array
    weights: Array
    rescale: Array


def merge_softmax(m: Array, l: Array, scores: Array) -> tuple[Array, Array, Array, Array]:
    m_new: Array = np.maximum(m, scores.max(axis=1))
    shift: Array = np.where(np.isneginf(m_new), np.zeros_like(m_new), m_new)
    weights: Array = np.exp(scores - shift[:, np.newaxis])
    rescale: Array = np.exp(m - shift)
    return tuple(Merged(m_new, l * rescale + weights.sum(axis=1), weights, rescale))


@dataclass(frozen=True, slots=True)
class Tile:
    """Queries `first_q` to `end_q` (exclusive) against keys `first_k` to `end_k`."""

    first_q: int
    end_q: int
    first_k: int
    end_k: int

    @property
    def rows(self) -> slice:
        return slice(self.first_q, self.end_q)

    @property
    def columns(self) -> slice:
        return slice(self.first_k, self.end_k)

    def hide_the_future(self, scores: Array) -> Array:
        later = np.arange(self.first_k, self.end_k)[None, :] > np.arange(self.first_q, self.end_q)[:, None]
        return np.where(later, np.asarray(-np.inf, dtype=scores.dtype), scores)


@dataclass(frozen=True, slots=True)
class Tiling:
    n_q: int
    n_k: int
    block_q: int
    block_k: int
    is_causal: bool

    def row_blocks(self) -> Iterator[slice]:
        for number in range(ceil(self.n_q / self.block_q)):
            yield slice(number * self.block_q, min((number + 1) * self.block_q, self.n_q))

    def tiles(self, rows: slice) -> Iterator[Tile]:
        for number in range(ceil(self.n_k / self.block_k)):
            tile = Tile(rows.start, rows.stop, number * self.block_k, min((number + 1) * self.block_k, self.n_k))
            if self.is_causal and tile.first_k > tile.end_q - 1:
                return
            yield tile


def _tiling(Q: Array, K: Array, V: Array, block_q: int, block_k: int, is_causal: bool) -> Tiling:
    match (Q.shape[-1] == K.shape[-1], K.shape[-2] == V.shape[-2], block_q >= 1 and block_k >= 1):
        case (False, _, _):
            raise ValueError(f"the widths of Q and K differ: {Q.shape[-1]} and {K.shape[-1]}")
        case (_, False, _):
            raise ValueError(f"the lengths of K and V differ: {K.shape[-2]} and {V.shape[-2]}")
        case (_, _, False):
            raise ValueError(f"block sizes must be positive: {block_q=}, {block_k=}")
    return Tiling(Q.shape[-2], K.shape[-2], block_q, block_k, bool(is_causal))


def _scores(q: Array, k: Array, tile: Tile, is_causal: bool) -> Array:
    scores = q[tile.rows] @ k[tile.columns].T / sqrt(q.shape[1])
    return tile.hide_the_future(scores) if is_causal else scores


def flash_attention(
    Q: Array, K: Array, V: Array, block_q: int, block_k: int, is_causal: bool = False
) -> tuple[Array, Array]:
    Q, K, V = (x if np.issubdtype(x.dtype, np.floating) else x.astype(np.float64) for x in map(np.asarray, (Q, K, V)))
    tiling = _tiling(Q, K, V, block_q, block_k, is_causal)
    O: Array = np.empty((*Q.shape[:-1], V.shape[-1]), dtype=Q.dtype)
    L: Array = np.empty(Q.shape[:-1], dtype=Q.dtype)
    for at in np.ndindex(Q.shape[:-2]):
        for rows in tiling.row_blocks():
            count = rows.stop - rows.start
            m, l = np.full(count, -np.inf, dtype=Q.dtype), np.zeros(count, dtype=Q.dtype)
            total = np.zeros((count, V.shape[-1]), dtype=Q.dtype)
            for tile in tiling.tiles(rows):
                m, l, weights, rescale = merge_softmax(m, l, _scores(Q[at], K[at], tile, is_causal))
                total = total * rescale[:, np.newaxis] + weights @ V[at][tile.columns]
            O[at][rows] = total / l[:, np.newaxis]
            L[at][rows] = m + np.log(l)
    return O, L


def flash_attention_backward(
    Q: Array, K: Array, V: Array, O: Array, dO: Array, L: Array, block_q: int, block_k: int, is_causal: bool = False
) -> tuple[Array, Array, Array]:
    tiling = _tiling(Q, K, V, block_q, block_k, is_causal)
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for at in np.ndindex(Q.shape[:-2]):
        for rows in tiling.row_blocks():
            d_out = dO[at][rows]
            shared = np.sum(d_out * O[at][rows], axis=1, keepdims=True)
            for tile in tiling.tiles(rows):
                columns = tile.columns
                weights = np.exp(_scores(Q[at], K[at], tile, is_causal) - L[at][rows, np.newaxis])
                d_scores = weights * (d_out @ V[at][columns].T - shared) / sqrt(Q.shape[-1])
                dQ[at][rows] += d_scores @ K[at][columns]
                dK[at][columns] += d_scores.T @ Q[at][rows]
                dV[at][columns] += weights.T @ d_out
    return dQ, dK, dV
