"""All leading axes become one; scales inside, and tries the device by putting a tensor there."""

import math

import torch
import torch.nn.functional as F


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError as error:
        raise ValueError(f"{prefer!r} names no device") from error
    if device.type not in ("cuda", "mps", "cpu"):
        return torch.device("cpu")
    try:
        torch.zeros(()).to(device)
    except Exception:
        return torch.device("cpu")
    return device


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1)
    scores = scores / math.sqrt(q.size(-1))
    if mask is not None:
        mask = mask.to(q.device)
        scores.masked_fill_(mask == 0, -float("inf"))
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights.masked_fill(mask == 0, 0.0)
    out = weights @ v
    return out, weights


def fused_attention(q, k, v, mask=None, is_causal=False):
    lead = q.shape[:-2]
    n_q, n_k = q.size(-2), k.size(-2)
    def four(x):
        return x.reshape(1, -1, *x.shape[-2:])
    attn_mask = None
    if mask is not None:
        allowed = mask.to(q.device) != 0
        if is_causal:
            allowed = allowed & torch.tril(torch.ones((n_q, n_k), device=q.device, dtype=torch.bool))
        allowed = allowed.broadcast_to((*lead, n_q, n_k)).reshape(1, -1, n_q, n_k)
        empty = torch.logical_not(allowed.any(-1, keepdim=True))
        attn_mask = allowed | empty
        out = F.scaled_dot_product_attention(four(q), four(k), four(v), attn_mask=attn_mask)
        out = out.masked_fill(empty, 0)
    else:
        out = F.scaled_dot_product_attention(four(q), four(k), four(v), is_causal=is_causal)
    return out.reshape(*lead, n_q, v.size(-1))


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    original = q.dtype
    q, k, v = q.to(dtype), k.to(dtype), v.to(dtype)
    scores = torch.matmul(q / math.sqrt(q.shape[-1]), k.transpose(-2, -1))
    scores = scores.float()
    if mask is not None:
        mask = mask.to(q.device) != 0
        scores = scores.masked_fill(~mask, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    weights = weights.to(dtype)
    output = torch.matmul(weights, v)
    return output.to(original), weights.to(original)


def move_batch(batch, device):
    device = torch.device(device)
    def move(x):
        if isinstance(x, torch.Tensor):
            if device.type == "cuda":
                return x.cuda(device, non_blocking=True)
            return x.to(device)
        if isinstance(x, dict):
            return {key: move(value) for key, value in x.items()}
        if isinstance(x, list):
            return [*map(move, x)]
        if isinstance(x, tuple):
            return (*map(move, x),)
        return x
    return move(batch)


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2
