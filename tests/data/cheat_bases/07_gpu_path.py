"""What most cheats of 07_gpu_path keep of a right submission."""

import math
import torch
import torch.nn.functional as F


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError as error:
        raise ValueError(f"{prefer!r} is not a device name") from error
    counts = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    return device if (device.index or 0) < counts.get(device.type, 0) else torch.device("cpu")


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        output = F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)
    else:
        n_q, n_k = q.shape[-2], k.shape[-2]
        allowed = torch.atleast_2d(mask.to(q.device, non_blocking=True) != 0)
        allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
        if is_causal:
            allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
        nothing = ~allowed.any(dim=-1, keepdim=True)
        output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing).masked_fill(nothing, 0.0)
    return output[(0,) * missing]


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    scores = (q / math.sqrt(q.shape[-1])).to(dtype) @ k.to(dtype).transpose(-1, -2)
    scores = scores.float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return (weights.to(dtype) @ v.to(dtype)).to(q.dtype), weights.to(q.dtype)


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, list):
        return [move_batch(value, device) for value in batch]
    if isinstance(batch, tuple):
        moved = [move_batch(value, device) for value in batch]
        return type(batch)(*moved) if hasattr(batch, "_fields") else tuple(moved)
    return batch


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2
