"""The softmax, too, in 16 bits; everything in place that may be."""

import math

import torch
import torch.nn.functional as F


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError as error:
        message = f"{prefer!r} is not a device ({error})"
    else:
        if device.type == "cuda":
            numbers = range(torch.cuda.device_count())
            there = len(numbers) > 0 if device.index is None else device.index in numbers
        elif device.type == "mps":
            there = torch.backends.mps.is_available()
        else:
            there = device.type == "cpu"
        return device if there else torch.device("cpu")
    raise ValueError(message)


def attention_on_device(q, k, v, mask=None):
    scores = (q / math.sqrt(q.shape[-1])) @ k.transpose(-1, -2)
    if mask is not None:
        blocked = torch.as_tensor(mask, device=q.device) == 0
        scores.masked_fill_(blocked, -torch.inf)
        empty = blocked.all(-1, keepdim=True).expand(scores.shape)
        scores.masked_fill_(empty, 0.0)
        weights = torch.softmax(scores, -1).masked_fill(empty, 0.0)
    else:
        weights = torch.softmax(scores, -1)
    return weights @ v, weights


def fused_attention(q, k, v, mask=None, is_causal=False):
    lead = q.shape[:-2]
    flat = [x.flatten(0, -3).unsqueeze(1) if x.dim() > 2 else x[None, None] for x in (q, k, v)]
    if mask is None:
        out = F.scaled_dot_product_attention(*flat, is_causal=is_causal)
        return out.reshape(*lead, q.shape[-2], v.shape[-1])
    allowed = mask.to(q.device, non_blocking=True).ne(0)
    allowed = allowed.expand(*lead, q.shape[-2], k.shape[-2])
    if is_causal:
        i = torch.arange(q.shape[-2], device=q.device).unsqueeze(-1)
        j = torch.arange(k.shape[-2], device=q.device)
        allowed = allowed.logical_and(j.le(i))
    allowed = allowed.reshape(-1, 1, q.shape[-2], k.shape[-2])
    some = allowed.any(dim=-1, keepdim=True)
    out = F.scaled_dot_product_attention(*flat, attn_mask=allowed.logical_or(~some))
    out = torch.where(some, out, out.new_zeros(()))
    return out.reshape(*lead, q.shape[-2], v.shape[-1])


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    kind = q.dtype
    q, k, v = (q / math.sqrt(q.shape[-1])).to(dtype), k.to(dtype), v.to(dtype)
    scores = q @ k.transpose(-1, -2)
    if mask is not None:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -torch.inf), -1).masked_fill(blocked, 0)
    else:
        weights = torch.softmax(scores, -1)
    return (weights @ v).to(kind), weights.to(kind)


def move_batch(batch, device):
    device = torch.device(device)
    if isinstance(batch, torch.Tensor):
        if batch.device == device:
            return batch
        if device.type == "cuda" and not batch.is_cuda:
            return batch.pin_memory().to(device, non_blocking=True)
        return batch.to(device, non_blocking=True)
    if isinstance(batch, (tuple, list)):
        return batch.__class__([move_batch(x, device) for x in batch])
    if isinstance(batch, dict):
        return {**{key: move_batch(x, device) for key, x in batch.items()}}
    return batch


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2

