"""Exponentials by hand, with the largest score of each row taken away, and rows divided by their sums."""

import math

import torch
import torch.nn.functional as F


def pick_device(prefer="cuda"):
    if isinstance(prefer, torch.device):
        device = prefer
    else:
        try:
            device = torch.device(prefer)
        except RuntimeError as problem:
            raise ValueError(f"unknown device {prefer!r}: {problem}")
    if device.type == "cpu":
        return device
    if device.type == "cuda" and torch.cuda.is_available():
        number = device.index if device.index is not None else torch.cuda.current_device()
        if number < torch.cuda.device_count():
            return torch.device("cuda", number)
    if device.type == "mps" and torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def shares(scores, allowed=None):
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    exps = torch.exp(scores - scores.amax(dim=-1, keepdim=True).detach())
    if allowed is not None:
        exps = exps * allowed
    sums = exps.sum(dim=-1, keepdim=True)
    return exps / sums.clamp_min(torch.finfo(exps.dtype).tiny)


def attention_on_device(q, k, v, mask=None):
    scores = torch.einsum("...id,...jd->...ij", q, k) / math.sqrt(q.shape[-1])
    weights = shares(scores, None if mask is None else mask.to(q.device).bool())
    return torch.einsum("...ij,...jd->...id", weights, v), weights


def fused_attention(q, k, v, mask=None, is_causal=False):
    front = [1] * max(0, 4 - q.dim())
    big = [x.reshape(*front, *x.shape) for x in (q, k, v)]
    if mask is None:
        result = F.scaled_dot_product_attention(*big, is_causal=is_causal)
    else:
        seen = torch.zeros(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device) | mask.to(q.device).bool()
        if is_causal:
            seen = seen.tril()
        some = seen.any(-1, keepdim=True)
        result = F.scaled_dot_product_attention(*big, attn_mask=seen | ~some) * some
    return result.reshape(*q.shape[:-1], v.shape[-1]).to(q.dtype)


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    a = q.div(math.sqrt(q.shape[-1])).type(dtype)
    b, c = k.type(dtype), v.type(dtype)
    scores = torch.einsum("...id,...jd->...ij", a, b).to(torch.float64)
    weights = shares(scores, None if mask is None else mask.to(q.device).bool())
    return torch.einsum("...ij,...jd->...id", weights.type(dtype), c).type(q.dtype), weights.type(q.dtype)


def move_batch(batch, device):
    if torch.is_tensor(batch):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return dict(zip(batch.keys(), map(lambda value: move_batch(value, device), batch.values())))
    if isinstance(batch, (list, tuple)):
        return type(batch)(map(lambda value: move_batch(value, device), batch))
    return batch


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2

