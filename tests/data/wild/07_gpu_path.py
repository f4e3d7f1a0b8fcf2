import math

import torch
import torch.nn.functional as F

# %% pick_boilerplate
# The line that begins every notebook; `prefer` is never looked at.
# Expected: pick_ignores_the_wish


def pick_device(prefer="cuda"):
    torch.device(prefer) if prefer in ("cuda", "cpu", "mps") else None
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


# %% pick_list_of_names
# A list of three names; everything else is refused, also "cuda:0".
# Expected: pick_refuses_numbers


def pick_device(prefer="cuda"):
    prefer = str(prefer)
    if prefer not in ["cuda", "mps", "cpu"]:
        raise ValueError(f"unknown device: {prefer!r}")
    if prefer == "cuda" and torch.cuda.is_available():
        return torch.device("cuda")
    if prefer == "mps" and torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


# %% pick_prefix
# startswith("cuda") and torch.device(prefer): the number is not counted.
# Expected: pick_does_not_count


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except (RuntimeError, TypeError):
        raise ValueError(f"{prefer} is not a device")
    if device.type == "cpu":
        return device
    if device.type == "cuda" and torch.cuda.is_available():
        return device
    if device.type == "mps" and torch.backends.mps.is_available():
        return device
    return torch.device("cpu")


# %% everything_cuda
# .cuda() on all arguments.
# Expected: hard_coded_cuda


def attention_on_device(q, k, v, mask=None):
    q, k, v = q.cuda(), k.cuda(), v.cuda()
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if mask is None:
        attn = scores.softmax(dim=-1)
    else:
        blocked = mask.cuda() == 0
        attn = scores.masked_fill(blocked, -math.inf).softmax(dim=-1).masked_fill(blocked, 0.0)
    return torch.matmul(attn, v), attn


# %% device_if_available
# device = "cuda" if available, then .to(device) for all.
# Expected: moves_to_the_best_device


def attention_on_device(q, k, v, mask=None):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    q, k, v = q.to(device), k.to(device), v.to(device)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is None:
        w = F.softmax(scores, dim=-1)
    else:
        off = mask.to(device) == 0
        w = F.softmax(scores.masked_fill(off, float("-inf")), dim=-1).masked_fill(off, 0)
    return w @ v, w


# %% mask_stays_where_it_is
# The mask is used where it lies.
# Expected: mask_left_on_the_cpu


def attention_on_device(q, k, v, mask=None):
    d_k = q.size(-1)
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    p = torch.softmax(scores, dim=-1)
    if mask is not None:
        p = p.masked_fill(mask == 0, 0.0)
    return torch.matmul(p, v), p


# %% mask_of_ones
# Without a mask, torch.ones(n_q, n_k) is made: on the CPU.
# Expected: mask_made_on_the_cpu


def attention_on_device(q, k, v, mask=None):
    if mask is None:
        mask = torch.ones(q.size(-2), k.size(-2))
    else:
        mask = mask.to(q.device, non_blocking=True)
    scores = q @ k.mT / math.sqrt(q.size(-1))
    w = torch.softmax(scores.masked_fill(mask == 0, -math.inf), -1).masked_fill(mask == 0, 0.0)
    return w @ v, w


# %% blog_minus_1e9
# -1e9 for blocked scores, mask.to(q.device).
# Expected: fills_minus_1e9


def attention_on_device(q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, -1e9)
    p_attn = scores.softmax(dim=-1)
    return torch.matmul(p_attn, v), p_attn


# %% finfo_min
# torch.finfo(scores.dtype).min for blocked scores.
# Expected: fills_finite_minimum


def attention_on_device(q, k, v, mask=None):
    sim = torch.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        mask = mask.to(device=q.device, dtype=torch.bool)
        sim = sim.masked_fill(~mask, -torch.finfo(sim.dtype).max)
    attn = sim.softmax(dim=-1)
    return torch.einsum("...ij,...jd->...id", attn, v), attn


# %% tilde_mask
# masked_fill(~mask, -inf): bool masks only.
# Expected: mask_must_be_bool


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        mask = mask.to(q.device, non_blocking=True)
        weights = torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1).masked_fill(~mask, 0.0)
    return weights @ v, weights


# %% scale_as_a_tensor
# torch.tensor([d_k]).sqrt(): a tensor with an axis, on the CPU.
# Expected: scale_made_on_the_cpu


def attention_on_device(q, k, v, mask=None):
    scale = torch.sqrt(torch.tensor([q.shape[-1]], dtype=q.dtype))
    scores = torch.matmul(q, k.transpose(-1, -2)) / scale
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% if_nan
# if weights.isnan().any(): the CPU waits for an answer.
# Expected: largest_score_read


