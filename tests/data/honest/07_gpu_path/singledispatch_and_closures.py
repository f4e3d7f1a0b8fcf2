from functools import partial, singledispatch
import math
import torch
from torch import nn
import torch.nn.functional as F


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except (RuntimeError, TypeError):
        raise ValueError(f"unknown device {prefer!r}")
    has = getattr(torch, "cuda").is_available if device.type == "cuda" else None
    if device.type == "mps":
        has = torch.backends.mps.is_available
    if has is None or not has():
        return torch.device("cpu")
    if device.type == "cuda" and device.index is not None and not device.index < torch.cuda.device_count():
        return torch.device("cpu")
    return device


def _attention(q, k, v, mask, *, cast=lambda x: x, precise=lambda x: x):
    """The formula. cast is applied to all factors of a product, precise to the scores."""
    q = cast(q / math.sqrt(q.shape[-1]))
    scores = precise(q @ cast(k).transpose(-1, -2))
    block = nn.Identity()
    if mask is not None:
        blocked = ~mask.to(q.device).bool()
        dead = blocked.all(-1, keepdim=True)
        scores = scores.masked_fill(blocked, -torch.inf).masked_fill(dead, 0.0)

        def block(weights):
            return weights.masked_fill(dead, 0.0)

    weights = cast(block(scores.softmax(-1)))
    return weights @ cast(v), weights


def attention_on_device(q, k, v, mask=None):
    return _attention(q, k, v, mask)


def fused_attention(q, k, v, mask=None, is_causal=False):
    def unfold(x):
        nonlocal lead
        lead = x.shape[:-2]
        return x.reshape(math.prod(lead), 1, *x.shape[-2:])

    lead = ()
    sdpa = F.scaled_dot_product_attention
    finish = lambda out: out
    if mask is None:
        sdpa = partial(sdpa, is_causal=is_causal)
    else:
        allowed = torch.broadcast_to(mask.to(q.device).bool(), (*q.shape[:-1], k.shape[-2]))
        if is_causal:
            allowed = allowed.tril()
        blind = ~allowed.any(-1, keepdim=True)
        sdpa = partial(sdpa, attn_mask=unfold(allowed | blind))
        finish = lambda out: out.masked_fill(blind, 0.0)
    out = sdpa(*map(unfold, (q, k, v)))
    return finish(out.reshape(*lead, *out.shape[-2:]))


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    output, weights = _attention(
        q, k, v, mask, cast=partial(torch.Tensor.to, dtype=dtype), precise=partial(torch.Tensor.to, dtype=torch.float32)
    )
    return output.to(q.dtype), weights.to(q.dtype)


@singledispatch
def _move(batch, to):
    return batch


@_move.register
def _(batch: torch.Tensor, to):
    return to(batch)


@_move.register
def _(batch: dict, to):
    return {key: _move(batch[key], to) for key in batch}


@_move.register
def _(batch: list, to):
    return [_move(one, to) for one in batch]


@_move.register
def _(batch: tuple, to):
    return (*(_move(one, to) for one in batch),)


def move_batch(batch, device):
    return _move(batch, lambda tensor: tensor.to(device, non_blocking=True))


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2
