"""Autocast for 16 bits, torch.where for masks, and devices that are tried out."""

import math

import torch
from torch.nn.functional import scaled_dot_product_attention


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError:
        raise ValueError("there is no device called " + repr(prefer))
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError):
        return torch.device("cpu")
    return device


def _weights(scores, mask):
    if mask is None:
        return scores.softmax(-1)
    allowed = mask.to(scores.device) != 0
    lowest = torch.full_like(scores, -math.inf)
    weights = torch.where(allowed, scores, lowest).softmax(-1)
    return torch.where(allowed, weights, torch.zeros_like(weights))


def attention_on_device(q, k, v, mask=None):
    weights = _weights(q @ k.mT * q.shape[-1] ** -0.5, mask)
    return weights @ v, weights


def fused_attention(q, k, v, mask=None, is_causal=False):
    shape = (*q.shape[:-1], v.shape[-1])
    if q.dim() == 2:
        q, k, v = q[None, None], k[None, None], v[None, None]
    elif q.dim() == 3:
        q, k, v = q[None], k[None], v[None]
    if mask is None:
        return scaled_dot_product_attention(q, k, v, None, 0.0, is_causal).reshape(shape)
    n_q, n_k = q.shape[-2], k.shape[-2]
    bias = torch.where(mask.to(q.device) != 0, 0.0, -math.inf).to(q.dtype)
    if is_causal:
        after = torch.arange(n_k, device=q.device) > torch.arange(n_q, device=q.device)[:, None]
        bias = bias.masked_fill(after, -math.inf) if bias.dim() > 1 else bias + torch.where(after, -math.inf, 0.0).to(q)
    bias = bias.expand(*bias.shape[:-2], n_q, n_k) if bias.dim() > 1 else bias.expand(n_q, n_k)
    empty = (bias == -math.inf).all(-1, keepdim=True)
    output = scaled_dot_product_attention(q, k, v, bias.masked_fill(empty, 0.0))
    return output.masked_fill(empty, 0.0).reshape(shape)


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    with torch.autocast(device_type=q.device.type, dtype=dtype):
        scores = (q / math.sqrt(q.shape[-1])) @ k.mT
    weights = _weights(scores.float(), mask)
    with torch.autocast(device_type=q.device.type, dtype=dtype):
        output = weights @ v
    return output.to(q.dtype), weights.to(q.dtype)


def move_batch(batch, device):
    match batch:
        case torch.Tensor():
            return batch.to(device=device, non_blocking=True)
        case dict():
            return dict((key, move_batch(value, device)) for key, value in batch.items())
        case list() | tuple():
            return type(batch)([move_batch(value, device) for value in batch])
    return batch


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2