def attention_on_device(q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
    if mask is not None:
        blocked = mask.to(q.device) == 0
        nothing = blocked.all(-1, keepdim=True)
        scores = scores.masked_fill(blocked, -math.inf).masked_fill(nothing, 0.0)
        weights = torch.softmax(scores, dim=-1).masked_fill(blocked, 0.0)
    else:
        weights = torch.softmax(scores, dim=-1)
    if torch.isnan(weights).any():
        weights = torch.nan_to_num(weights)
    return weights @ v, weights


# %% mask_to_attn_mask
# attn_mask=mask, whatever it holds; with is_causal, a triangle is multiplied into it.
# Expected: mask_passed_as_it_is


def fused_attention(q, k, v, mask=None, is_causal=False):
    ndim = q.dim()
    while q.dim() < 4:
        q, k, v = q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0)
    if mask is None:
        out = F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
    else:
        mask = mask.to(q.device)
        if is_causal:
            mask = mask * torch.tril(torch.ones(q.size(-2), k.size(-2), device=q.device)).to(mask.dtype)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    while out.dim() > ndim:
        out = out.squeeze(0)
    return out


# %% finfo_min_in_half
# A bool mask by mask.bool(), and the smallest number for blocked scores.
# Expected: least_number_of_float16


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    q16 = (q / q.size(-1) ** 0.5).to(dtype)
    sim = torch.einsum("...id,...jd->...ij", q16, k.to(dtype)).to(torch.float32)
    if mask is not None:
        sim = sim.masked_fill(~mask.to(q.device).bool(), torch.finfo(sim.dtype).min)
    attn = sim.softmax(dim=-1)
    out = torch.einsum("...ij,...jd->...id", attn.to(dtype), v.to(dtype))
    return out.to(q.dtype), attn.to(q.dtype)


# %% half_after_the_product
# (q @ k^T) in 16 bits, divided afterwards.
# Expected: scaled_after_the_product


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    ql, kl, vl = q.to(dtype), k.to(dtype), v.to(dtype)
    scores = (ql @ kl.transpose(-2, -1)).float() / math.sqrt(q.size(-1))
    if mask is None:
        w = scores.softmax(-1)
    else:
        blocked = mask.to(q.device) == 0
        w = scores.masked_fill(blocked, -math.inf).softmax(-1).masked_fill(blocked, 0.0)
    return (w.to(dtype) @ vl).to(q.dtype), w.to(q.dtype)


# %% half_method
# .half() whatever dtype says.
# Expected: always_float16


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    scores = ((q / math.sqrt(q.size(-1))).half() @ k.half().transpose(-2, -1)).float()
    if mask is None:
        w = scores.softmax(-1)
    else:
        blocked = mask.to(q.device) == 0
        w = scores.masked_fill(blocked, -math.inf).softmax(-1).masked_fill(blocked, 0.0)
    return (w.half() @ v.half()).to(q.dtype), w.to(q.dtype)


# %% half_not_back
# The results stay in 16 bits.
# Expected: output_left_in_half


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    q, k, v = (q * q.size(-1) ** -0.5).to(dtype), k.to(dtype), v.to(dtype)
    scores = torch.matmul(q, k.transpose(-2, -1)).float()
    if mask is None:
        w = torch.softmax(scores, -1)
    else:
        blocked = mask.to(q.device) == 0
        w = torch.softmax(scores.masked_fill(blocked, -math.inf), -1).masked_fill(blocked, 0.0)
    w = w.to(dtype)
    return torch.matmul(w, v), w


# %% loop_over_dict
# {k: v.to(device)} for the upper level, as in every training loop.
# Expected: only_the_upper_level


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {k: v.to(device, non_blocking=True) if torch.is_tensor(v) else v for k, v in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)(x.to(device, non_blocking=True) if torch.is_tensor(x) else x for x in batch)
    return batch


# %% blocking_copies
# A right recursion without non_blocking=True.
# Expected: copies_block


def move_batch(batch, device):
    if torch.is_tensor(batch):
        return batch.to(device)
    if isinstance(batch, dict):
        return {k: move_batch(v, device) for k, v in batch.items()}
    if isinstance(batch, list):
        return [move_batch(x, device) for x in batch]
    if isinstance(batch, tuple):
        return tuple(move_batch(x, device) for x in batch)
    return batch


# %% lists_for_tuples
# Lists and tuples in one branch, which makes a list.
# Expected: tuples_become_lists


def move_batch(batch, device):
    if hasattr(batch, "to"):
        return batch.to(device, non_blocking=True)
    elif isinstance(batch, dict):
        return {name: move_batch(one, device) for name, one in batch.items()}
    elif isinstance(batch, (list, tuple)):
        return [move_batch(one, device) for one in batch]
    else:
        return batch


# %% keys_assigned
# batch[k] = ...: the caller's own dict.
# Expected: moved_in_place


def move_batch(batch, device):
    if torch.is_tensor(batch):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        for k in batch:
            batch[k] = move_batch(batch[k], device)
        return batch
    if isinstance(batch, list):
        for i in range(len(batch)):
            batch[i] = move_batch(batch[i], device)
        return batch
    if isinstance(batch, tuple):
        return tuple(move_batch(x, device) for x in batch)
    return batch
