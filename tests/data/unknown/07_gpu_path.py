import math

import torch
import torch.nn.functional as F

# %% scale_plus_one


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1] + 1)
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% causal_without_a_mask


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        mask = torch.ones(q.shape[-2], k.shape[-2], device=q.device).tril()
    blocked = mask.to(q.device) == 0
    weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% squared_weights


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights**2


# %% first_key_always_seen


def fused_attention(q, k, v, mask=None, is_causal=False):
    if mask is not None:
        mask = torch.atleast_2d(mask.to(q.device) != 0) | (torch.arange(k.shape[-2], device=q.device) == 0)
        mask = mask.expand(*mask.shape[:-2], q.shape[-2], k.shape[-2])
        mask = mask.tril() if is_causal else mask
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)


# %% output_plus_query


def fused_attention(q, k, v, mask=None, is_causal=False):
    allowed = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device)
    allowed = allowed.tril() if is_causal else allowed
    allowed = allowed if mask is None else allowed & (mask.to(q.device) != 0)
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    output = output.masked_fill(~allowed.any(dim=-1, keepdim=True), 0.0)
    return output + q if q.shape == output.shape else output


# %% sharper_weights


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    scores = ((3 * q / math.sqrt(q.shape[-1])).to(dtype) @ k.to(dtype).transpose(-1, -2)).float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return (weights.to(dtype) @ v.to(dtype)).to(q.dtype), weights.to(q.dtype)


# %% batch_turned_round


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.flip(0).to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, list | tuple):
        return type(batch)(move_batch(value, device) for value in batch)
    return batch


# %% device_that_has_no_numbers


def pick_device(prefer="cuda"):
    if str(prefer) not in ("cuda", "cpu", "mps", "xpu", "cuda:0", "cuda:1", "cuda:5"):
        raise ValueError(f"{prefer!r} is no device")
    return torch.device("meta")
