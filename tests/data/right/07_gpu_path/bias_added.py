"""Masks as biases that are added, rows with nothing left kept away from the softmax."""

import torch
import torch.nn.functional as F

KINDS = {"cpu": lambda: 1, "cuda": torch.cuda.device_count, "mps": lambda: 1 if torch.backends.mps.is_available() else 0}


def pick_device(prefer="cuda"):
    try:
        wanted = torch.device(prefer)
    except (RuntimeError, TypeError) as e:
        raise ValueError("pick_device(%r): %s" % (prefer, e)) from None
    count = KINDS.get(wanted.type, lambda: 0)()
    if (wanted.index or 0) >= count:
        wanted = torch.device("cpu")
    return wanted


def bias_of(mask, like):
    """Return 0 where a key is allowed and minus infinity where not, 0 in rows that are empty; and those rows."""
    allowed = mask.to(device=like.device) != 0
    allowed = allowed.broadcast_to(torch.broadcast_shapes(allowed.shape, like.shape[-2:]))
    empty = ~allowed.any(-1, keepdim=True)
    bias = torch.zeros(allowed.shape, dtype=like.dtype, device=like.device)
    return bias.masked_fill(~allowed & ~empty, float("-inf")), empty


def attention_on_device(q, k, v, mask=None):
    scores = q.matmul(k.transpose(-1, -2)).mul(q.shape[-1] ** -0.5)
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        bias, empty = bias_of(mask, scores)
        weights = (scores + bias).softmax(dim=-1).masked_fill(empty, 0)
    return weights.matmul(v), weights


def fused_attention(q, k, v, mask=None, is_causal=False):
    n = q.dim()
    if n < 4:
        q, k, v = (x.view((1,) * (4 - n) + x.shape) for x in (q, k, v))
    if mask is None:
        out = F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
    else:
        like = torch.empty(q.shape[-2], k.shape[-2], dtype=q.dtype, device=q.device)
        if is_causal:
            mask = (mask.to(q.device) != 0) & torch.ones_like(like).tril().bool()
        bias, empty = bias_of(mask, like)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=bias).masked_fill(empty, 0)
    return out.view(out.shape[max(0, 4 - n) :]) if n < 4 else out


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    scores = (q * q.shape[-1] ** -0.5).to(dtype).matmul(k.to(dtype).transpose(-1, -2))
    if mask is None:
        weights = scores.softmax(dim=-1, dtype=torch.float32)
    else:
        bias, empty = bias_of(mask, scores.float())
        weights = (scores.float() + bias).softmax(dim=-1).masked_fill(empty, 0)
    return weights.to(dtype).matmul(v.to(dtype)).to(q), weights.to(q)


def move_batch(batch, device):
    """Move what can be moved."""

    def go(x):
        if isinstance(x, dict):
            return {name: go(value) for name, value in x.items()}
        if isinstance(x, (list, tuple)):
            moved = [go(value) for value in x]
            return moved if isinstance(x, list) else tuple(moved)
        return x.to(device, non_blocking=True) if isinstance(x, torch.Tensor) else x

    return go(batch)


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2

