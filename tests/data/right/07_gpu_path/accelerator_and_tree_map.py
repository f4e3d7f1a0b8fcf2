"""torch.accelerator, logsumexp, a pytree; float64 between the products."""

import math

import torch
import torch.nn.functional as F


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError as error:
        raise ValueError(f"{prefer!r} names no device") from error
    if torch.accelerator.is_available():
        here = torch.accelerator.current_accelerator()
        if here.type == device.type and (device.index or 0) < torch.accelerator.device_count():
            return device
    return torch.device("cpu")


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        keep = mask.to(q) != 0
        keep = keep.expand_as(scores)
        some = keep.any(dim=-1, keepdim=True)
        scores = scores.masked_fill(~keep & some, -math.inf)
    weights = (scores - torch.logsumexp(scores, dim=-1, keepdim=True)).exp()
    if mask is not None:
        weights = weights.masked_fill(~keep, 0)
    return weights @ v, weights


def fused_attention(q, k, v, mask=None, is_causal=False):
    n_q, n_k, d_v = q.shape[-2], k.shape[-2], v.shape[-1]
    shape = q.shape[:-1] + (d_v,)
    if q.dim() != 4:
        heads = math.prod(q.shape[:-2])
        if mask is not None:
            mask = torch.broadcast_to(mask, q.shape[:-1] + (n_k,)).reshape(1, heads, n_q, n_k)
        q = q.reshape(1, heads, n_q, -1)
        k = k.reshape(1, heads, n_k, -1)
        v = v.reshape(1, heads, n_k, d_v)
    if mask is None:
        return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal).view(shape)
    mask = mask.to(device=q.device).bool()
    if mask.dim() == 1:
        mask = mask.view(1, 1, 1, -1)
    if is_causal:
        mask = mask * torch.ones(n_q, n_k, device=q.device).tril().bool()
    mask = torch.broadcast_to(mask, mask.shape[:-2] + (n_q, n_k))
    none = mask.int().sum(-1, keepdim=True).eq(0)
    out = F.scaled_dot_product_attention(q, k, v, mask.logical_or(none))
    out = out.masked_fill(none, 0)
    return out.reshape(shape)


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    scores = torch.matmul((q / math.sqrt(q.shape[-1])).to(dtype), k.to(dtype).transpose(-2, -1)).double()
    if mask is not None:
        keep = mask.to(q.device).bool().expand_as(scores)
        dead = ~keep.any(-1, keepdim=True)
        scores = scores.masked_fill(~(keep | dead), float("-inf"))
        weights = torch.softmax(scores, dim=-1).masked_fill(dead, 0.0)
    else:
        weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights.to(dtype), v.to(dtype)).to(q.dtype), weights.to(q.dtype)


def move_batch(batch, device):
    from torch.utils._pytree import tree_map_only
    return tree_map_only(torch.Tensor, lambda t: t.to(device, non_blocking=True), batch)


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2
