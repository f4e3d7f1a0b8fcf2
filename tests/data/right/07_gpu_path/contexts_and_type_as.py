"""The device by a context, dtypes by type_as, and the scale as a number on the CPU."""

import math

import torch
import torch.nn.functional as F


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
        torch.empty(0).to(device)
        torch.empty(1, device=device)
    except Exception as error:
        try:
            torch.device(prefer)
        except RuntimeError:
            raise ValueError(f"cannot use {prefer!r}") from error
        return torch.device("cpu")
    return device


def attention_on_device(q, k, v, mask=None):
    scale = torch.tensor(float(q.shape[-1])).sqrt()
    scores = torch.matmul(q, k.transpose(-1, -2)) / scale.to(q.dtype)
    if mask is not None:
        mask = mask.type_as(q)
        scores = scores.masked_fill(mask == 0, -torch.inf)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(mask == 0, 0)
    return torch.matmul(weights, v), weights


def fused_attention(q, k, v, mask=None, is_causal=False):
    added = []
    while q.dim() < 4:
        q, k, v = q[None], k[None], v[None]
        added.append(0)
    if mask is None:
        return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)[tuple(added)]
    with torch.device(q.device):
        both = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool)
    both = both.tril() if is_causal else both
    both = both & mask.to(q.device).bool()
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=both | ~both.any(-1, keepdim=True))
    return (output * both.any(-1, keepdim=True))[tuple(added)]


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low_q, low_k, low_v = (q / math.sqrt(q.shape[-1])).to(dtype), k.to(dtype), v.to(dtype)
    scores = torch.matmul(low_q, low_k.transpose(-1, -2)).type_as(q).float()
    weights = F.softmax(scores if mask is None else scores.masked_fill(mask.type_as(q) == 0, -torch.inf), dim=-1)
    weights = weights.nan_to_num(0.0)
    return torch.matmul(weights.to(dtype), low_v).type_as(q), weights.type_as(q)


def move_batch(batch, device):
    if isinstance(batch, (list, tuple)):
        copy = []
        for value in batch:
            copy.append(move_batch(value, device))
        return type(batch)(copy)
    if isinstance(batch, dict):
        copy = {}
        for key in batch:
            copy[key] = move_batch(batch[key], device)
        return copy
    return batch.to(device, non_blocking=True) if torch.is_tensor(batch) else batch


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2

