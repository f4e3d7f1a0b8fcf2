"""Module 03: attention in arrays."""

from __future__ import annotations

from typing import Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array: TypeAlias = NDArray[np.floating]
KEYS: Final = -1  # the axis of the keys, in scores and weights


class Attention(Protocol):
    """What anything that I call attention has to offer."""

    def forward(self, Q: Array, K: Array, V: Array, mask: ArrayLike | None = None) -> tuple[Array, Array]: ...


def _float(x: ArrayLike) -> Array:
    """float32 and float64 stay as they are, everything else becomes float64."""
    array = np.asarray(x)
    return array if np.issubdtype(array.dtype, np.floating) else array.astype(float)


def _transposed(x: Array) -> Array:
    return np.moveaxis(x, -1, -2)


def project_qkv(X: Array, W_q: Array, W_k: Array, W_v: Array) -> tuple[Array, Array, Array]:
    tokens = _float(X)
    Q, K, V = (np.matmul(tokens, _float(W)) for W in (W_q, W_k, W_v))
    return Q, K, V


class ScaledDotProductAttention:
    __slots__ = ("d_k",)  # nothing else can be stored here, not even by mistake

    def __init__(self, d_k: int) -> None:
        self.d_k = d_k

    @property
    def scale(self) -> float:
        return float(self.d_k) ** 0.5

    def __repr__(self) -> str:
        return f"{type(self).__name__}(d_k={self.d_k})"

    @staticmethod
    def _check_widths(Q: Array, K: Array) -> None:
        if (w_q := Q.shape[-1]) != (w_k := K.shape[-1]):
            raise ValueError(f"Q is {w_q} wide, but K is {w_k} wide")

    @staticmethod
    def _check_lengths(K: Array, V: Array) -> None:
        if (n_keys := K.shape[-2]) != (n_values := V.shape[-2]):
            raise ValueError(f"K has {n_keys} rows, but V has {n_values}")

    def compute_scores(self, Q: Array, K: Array) -> Array:
        self._check_widths(Q, K)
        return np.matmul(_float(Q), _transposed(_float(K)))

    def scale_scores(self, scores: Array) -> Array:
        return _float(scores) / self.scale

    def compute_weights(self, scaled_scores: Array, mask: ArrayLike | None = None) -> Array:
        scores = _float(scaled_scores)
        if mask is not None:
            scores = np.where(np.asarray(mask, dtype=bool), scores, -np.inf)
        largest = scores.max(axis=KEYS, keepdims=True)
        # a fully blocked row has the maximum -inf; -inf - 0 is -inf and exp of it is 0
        largest = np.nan_to_num(largest, copy=True, neginf=0.0) if mask is not None else largest
        exps = np.exp(scores - largest)
        sums = np.sum(exps, axis=KEYS, keepdims=True)
        return exps / np.maximum(sums, np.finfo(sums.dtype).tiny)

    def compute_output(self, weights: Array, V: Array) -> Array:
        return np.matmul(_float(weights), _float(V))

    def forward(self, Q: Array, K: Array, V: Array, mask: ArrayLike | None = None) -> tuple[Array, Array]:
        self._check_widths(Q, K)
        self._check_lengths(K, V)
        weights = self.compute_weights(self.scale_scores(self.compute_scores(Q, K)), mask)
        return self.compute_output(weights, V), weights

    def explain(self, Q: Array, K: Array, V: Array, tokens: list[str], query_idx: int = 0) -> str:
        one = np.asarray(Q)[query_idx : query_idx + 1]  # (1, d_k): only the row that we talk about
        raw = self.compute_scores(one, K)
        scaled = self.scale_scores(raw)
        weights = self.compute_weights(scaled)
        output = self.compute_output(weights, V)
        table = np.stack([raw[0], scaled[0], weights[0]], axis=1)  # (n, 3)
        width = max(map(len, tokens))
        rows = (
            f"| {token:<{width}} | " + " | ".join(format(number, "12.5f") for number in numbers) + " |"
            for token, numbers in zip(tokens, table)
        )
        head = f"{tokens[query_idx]} looks at (raw score, scaled score, weight):"
        tail = "output: [" + "  ".join(format(number, ".5f") for number in output[0]) + "]"
        return "\n".join((head, *rows, tail))


def scaled_dot_product_attention(
    Q: Array, K: Array, V: Array, mask: ArrayLike | None = None
) -> tuple[Array, Array]:
    attention: Attention = ScaledDotProductAttention(np.shape(Q)[-1])
    return attention.forward(Q, K, V, mask)


REFLECT_SCORE_VARIANCE_DK512: Final = 512.0
REFLECT_SCORE_BYTES_FLOAT32_N8192: Final = 8192**2 * np.dtype(np.float32).itemsize
