"""Transfers of tensors between the CPU and the simulated GPU, with their gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from grader.sandbox.worker.gpu.labels import BACK, GPU, Label
from grader.sandbox.worker.gpu.simulated import SimulatedGpu


@dataclass(frozen=True)
class TransferRequest:
    """The arguments of `.to`; None if not given."""

    device: Any = None
    dtype: torch.dtype | None = None
    non_blocking: bool = False
    copy: bool = False
    memory_format: Any = None


def request_of(simulated: SimulatedGpu, args: Sequence[Any], kwargs: Mapping[str, Any]) -> TransferRequest:
    """Read the arguments of `.to` in any of its three forms: device and dtype, dtype, another tensor."""
    options: dict[str, Any] = dict(kwargs)
    rest = list(args)
    if (other := options.pop("other", None)) is not None:
        rest.insert(0, other)
    if rest and isinstance(rest[0], torch.Tensor):
        other = rest.pop(0)
        options |= {"device": simulated.labels.of(other).device, "dtype": other.dtype}
        names = ("non_blocking", "copy")
    elif rest and isinstance(rest[0], torch.dtype):
        names = ("dtype", "non_blocking", "copy")  # type: ignore[assignment]
    else:
        names = ("device", "dtype", "non_blocking", "copy")  # type: ignore[assignment]
    return TransferRequest(**options | dict(zip(names, rest, strict=False)))


def move(simulated: SimulatedGpu, tensor: torch.Tensor, request: TransferRequest) -> torch.Tensor:
    """Return a tensor as requested; the same tensor if nothing has to change."""
    here = simulated.labels.of(tensor).device
    there = here if request.device is None else simulated.device(request.device)
    moved = tensor
    if there != here and {there.type, here.type} == {"cpu", "cuda"}:
        note(simulated, tensor, there, non_blocking=request.non_blocking)
        followed = torch.is_grad_enabled() and tensor.requires_grad
        moved = Move.apply(tensor, simulated, there) if followed else copied(simulated, tensor, there)
    plain: dict[str, Any] = {"dtype": request.dtype, "memory_format": request.memory_format}
    plain = {name: value for name, value in plain.items() if value is not None}
    if request.copy and moved is tensor:
        plain["copy"] = True
    if there.type not in ("cpu", "cuda"):
        plain["device"] = there
    return simulated.run(torch.Tensor.to, (moved,), plain) if plain else moved


def note(simulated: SimulatedGpu, tensor: torch.Tensor, there: torch.device, *, non_blocking: bool) -> None:
    """Note a copy to the GPU, or a sync for a copy to the CPU."""
    if there == GPU:
        label = simulated.labels.of(tensor)
        simulated.copied(label, axes=tensor.dim(), entries=tensor.numel(), non_blocking=non_blocking)
    else:
        simulated.sync()


class Move(torch.autograd.Function):  # type: ignore[misc] # torch gives it no types
    """A copy to another device whose gradient is copied back, as in torch."""

    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor, simulated: SimulatedGpu, there: torch.device) -> torch.Tensor:
        ctx.simulated, ctx.back = simulated, simulated.labels.of(tensor).device
        return copied(simulated, tensor, there)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        return copied(ctx.simulated, gradient, ctx.back), None, None


def copied(simulated: SimulatedGpu, tensor: torch.Tensor, there: torch.device) -> torch.Tensor:
    """Return a copy, labelled as being on another device."""
    with simulated.pause():
        copy = tensor.detach().clone()
    simulated.labels.put(copy, Label(there, frozenset({BACK}) if there != GPU else frozenset(), simulated.place()))
    return copy
