from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Optional, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from typing import Self

Array: TypeAlias = NDArray[np.floating[Any]]
Mask: TypeAlias = Optional[ArrayLike]
Step: TypeAlias = Callable[[Array], Array]


class Attended(NamedTuple):
    output: Array
    weights: Array


class Projected(NamedTuple):
    Q: Array
    K: Array
    V: Array


class ShapeError(ValueError):
    """Two sizes that should agree."""

    def __init__(self, what: str, first: int, second: int) -> None:
        super().__init__(f"{what}: {first} and {second}")
        self.first: Final = first
        self.second: Final = second


def to_float(x: ArrayLike) -> Array:
    array: NDArray[Any] = np.asarray(x)
    return array if np.issubdtype(array.dtype, np.inexact) else array.astype(np.float64)


def project_qkv(X: ArrayLike, W_q: ArrayLike, W_k: ArrayLike, W_v: ArrayLike) -> tuple[Array, Array, Array]:
    tokens: Array = to_float(X)
    return Projected(*(tokens @ to_float(W) for W in (W_q, W_k, W_v)))


class ScaledDotProductAttention:
    """Scaled dot-product attention."""

    axis: ClassVar[int] = -1
    d_k: int

    def __init__(self, d_k: int) -> None:
        self.d_k = d_k

    @classmethod
    def for_queries(cls, Q: Array) -> Self:
        return cls(Q.shape[-1])

    def __repr__(self) -> str:
        return f"{type(self).__qualname__}(d_k={self.d_k!r})"

    def compute_scores(self, Q: ArrayLike, K: ArrayLike) -> Array:
        queries: Array = to_float(Q)
        keys: Array = to_float(K)
        if queries.shape[-1] != keys.shape[-1]:
            raise ShapeError("the widths of Q and K differ", queries.shape[-1], keys.shape[-1])
        return queries @ np.swapaxes(keys, -1, -2)

    def scale_scores(self, scores: ArrayLike) -> Array:
        return to_float(scores) / float(self.d_k) ** 0.5

    def compute_weights(self, scaled_scores: ArrayLike, mask: Mask = None) -> Array:
        scores: Array = to_float(scaled_scores)
        kept: NDArray[np.bool_] = np.ones_like(scores, dtype=np.bool_)
        if mask is not None:
            kept &= np.asarray(mask).astype(np.bool_)
        lowest: float = np.finfo(scores.dtype).min
        filled: Array = np.where(kept, scores, scores.dtype.type(lowest))
        shifted: Array = filled - filled.max(axis=self.axis, keepdims=True)
        exps: Array = np.where(kept, np.exp(shifted), scores.dtype.type(0))
        total: Array = exps.sum(axis=self.axis, keepdims=True)
        total[total == 0] = 1
        return exps / total

    def compute_output(self, weights: ArrayLike, V: ArrayLike) -> Array:
        return to_float(weights) @ to_float(V)

    def forward(self, Q: ArrayLike, K: ArrayLike, V: ArrayLike, mask: Mask = None) -> tuple[Array, Array]:
        n_k: int
        n_v: int
        n_k, n_v = np.shape(K)[-2], np.shape(V)[-2]
        if n_k != n_v:
            raise ShapeError("the lengths of K and V differ", n_k, n_v)
        weights: Array = self.compute_weights(self.scale_scores(self.compute_scores(Q, K)), mask)
        return Attended(self.compute_output(weights, V), weights)

    def explain(self, Q: ArrayLike, K: ArrayLike, V: ArrayLike, tokens: Sequence[str], query_idx: int = 0) -> str:
        raw: Array = self.compute_scores(Q, K)
        result: Attended = Attended(*self.forward(Q, K, V))
        columns: dict[str, Array] = {
            "raw": raw[query_idx],
            "scaled": self.scale_scores(raw)[query_idx],
            "weight": result.weights[query_idx],
        }
        width: int = max(map(len, tokens))
        text: list[str] = [f"{tokens[query_idx]} looks at:"]
        for index, token in enumerate(tokens):
            numbers: str = "  ".join(f"{name} {column[index]: .4f}" for name, column in columns.items())
            text.append(f"{token:<{width}}  {numbers}")
        text.append("output " + " ".join(f"{number: .4f}" for number in result.output[query_idx]))
        return "\n".join(text)


def scaled_dot_product_attention(
    Q: ArrayLike, K: ArrayLike, V: ArrayLike, mask: Mask = None
) -> tuple[Array, Array]:
    return ScaledDotProductAttention.for_queries(to_float(Q)).forward(Q, K, V, mask)


REFLECT_SCORE_VARIANCE_DK512: Final[int] = 512
REFLECT_SCORE_BYTES_FLOAT32_N8192: Final[int] = 268_435_456
