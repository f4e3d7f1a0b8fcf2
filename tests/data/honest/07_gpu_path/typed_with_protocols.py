from __future__ import annotations

import math
from typing import Any, Final, NamedTuple, Protocol, TypeVar, Union, cast

import torch
from torch import Tensor
from torch.nn import functional as F

T = TypeVar("T")
DeviceLike = Union[str, torch.device]
Batch = Union[Tensor, "dict[Any, Batch]", "list[Batch]", "tuple[Batch, ...]", Any]

CPU: Final[torch.device] = torch.device("cpu")


class Backend(Protocol):
    def is_available(self) -> bool: ...


class Attended(NamedTuple):
    output: Tensor
    weights: Tensor


def pick_device(prefer: DeviceLike = "cuda") -> torch.device:
    try:
        device: torch.device = torch.device(prefer)
    except RuntimeError as error:
        raise ValueError(f"{prefer} is not the name of a device") from error
    backends: dict[str, Backend] = {"cuda": cast(Backend, torch.cuda), "mps": cast(Backend, torch.backends.mps)}
    backend: Backend | None = backends.get(device.type)
    if backend is None or not backend.is_available():
        return CPU
    if device.type == "cuda" and device.index is not None:
        return device if 0 <= device.index < torch.cuda.device_count() else CPU
    return device


def _allowed(mask: Tensor | None, like: Tensor) -> Tensor | None:
    return None if mask is None else mask.to(like.device).ne(0)


def _weights(scores: Tensor, allowed: Tensor | None) -> Tensor:
    if allowed is None:
        return scores.softmax(dim=-1)
    return scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1).nan_to_num(nan=0.0)


def attention_on_device(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Attended:
    scale: float = 1 / math.sqrt(q.shape[-1])
    weights: Tensor = _weights((q @ k.mT) * scale, _allowed(mask, q))
    return Attended(weights @ v, weights)


def fused_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, is_causal: bool = False
) -> Tensor:
    lead: torch.Size = q.shape[:-2]
    n_q: int = q.shape[-2]
    n_k: int = k.shape[-2]
    queries, keys, values = (x.reshape(-1, 1, *x.shape[-2:]) for x in (q, k, v))
    allowed: Tensor | None = _allowed(mask, q)
    if allowed is None:
        out: Tensor = F.scaled_dot_product_attention(queries, keys, values, is_causal=is_causal)
        return out.reshape(*lead, n_q, v.shape[-1])
    if is_causal:
        rows: Tensor = torch.arange(n_q, device=q.device).unsqueeze(1)
        columns: Tensor = torch.arange(n_k, device=q.device).unsqueeze(0)
        allowed = allowed & (columns <= rows)
    full: Tensor = allowed.expand(*lead, n_q, n_k).reshape(-1, 1, n_q, n_k)
    empty: Tensor = ~full.any(dim=-1, keepdim=True)
    out = F.scaled_dot_product_attention(queries, keys, values, attn_mask=full | empty)
    return out.masked_fill(empty, 0).reshape(*lead, n_q, v.shape[-1])


def half_precision_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, dtype: torch.dtype = torch.bfloat16
) -> Attended:
    scale: float = 1 / math.sqrt(q.shape[-1])
    scores: Tensor = (q * scale).to(dtype) @ k.to(dtype).mT
    weights: Tensor = _weights(scores.to(torch.float32), _allowed(mask, q)).to(dtype)
    output: Tensor = weights @ v.to(dtype)
    return Attended(output.to(q.dtype), weights.to(q.dtype))


def move_batch(batch: Batch, device: DeviceLike) -> Batch:
    if isinstance(batch, Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, list):
        return [move_batch(value, device) for value in batch]
    if isinstance(batch, tuple):
        return tuple(move_batch(value, device) for value in batch)
    return batch


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES: Final[int] = 2**2
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES: Final[int] = 2**1
