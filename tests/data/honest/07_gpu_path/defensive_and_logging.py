import logging
import math

import torch
import torch.nn.functional as F

logger = logging.getLogger(__name__)

_HALF = frozenset({torch.bfloat16, torch.float16})


def pick_device(prefer="cuda"):
    if not isinstance(prefer, (str, torch.device)):
        raise TypeError(f"expected a name or a torch.device, got {type(prefer).__name__}")
    try:
        device = torch.device(prefer)
    except RuntimeError as error:
        logger.debug("torch says: %s", error)
        raise ValueError(f"{prefer!r} is not a device name; try 'cuda', 'mps' or 'cpu'") from error
    present = False
    if device.type == "cpu":
        present = True
    elif device.type == "cuda":
        present = torch.cuda.is_available()
        if present and device.index is not None:
            present = device.index < torch.cuda.device_count()
    elif device.type == "mps":
        present = hasattr(torch.backends, "mps") and torch.backends.mps.is_available()
    if not present:
        logger.warning("%s is not available, using the CPU", device)
        return torch.device("cpu")
    return device


def _check(q, k, v, mask):
    for name, x in zip("qkv", (q, k, v), strict=True):
        if not torch.is_tensor(x):
            raise TypeError(f"{name} should be a tensor, got {type(x).__name__}")
        if x.ndim < 2:
            raise ValueError(f"{name} should have two dimensions at least, got {x.ndim}")
        if x.device != q.device:
            raise ValueError(f"{name} is on {x.device}, q is on {q.device}")
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"q is {q.shape[-1]} wide, k is {k.shape[-1]} wide")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"{k.shape[-2]} keys, {v.shape[-2]} values")
    if mask is not None and not torch.is_tensor(mask):
        raise TypeError(f"mask should be None or a tensor, got {type(mask).__name__}")


def _read(mask, q):
    """Return where the mask blocks, on the device of q."""
    return None if mask is None else mask.to(q.device, non_blocking=True).logical_not()


def _softmax(scores, blocked):
    if blocked is None:
        return scores.softmax(dim=-1)
    return scores.masked_fill(blocked, -torch.inf).softmax(dim=-1).masked_fill(blocked, 0)


def attention_on_device(q, k, v, mask=None):
    _check(q, k, v, mask)
    weights = _softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), _read(mask, q))
    output = weights @ v
    assert output.dtype == weights.dtype == q.dtype
    return output, weights


def fused_attention(q, k, v, mask=None, is_causal=False):
    _check(q, k, v, mask)
    if not 2 <= q.ndim <= 5:
        raise ValueError(f"expected two to five dimensions, got {q.ndim}")
    lead = tuple(q.shape[:-2])
    flat = [x.reshape((-1, 1) + tuple(x.shape[-2:])) for x in (q, k, v)]
    blocked = _read(mask, q)
    if blocked is None:
        output = F.scaled_dot_product_attention(*flat, is_causal=bool(is_causal))
    else:
        n_q, n_k = q.shape[-2], k.shape[-2]
        if is_causal:
            future = torch.triu(torch.ones(n_q, n_k, dtype=torch.bool, device=q.device), diagonal=1)
            blocked = blocked | future
        blocked = blocked.expand(lead + (n_q, n_k)).reshape(-1, 1, n_q, n_k)
        dead = blocked.all(dim=-1, keepdim=True)
        output = F.scaled_dot_product_attention(*flat, attn_mask=~blocked | dead).masked_fill(dead, 0)
    return output.reshape(lead + tuple(output.shape[-2:]))


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    _check(q, k, v, mask)
    if dtype not in _HALF:
        raise ValueError(f"dtype should be one of {sorted(map(str, _HALF))}, got {dtype}")
    q16 = (q / math.sqrt(q.shape[-1])).to(dtype)
    k16, v16 = k.to(dtype), v.to(dtype)
    weights = _softmax((q16 @ k16.transpose(-1, -2)).float(), _read(mask, q)).to(dtype)
    output = weights @ v16
    assert output.dtype == dtype
    return output.to(q.dtype), weights.to(q.dtype)


def move_batch(batch, device):
    device = torch.device(device)
    if isinstance(batch, torch.Tensor):
        moved = batch.to(device, non_blocking=True)
        assert moved.shape == batch.shape and moved.dtype == batch.dtype
        return moved
    if isinstance(batch, dict):
        return type(batch)((key, move_batch(value, device)) for key, value in batch.items())
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):  # a named tuple takes its fields one by one
        return type(batch)(*(move_batch(value, device) for value in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(move_batch(value, device) for value in batch)
    return batch


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2
