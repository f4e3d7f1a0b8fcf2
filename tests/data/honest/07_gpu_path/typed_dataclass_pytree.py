"""Module 07, with types everywhere and a small class for masks."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils._pytree import tree_map_only

Pair = tuple[Tensor, Tensor]


class UnknownDeviceError(ValueError):
    """The text is not the name of a device."""

    def __init__(self, name: object) -> None:
        super().__init__(f"torch does not know a device called {name!r}")
        self.name = name


# How many devices of a kind there are. They are functions, because the answer can change between two calls.
AVAILABLE: Final[dict[str, Callable[[], int]]] = {
    "cpu": lambda: 1,
    "cuda": lambda: torch.cuda.device_count() if torch.cuda.is_available() else 0,
    "mps": lambda: 1 if torch.backends.mps.is_available() else 0,
}


def pick_device(prefer: str | torch.device = "cuda") -> torch.device:
    """Return the wanted device, or the CPU if this machine has no such device."""
    try:
        device = torch.device(prefer)
    except RuntimeError:
        raise UnknownDeviceError(prefer) from None
    count = AVAILABLE.get(device.type, lambda: 0)()
    number = 0 if device.index is None else device.index
    return device if number < count else torch.device("cpu")


def same_sizes(attend: Callable[..., Any]) -> Callable[..., Any]:
    """Complain early about q, k and v that do not belong together. Shapes are known on the CPU: nothing waits."""

    @functools.wraps(attend)
    def checked(q: Tensor, k: Tensor, v: Tensor, *args: Any, **kwargs: Any) -> Any:
        if q.shape[-1] != k.shape[-1]:
            raise ValueError(f"queries of width {q.shape[-1]}, keys of width {k.shape[-1]}")
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f"{k.shape[-2]} keys, {v.shape[-2]} values")
        return attend(q, k, v, *args, **kwargs)

    return checked


@dataclass(frozen=True)
class Sight:
    """Which keys each query may see, on the device of the queries."""

    allowed: Tensor

    @classmethod
    def read(cls, mask: Tensor, like: Tensor) -> Sight:
        return cls(mask.to(like.device, non_blocking=True).bool())

    @property
    def blind(self) -> Tensor:
        """(..., n_q, 1): the queries that see nothing at all."""
        return ~self.allowed.any(dim=-1, keepdim=True)

    @property
    def opened(self) -> Tensor:
        """The same, but blind queries see everything, so that their softmax is a number."""
        return self.allowed | self.blind

    def spread(self, n_q: int, n_k: int) -> Sight:
        allowed = torch.atleast_2d(self.allowed)
        return Sight(allowed.expand(*allowed.shape[:-2], n_q, n_k))

    def __and__(self, other: Tensor) -> Sight:
        return Sight(self.allowed & other)

    def softmax(self, scores: Tensor) -> Tensor:
        weights = torch.softmax(scores.masked_fill(~self.opened, -math.inf), dim=-1)
        return weights.masked_fill(self.blind, 0.0)


def weights_of(scores: Tensor, sight: Sight | None) -> Tensor:
    return torch.softmax(scores, dim=-1) if sight is None else sight.softmax(scores)


@same_sizes
def attention_on_device(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Pair:
    """Return (output, weights) on the device of q."""
    sight = None if mask is None else Sight.read(mask, q)
    scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
    weights = weights_of(scores, sight)
    return weights @ v, weights


@same_sizes
def fused_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, is_causal: bool = False
) -> Tensor:
    """Return the output only, by the built-in."""
    missing = max(4 - q.dim(), 0)
    front, back = (None,) * missing, (0,) * missing
    wide = q[front], k[front], v[front]
    if mask is None:
        return F.scaled_dot_product_attention(*wide, is_causal=is_causal)[back]
    n_q, n_k = q.shape[-2], k.shape[-2]
    sight = Sight.read(mask, q).spread(n_q, n_k)
    if is_causal:
        sight = sight & torch.tril(torch.ones(n_q, n_k, dtype=torch.bool, device=q.device))
    output = F.scaled_dot_product_attention(*wide, attn_mask=sight.opened)
    return output.masked_fill(sight.blind, 0.0)[back]


@same_sizes
def half_precision_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, dtype: torch.dtype = torch.bfloat16
) -> Pair:
    """Return (output, weights), both products in dtype."""
    sight = None if mask is None else Sight.read(mask, q)
    scaled = (q * q.shape[-1] ** -0.5).to(dtype)
    scores = scaled @ k.to(dtype).transpose(-2, -1)
    weights = weights_of(scores.float(), sight)
    output = weights.to(dtype) @ v.to(dtype)
    return output.to(q.dtype), weights.to(q.dtype)


def move_batch(batch: Any, device: str | torch.device) -> Any:
    """Return the same structure with every tensor on the device."""
    return tree_map_only(torch.Tensor, lambda tensor: tensor.to(device, non_blocking=True), batch)


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 2**2
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2**1
