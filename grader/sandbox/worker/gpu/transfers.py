"""Moving: a tensor as it would be on another device, in memory of its own, with gradients that find their way back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from grader.sandbox.worker.gpu.labels import BACK, GPU, Label
from grader.sandbox.worker.gpu.simulated import SimulatedGpu


@dataclass(frozen=True)
class TransferRequest:
    """What `.to` was asked for: None where nothing was said."""

    device: Any = None
    dtype: torch.dtype | None = None
    non_blocking: bool = False
    copy: bool = False
    memory_format: Any = None


def wish_of(pretence: SimulatedGpu, args: Sequence[Any], kwargs: Mapping[str, Any]) -> TransferRequest:
    """Read the arguments of `.to` in any of its three forms: device and dtype, dtype, another tensor."""
    words: dict[str, Any] = dict(kwargs)
    rest = list(args)
    if (other := words.pop("other", None)) is not None:
        rest.insert(0, other)
    if rest and isinstance(rest[0], torch.Tensor):
        other = rest.pop(0)
        words |= {"device": pretence.labels.of(other).device, "dtype": other.dtype}
        names = ("non_blocking", "copy")
    elif rest and isinstance(rest[0], torch.dtype):
        names = ("dtype", "non_blocking", "copy")  # type: ignore[assignment]
    else:
        names = ("device", "dtype", "non_blocking", "copy")  # type: ignore[assignment]
    return TransferRequest(**words | dict(zip(names, rest, strict=False)))


def move(pretence: SimulatedGpu, tensor: torch.Tensor, wish: TransferRequest) -> torch.Tensor:
    """Return a tensor as it was wished for: itself, if it is all that already."""
    here = pretence.labels.of(tensor).device
    there = here if wish.device is None else pretence.device(wish.device)
    moved = tensor
    if there != here and {there.type, here.type} == {"cpu", "cuda"}:
        note(pretence, tensor, there, non_blocking=wish.non_blocking)
        followed = torch.is_grad_enabled() and tensor.requires_grad
        moved = Move.apply(tensor, pretence, there) if followed else copied(pretence, tensor, there)
    plain: dict[str, Any] = {"dtype": wish.dtype, "memory_format": wish.memory_format}
    plain = {name: value for name, value in plain.items() if value is not None}
    if wish.copy and moved is tensor:
        plain["copy"] = True
    if there.type not in ("cpu", "cuda"):
        plain["device"] = there
    return pretence.run(torch.Tensor.to, (moved,), plain) if plain else moved


def note(pretence: SimulatedGpu, tensor: torch.Tensor, there: torch.device, *, non_blocking: bool) -> None:
    """Note what it means that this tensor is copied to the other side."""
    if there == GPU:
        pretence.copied(pretence.labels.of(tensor), axes=tensor.dim(), non_blocking=non_blocking)
    else:
        pretence.sync()


class Move(torch.autograd.Function):  # type: ignore[misc] # torch gives it no types
    """A copy on another device; its gradient is copied back, as torch does."""

    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor, pretence: SimulatedGpu, there: torch.device) -> torch.Tensor:
        ctx.pretence, ctx.back = pretence, pretence.labels.of(tensor).device
        return copied(pretence, tensor, there)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        return copied(ctx.pretence, gradient, ctx.back), None, None


def copied(pretence: SimulatedGpu, tensor: torch.Tensor, there: torch.device) -> torch.Tensor:
    """Return a copy with the label of another device."""
    with pretence.pause():
        copy = tensor.detach().clone()
    pretence.labels.put(copy, Label(there, frozenset({BACK}) if there != GPU else frozenset(), pretence.place()))
    return copy
