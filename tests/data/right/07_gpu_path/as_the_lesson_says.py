"""One function after the other, as the lesson has them."""

import math

import torch
import torch.nn.functional as F


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError as error:
        raise ValueError(f"no such device: {prefer}") from error
    if device.type == "cuda":
        if not torch.cuda.is_available() or (device.index is not None and device.index >= torch.cuda.device_count()):
            return torch.device("cpu")
        return device
    if device.type == "mps" and torch.backends.mps.is_available():
        return device
    return torch.device("cpu")


def attention_on_device(q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if mask is not None:
        mask = mask.to(q.device)
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = F.softmax(scores, dim=-1)
    if mask is not None:
        weights = torch.nan_to_num(weights)
    return torch.matmul(weights, v), weights


def fused_attention(q, k, v, mask=None, is_causal=False):
    dims = q.dim()
    while q.dim() < 4:
        q, k, v = q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0)
    if mask is None:
        out = F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
    else:
        mask = mask.to(q.device).bool()
        while mask.dim() < q.dim():
            mask = mask.unsqueeze(0)
        if is_causal:
            causal = torch.tril(torch.ones(q.size(-2), k.size(-2), dtype=torch.bool, device=q.device))
            mask = torch.logical_and(mask, causal)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        out = torch.where(mask.any(dim=-1, keepdim=True), out, torch.zeros_like(out))
    while out.dim() > dims:
        out = out.squeeze(0)
    return out


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    scale = q.size(-1) ** -0.25
    scores = (q * scale).to(dtype) @ (k * scale).to(dtype).transpose(-2, -1)
    scores = scores.float()
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = torch.nan_to_num(weights)
    output = weights.to(dtype) @ v.to(dtype)
    return output.to(q.dtype), weights.to(q.dtype)


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    elif isinstance(batch, dict):
        return {k: move_batch(v, device) for k, v in batch.items()}
    elif isinstance(batch, list):
        return [move_batch(x, device) for x in batch]
    elif isinstance(batch, tuple):
        return tuple(move_batch(x, device) for x in batch)
    else:
        return batch


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2

