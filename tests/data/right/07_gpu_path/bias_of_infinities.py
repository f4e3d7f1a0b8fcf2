"""A bias of minus infinity for the built-in, the least number for the formula."""

import math

import torch
import torch.nn.functional as F


def pick_device(prefer="cuda"):
    cpu = torch.device("cpu")
    try:
        device = torch.device(prefer)
    except RuntimeError as err:
        raise ValueError(f"not a device name: '{prefer}'") from err
    match device.type:
        case "cpu":
            return cpu
        case "cuda":
            index = 0 if device.index is None else device.index
            return device if index in range(torch.cuda.device_count()) else cpu
        case "mps":
            return device if torch.backends.mps.is_available() else cpu
        case _:
            return cpu


def attention_on_device(q, k, v, mask=None):
    scores = (q / math.sqrt(q.shape[-1])) @ k.mT
    if mask is not None:
        allowed = mask.to(q.device).to(torch.bool)
        scores = scores.masked_fill(torch.logical_not(allowed), torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, -1)
    if mask is not None:
        weights = weights * allowed
    return weights @ v, weights


def fused_attention(q, k, v, mask=None, is_causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    shape = q.shape
    extra = (1,) * max(0, 4 - q.dim())
    qq, kk, vv = q.reshape(extra + q.shape), k.reshape(extra + k.shape), v.reshape(extra + v.shape)
    if mask is None:
        return F.scaled_dot_product_attention(qq, kk, vv, None, 0.0, is_causal).reshape(*shape[:-1], v.shape[-1])
    blocked = mask.to(q.device) == 0
    if is_causal:
        blocked = blocked | torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).triu(1)
    blocked = blocked.expand(*q.shape[:-1], n_k)
    dead = blocked.all(dim=-1, keepdim=True)
    bias = torch.zeros(blocked.shape, dtype=q.dtype, device=q.device).masked_fill(blocked & ~dead, float("-inf"))
    out = F.scaled_dot_product_attention(qq, kk, vv, attn_mask=bias.reshape(extra + bias.shape))
    return out.reshape(*shape[:-1], v.shape[-1]).masked_fill(dead, 0.0)


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    given = q.dtype
    q, k, v = (x.to(dtype) for x in (q, k, v))
    scores = torch.einsum("...id,...jd->...ij", q * q.shape[-1] ** -0.5, k)
    if mask is not None:
        mask = mask.to(q.device).to(torch.bool)
        scores = scores.masked_fill(~mask, torch.finfo(dtype).min)
    weights = torch.softmax(scores, dim=-1, dtype=torch.float32).to(dtype)
    if mask is not None:
        weights = weights * mask
    out = torch.einsum("...ij,...jd->...id", weights, v)
    return out.to(given), weights.to(given)


def move_batch(batch, device):
    import copy
    if isinstance(batch, torch.Tensor):
        return batch.to(device=device, non_blocking=True)
    if isinstance(batch, dict):
        new = copy.copy(batch)
        for key in new:
            new[key] = move_batch(new[key], device)
        return new
    if isinstance(batch, list):
        return list(map(lambda x: move_batch(x, device), batch))
    if isinstance(batch, tuple):
        return tuple(map(lambda x: move_batch(x, device), batch))
    return batch


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2
