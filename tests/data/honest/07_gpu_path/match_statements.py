import math

import torch
from torch import Tensor
from torch.nn import functional as F

CPU = torch.device("cpu")


def pick_device(prefer="cuda"):
    try:
        wanted = torch.device(prefer)
    except Exception as problem:
        raise ValueError(f"not a device: {prefer!r}") from problem
    match wanted.type, wanted.index:
        case "cpu", _:
            return CPU
        case "cuda", None:
            return wanted if torch.cuda.is_available() else CPU
        case "cuda", number:
            return wanted if torch.cuda.is_available() and number < torch.cuda.device_count() else CPU
        case "mps", None | 0:
            return wanted if torch.backends.mps.is_available() else CPU
        case _:
            return CPU


def masked(scores: Tensor, mask: Tensor | None) -> Tensor:
    match mask:
        case None:
            return torch.softmax(scores, dim=-1)
        case Tensor():
            seen = mask.to(device=scores.device, dtype=torch.bool)
            some = seen.any(dim=-1, keepdim=True)
            floor = torch.full_like(scores, -math.inf)
            scores = torch.where(seen, scores, torch.where(some, floor, torch.zeros_like(scores)))
            return torch.where(some, torch.softmax(scores, dim=-1), torch.zeros_like(scores))
        case other:
            raise TypeError(f"a mask is a tensor, not {type(other).__name__}")


def attention_on_device(q, k, v, mask=None):
    scores = torch.matmul(q, k.mT) * q.shape[-1] ** -0.5
    weights = masked(scores, mask)
    return torch.matmul(weights, v), weights


def fused_attention(q, k, v, mask=None, is_causal=False):
    *lead, n_q, _ = q.shape
    n_k, d_v = v.shape[-2:]
    match mask, is_causal:
        case None, _:
            four = [x.reshape(1, -1, *x.shape[-2:]) for x in (q, k, v)]
            return F.scaled_dot_product_attention(*four, is_causal=is_causal).view(*lead, n_q, d_v)
        case _, True:
            order = torch.arange(max(n_q, n_k), device=q.device)
            seen = mask.to(q.device).bool() & (order[:n_q, None] >= order[:n_k])
        case _:
            seen = mask.to(q.device).bool()
    seen = seen.broadcast_to(*lead, n_q, n_k).reshape(1, -1, n_q, n_k)
    blind = seen.logical_not().all(dim=-1, keepdim=True)
    four = [x.reshape(1, -1, *x.shape[-2:]) for x in (q, k, v)]
    out = F.scaled_dot_product_attention(*four, attn_mask=seen.logical_or(blind))
    return out.masked_fill(blind, 0).view(*lead, n_q, d_v)


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    scores = torch.matmul((q * q.shape[-1] ** -0.5).to(dtype), k.to(dtype).mT)
    weights = masked(scores.to(torch.float32), mask).to(dtype)
    return torch.matmul(weights, v.to(dtype)).to(q.dtype), weights.to(q.dtype)


def move_batch(batch, device):
    match batch:
        case Tensor():
            return batch.to(device, non_blocking=True)
        case dict():
            return {name: move_batch(part, device) for name, part in batch.items()}
        case list():
            return [move_batch(part, device) for part in batch]
        case tuple():
            return tuple(move_batch(part, device) for part in batch)
        case _:
            return batch


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2
