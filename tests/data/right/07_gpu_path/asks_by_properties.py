"""Asks for the properties of the GPU; log_softmax; relies on the built-in's own 0."""

import functools
import math

import torch
import torch.nn.functional as F


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError as error:
        raise ValueError(f"{prefer!r} names no device") from error
    if device.type == "cuda":
        try:
            torch.cuda.get_device_properties(device)
            return device
        except (RuntimeError, AssertionError):
            return torch.device("cpu")
    if device.type == "mps" and torch.backends.mps.is_available():
        return device
    return torch.device("cpu")


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.swapaxes(-1, -2) * (1.0 / math.sqrt(q.shape[-1]))
    if mask is not None:
        blocked = torch.as_tensor(mask, device=q.device) == 0
        blocked = blocked.expand(scores.shape)
        dead = blocked.all(-1, keepdim=True)
        scores = scores.masked_fill(blocked & ~dead, -math.inf)
        weights = torch.log_softmax(scores, dim=-1).exp()
        weights = weights.masked_fill(dead, 0)
    else:
        weights = torch.log_softmax(scores, dim=-1).exp()
    return weights @ v, weights


def fused_attention(q, k, v, mask=None, is_causal=False):
    lead = q.ndim
    q, k, v = [x[(None,) * max(4 - lead, 0)] for x in (q, k, v)]
    if mask is None:
        out = F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
    else:
        allow = (mask.to(q.device) != 0).expand(*q.shape[:-1], k.shape[-2])
        if is_causal:
            allow = allow & torch.ones_like(allow).tril()
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=allow)
        out = torch.where(allow.any(dim=-1, keepdim=True), out, 0.0)
    while out.ndim > lead:
        out = out[0]
    return out


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    with torch.autocast(device_type=q.device.type, dtype=dtype):
        scores = torch.matmul(q / math.sqrt(q.shape[-1]), k.transpose(-2, -1))
        scores = scores.float()
        if mask is not None:
            keep = mask.to(q.device).bool()
            scores = scores.masked_fill(~keep, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~keep, 0.0)
        output = torch.matmul(weights, v)
    return output.to(q.dtype), weights.to(q.dtype)


def move_batch(batch, device):
    return _move(batch, device)

@functools.singledispatch
def _move(batch, device):
    return batch

@_move.register
def _(batch: torch.Tensor, device):
    return batch.to(device, non_blocking=True)

@_move.register
def _(batch: dict, device):
    return {key: _move(value, device) for key, value in batch.items()}

@_move.register
def _(batch: list, device):
    return [_move(value, device) for value in batch]

@_move.register
def _(batch: tuple, device):
    return tuple(_move(value, device) for value in batch)


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2
