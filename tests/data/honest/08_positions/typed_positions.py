"""Positions, annotated for mypy --strict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Union

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]
Positions = Union[Sequence[int], npt.NDArray[np.integer[Any]]]

BASE: Final = 10000.0


def _require_even(number: int, /, what: str) -> None:
    if number % 2:
        raise ValueError(f"{what} must be even, got {number}")


def sinusoidal_positions(seq_len: int, d_model: int, base: float = BASE) -> npt.NDArray[np.float64]:
    if seq_len < 1:
        raise ValueError(f"seq_len must be at least 1, got {seq_len}")
    _require_even(d_model, "d_model")
    position: npt.NDArray[np.float64] = np.arange(seq_len, dtype=np.float64)
    angle: npt.NDArray[np.float64] = position[:, np.newaxis] * rope_frequencies(d_model, base)[np.newaxis, :]
    table: npt.NDArray[np.float64] = np.empty((seq_len, d_model), dtype=np.float64)
    table[:, ::2] = np.sin(angle)
    table[:, 1::2] = np.cos(angle)
    return table


def rope_frequencies(head_dim: int, base: float = BASE) -> npt.NDArray[np.float64]:
    _require_even(head_dim, "head_dim")
    pair: npt.NDArray[np.float64] = np.arange(head_dim // 2, dtype=np.float64)
    return np.asarray(np.float_power(base, -2.0 * pair / head_dim))


def apply_rope(x: npt.NDArray[Any], positions: Positions, base: float = BASE) -> Floats:
    _require_even(x.shape[-1], "the last dimension")
    place: npt.NDArray[np.float64] = np.asarray(positions, dtype=np.float64)
    angle = place[:, None] * rope_frequencies(int(x.shape[-1]), base)
    cosine, sine = np.cos(angle), np.sin(angle)
    first, second = x[..., ::2], x[..., 1::2]
    pairs = np.stack((first * cosine - second * sine, first * sine + second * cosine), axis=-1)
    dtype: npt.DTypeLike = x.dtype if np.issubdtype(x.dtype, np.floating) else np.float64
    return pairs.reshape(x.shape).astype(dtype, copy=False)


def alibi_slopes(num_heads: int) -> npt.NDArray[np.float64]:
    if num_heads < 1:
        raise ValueError(f"num_heads must be at least 1, got {num_heads}")

    def geometric(heads: int) -> npt.NDArray[np.float64]:
        ratio: float = 2.0 ** (-8.0 / heads)
        return ratio ** np.arange(1, heads + 1, dtype=np.float64)

    lower: int = 1 << (num_heads.bit_length() - 1)
    if lower == num_heads:
        return geometric(num_heads)
    return np.concatenate((geometric(lower), geometric(2 * lower)[::2][: num_heads - lower]))


def alibi_bias(num_heads: int, n_q: int, n_k: int) -> npt.NDArray[np.float64]:
    slope = alibi_slopes(num_heads)
    query = np.arange(n_q, dtype=np.int64) + n_k - n_q
    key = np.arange(n_k, dtype=np.int64)
    distance = np.abs(query[:, None] - key[None, :]).astype(np.float64)
    return np.negative(slope[:, None, None] * distance[None, :, :])


REFLECT_ORDERS_WITH_EQUAL_OUTPUTS_N5: Final[int] = 120
REFLECT_LONGEST_WAVELENGTH_D64: Final[int] = 47117
