from __future__ import annotations

import math
from typing import Any, Final, NamedTuple, Optional, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Array: TypeAlias = NDArray[Any]


class Attended(NamedTuple):
    output: Tensor
    weights: Tensor


class Gradients(NamedTuple):
    Q: Array
    K: Array
    V: Array


class ScaledDotProductAttention(nn.Module):
    d_k: Final[int]
    dropout: nn.Dropout

    def __init__(self, d_k: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Optional[Tensor] = None) -> Attended:
        width_q: int = q.shape[-1]
        width_k: int = k.shape[-1]
        if width_q != width_k:
            raise ValueError(f"q has width {width_q}, k has width {width_k}")
        n_k: int = k.shape[-2]
        n_v: int = v.shape[-2]
        if n_k != n_v:
            raise ValueError(f"k has length {n_k}, v has length {n_v}")
        scores: Tensor = torch.matmul(q / math.sqrt(self.d_k), k.transpose(-2, -1))
        weights: Tensor = self.dropout(self._weights(scores, mask))
        return Attended(output=torch.matmul(weights, v), weights=weights)

    @staticmethod
    def _weights(scores: Tensor, mask: Optional[Tensor]) -> Tensor:
        if mask is None:
            return scores.log_softmax(dim=-1).exp()
        allowed: Tensor = mask != 0
        nobody: Tensor = ~allowed.any(dim=-1, keepdim=True)
        masked: Tensor = scores.masked_fill(~allowed, -torch.inf).masked_fill(nobody, 0)
        return masked.log_softmax(dim=-1).exp().masked_fill(nobody, 0)


def _floating(array: Array) -> Array:
    return array if np.issubdtype(array.dtype, np.floating) else array.astype(np.float64)


def softmax_backward(grad_weights: Array, weights: Array) -> Array:
    g: Array = _floating(grad_weights)
    w: Array = _floating(weights)
    mean: Array = (g * w).sum(axis=-1, keepdims=True)
    return w * (g - mean)


def attention_backward(Q: Array, K: Array, V: Array, grad_output: Array) -> Gradients:
    q, k, v, g = (_floating(x) for x in (Q, K, V, grad_output))
    scale: float = math.sqrt(q.shape[-1])
    scores: Array = q @ k.mT / scale
    weights: Array = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    grad_scores: Array = softmax_backward(g @ v.mT, weights) / scale
    return Gradients(Q=grad_scores @ k, K=grad_scores.mT @ q, V=weights.mT @ g)


REFLECT_SOFTMAX_JACOBIAN_OFFDIAGONAL: Final[float] = -0.1875
