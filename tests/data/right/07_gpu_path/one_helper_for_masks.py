"""One helper that turns any mask into bools on a device; a class keeps the formula."""

import math
from collections.abc import Mapping, Sequence

import torch
from torch import nn
from torch.nn import functional as F


def pick_device(prefer="cuda"):
    name = str(prefer)
    kind, _, number = name.partition(":")
    try:
        torch.device(name)
    except RuntimeError:
        raise ValueError(f"{name!r}?") from None
    available = {"cuda": torch.cuda.device_count() if torch.cuda.is_available() else 0, "cpu": 1}
    available["mps"] = int(torch.backends.mps.is_available())
    if int(number or 0) < available.get(kind, 0):
        return torch.device(name)
    return torch.device("cpu")


def allowed_by(mask, q, k, is_causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    allowed = torch.ones(n_q, n_k, dtype=torch.bool, device=q.device)
    if is_causal:
        allowed = torch.tril(allowed)
    if mask is not None:
        allowed = allowed & mask.to(device=q.device, dtype=torch.bool)
    return allowed


class Attention(nn.Module):
    def forward(self, scores, v, allowed):
        scores = scores.masked_fill(allowed.logical_not(), -math.inf)
        weights = torch.softmax(scores, dim=-1)
        weights = torch.where(torch.isnan(weights), torch.zeros_like(weights), weights)
        return weights @ v, weights


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(k.shape[-1])
    return Attention()(scores, v, allowed_by(mask, q, k))


def fused_attention(q, k, v, mask=None, is_causal=False):
    extra = 4 - q.ndim
    if extra > 0:
        q, k, v = (x.reshape((1,) * extra + tuple(x.shape)) for x in (q, k, v))
    if mask is None:
        output = F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
    else:
        allowed = allowed_by(mask, q, k, is_causal)
        output = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        output = torch.nan_to_num(output) * allowed.any(dim=-1, keepdim=True).to(output.dtype)
    for _ in range(extra):
        output = output[0]
    return output


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    scores = torch.matmul((q / math.sqrt(k.shape[-1])).to(dtype), k.to(dtype).swapaxes(-1, -2))
    allowed = allowed_by(mask, q, k)
    weights = torch.softmax(scores.float().masked_fill(~allowed, -math.inf), dim=-1)
    weights = torch.where(allowed, weights, 0.0)
    return torch.matmul(weights.to(dtype), v.to(dtype)).to(q.dtype), weights.to(q.dtype)


def move_batch(batch, device):
    if hasattr(batch, "to") and callable(batch.to):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, Mapping):
        return type(batch)((key, move_batch(value, device)) for key, value in batch.items())
    if isinstance(batch, Sequence) and not isinstance(batch, (str, bytes)):
        return type(batch)(move_batch(value, device) for value in batch)
    return batch


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2

