"""The attention weights of every head of a student's GPT, for one sentence."""

from __future__ import annotations

from typing import Any

import torch

Maps = list[list[list[list[float]]]]  # layer, head, query, key


def attention_maps(model: Any, ids: torch.Tensor) -> tuple[Maps, str]:
    """Return the weights that the attention of each block returns beside its output, or why there are none.

    Module 06 promises (output, weights), with weights (B, H, N, N). A hook reads them while the model runs.
    """
    found: list[Any] = []
    blocks = list(getattr(model, "blocks", ()))
    parts: list[Any] = [getattr(block, "attention", None) for block in blocks]
    if not parts or not all(isinstance(part, torch.nn.Module) for part in parts):
        return [], "your GPT has no `blocks` with an `attention` in each"
    handles = [part.register_forward_hook(lambda _part, _given, result: found.append(result)) for part in parts]
    try:
        with torch.no_grad():
            model(ids.unsqueeze(0))
    finally:
        for handle in handles:
            handle.remove()
    weights: list[Any] = [result[1] if isinstance(result, tuple) and len(result) == 2 else None for result in found]
    if len(weights) != len(parts) or not all(_are_weights(one, len(ids)) for one in weights):
        return [], "the attention of your blocks does not return (output, weights) with weights of (B, H, N, N)"
    return [[_rounded(head) for head in one[0]] for one in weights], ""


def _are_weights(value: Any, length: int) -> bool:
    if not isinstance(value, torch.Tensor) or value.dim() != 4:
        return False
    return value.shape[0] == 1 and tuple(value.shape[2:]) == (length, length) and bool(torch.isfinite(value).all())


def _rounded(head: torch.Tensor) -> list[list[float]]:
    return [[round(weight, 4) for weight in row] for row in head.tolist()]
