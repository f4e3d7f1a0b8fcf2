import math

import torch
import torch.nn.functional as F

# %% pick_ignores_the_wish in_one_line


def pick_device(prefer="cuda"):
    try:
        wish = torch.device(prefer)
    except RuntimeError as error:
        raise ValueError(f"{prefer!r}: {error}") from error
    del wish
    return torch.device("cuda") if torch.cuda.device_count() else torch.device("cpu")


# %% pick_without_fallback checked_by_hand


def pick_device(prefer="cuda"):
    name = str(prefer)
    if name.partition(":")[0] not in ("cuda", "cpu", "mps", "xpu") or name == "cuda0":
        raise ValueError(f"no device {name!r}")
    return torch.device(name)


# %% mask_left_on_the_cpu where


def attention_on_device(q, k, v, mask=None):
    scores = torch.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = torch.where(mask.bool(), scores, -math.inf)
    weights = torch.nan_to_num(scores.softmax(-1))
    return torch.einsum("...ij,...jd->...id", weights, v), weights


# %% mask_left_on_the_cpu multiplied


def attention_on_device(q, k, v, mask=None):
    exps = torch.matmul(q, k.mT).div(math.sqrt(k.shape[-1]))
    exps = torch.exp(exps - exps.amax(dim=-1, keepdim=True)) if mask is None else _masked(exps, mask)
    sums = exps.sum(dim=-1, keepdim=True)
    weights = exps / (sums + (sums == 0))
    return weights.matmul(v), weights


def _masked(scores, mask):
    scores = scores.masked_fill(mask == 0, -math.inf)
    return torch.exp(scores - scores.amax(dim=-1, keepdim=True).clamp_min(torch.finfo(scores.dtype).min))


# %% mask_left_on_the_cpu logical


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = F.softmax(scores, dim=-1)
    else:
        hidden = torch.logical_not(mask)
        weights = F.softmax(torch.masked_fill(scores, hidden, -torch.inf), dim=-1)
        weights = torch.masked_fill(weights, hidden, 0.0)
    return weights @ v, weights


# %% largest_score_read float


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    print("largest", float(scores.max()))
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        allowed = mask.to(q.device) != 0
        weights = torch.where(allowed, scores, -math.inf).softmax(-1).nan_to_num()
    return weights @ v, weights


# %% largest_score_read asserted


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    assert scores.isfinite().all(), "scores are not finite"
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        allowed = mask.to(q.device) != 0
        weights = torch.where(allowed, scores, -math.inf).softmax(-1).nan_to_num()
    return weights @ v, weights


# %% largest_score_read formatted


def attention_on_device(q, k, v, mask=None):
    scores = torch.matmul(q, k.mT) * q.shape[-1] ** -0.5
    note = f"scores up to {scores.max():.2f}"
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device).logical_not()
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    assert note
    return torch.matmul(weights, v), weights


# %% moves_to_the_best_device picked


def attention_on_device(q, k, v, mask=None):
    device = pick_device()
    q, k, v = (x.to(device) for x in (q, k, v))
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% mask_inverted where


def attention_on_device(q, k, v, mask=None):
    scores = torch.einsum("...id,...jd->...ij", q, k) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = torch.where(mask.to(q.device).bool(), -math.inf, scores)
    weights = F.softmax(scores, dim=-1)
    weights = torch.where(torch.isnan(weights), torch.zeros_like(weights), weights)
    return weights @ v, weights


# %% convention_inverted logical


def fused_attention(q, k, v, mask=None, is_causal=False):
    if mask is None:
        return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
    blocked = torch.logical_not(mask.to(q.device))
    if blocked.dim() == 1:
        blocked = blocked[None]
    blocked = blocked.expand(*blocked.shape[:-2], q.shape[-2], k.shape[-2])
    if is_causal:
        blocked = blocked & torch.ones(q.shape[-2], k.shape[-2], device=q.device).tril().bool()
    some = blocked.any(dim=-1, keepdim=True)
    return torch.where(some, F.scaled_dot_product_attention(q, k, v, attn_mask=blocked), 0.0)


# %% causal_dropped_with_a_mask by_a_condition


def fused_attention(q, k, v, mask=None, is_causal=False):
    allowed = None if mask is None else torch.atleast_2d(mask.to(q.device).bool())
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed, is_causal=is_causal and mask is None)
    return output if mask is None else output * allowed.any(dim=-1, keepdim=True)


# %% mask_of_numbers_added float


def fused_attention(q, k, v, mask=None, is_causal=False):
    if mask is not None:
        mask = mask.to(q.device)
        mask = mask if mask.dtype == torch.bool else mask.to(q.dtype)
        mask = mask[None] if mask.dim() == 1 else mask
        if is_causal:
            mask = mask * torch.ones_like(q[..., :1] @ k[..., :1].mT)[(0,) * (q.dim() - 2)].tril().to(mask.dtype)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)


# %% scaled_after_the_product einsum


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    scores = torch.einsum("...id,...jd->...ij", q.to(dtype), k.to(dtype)).float() * q.shape[-1] ** -0.5
    if mask is not None:
        mask = mask.to(q.device) != 0
        scores = torch.where(mask, scores, -math.inf)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = torch.where(mask, weights, 0.0)
    return torch.einsum("...ij,...jd->...id", weights.to(dtype), v.to(dtype)).to(q), weights.to(q)


# %% output_left_in_half throughout


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    q, k, v = (q * q.shape[-1] ** -0.5).to(dtype), k.to(dtype), v.to(dtype)
    scores = q @ k.mT
    if mask is None:
        weights = scores.softmax(-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = scores.masked_fill(blocked, -math.inf).softmax(-1).masked_fill(blocked, 0)
    return weights @ v, weights


# %% copies_block keyword


def move_batch(batch, device):
    if torch.is_tensor(batch):
        return batch.to(device=torch.device(device), non_blocking=False)
    if type(batch) is dict:
        return dict((key, move_batch(value, device)) for key, value in batch.items())
    return type(batch)([move_batch(value, device) for value in batch]) if type(batch) in (list, tuple) else batch


# %% tuples_forgotten one_by_one


def move_batch(batch, device):
    if isinstance(batch, list):
        copy = []
        for value in batch:
            copy.append(move_batch(value, device))
        return copy
    if isinstance(batch, dict):
        copy = {}
        for key in batch:
            copy[key] = move_batch(batch[key], device)
        return copy
    return batch.to(device, non_blocking=True) if torch.is_tensor(batch) else batch
