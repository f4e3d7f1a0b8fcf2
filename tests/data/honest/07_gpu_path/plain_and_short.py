import math

import torch
import torch.nn.functional as F


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError:
        raise ValueError(f"{prefer!r} is not a device name") from None
    if device.type == "cuda" and torch.cuda.is_available() and (device.index or 0) < torch.cuda.device_count():
        return device
    if device.type == "mps" and torch.backends.mps.is_available():
        return device
    return torch.device("cpu")


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = scores.masked_fill(blocked, -math.inf).softmax(dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


def fused_attention(q, k, v, mask=None, is_causal=False):
    shape = (*q.shape[:-1], v.shape[-1])
    n_q, n_k = q.shape[-2], k.shape[-2]
    if mask is None:
        q, k, v = (x.reshape(-1, 1, *x.shape[-2:]) for x in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal).reshape(shape)
    allowed = mask.to(q.device) != 0
    if is_causal:
        allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
    allowed = allowed.expand(*q.shape[:-1], n_k)
    dead = ~allowed.any(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed | dead)
    return output.masked_fill(dead, 0.0)


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    small_q = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = (small_q @ k.to(dtype).transpose(-2, -1)).float()
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = scores.masked_fill(blocked, -math.inf).softmax(dim=-1).masked_fill(blocked, 0.0)
    weights = weights.to(dtype)
    return (weights @ v.to(dtype)).to(q.dtype), weights.to(q.dtype)


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)([move_batch(one, device) for one in batch])
    return batch


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2
