import math

import torch
import torch.nn.functional as F
from torch.utils._pytree import tree_map

MINUS_INFINITY = float("-inf")


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError:
        raise ValueError(f"there is no device called {prefer!r}") from None
    # the devices of this machine, by their full names
    here = ["cpu"]
    if torch.cuda.is_available():
        here += ["cuda", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))]
    if torch.backends.mps.is_available():
        here += ["mps", "mps:0"]
    return device if str(device) in here else torch.device("cpu")


def attention_on_device(q, k, v, mask=None):
    scores = torch.matmul(q, k.swapdims(-1, -2)) / q.shape[-1] ** 0.5
    if mask is not None:
        mask = mask.to(q.device).eq(0)
        scores = scores.masked_fill(mask, MINUS_INFINITY)
    weights = F.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights.masked_fill(mask, 0)
    return torch.matmul(weights, v), weights


def fused_attention(q, k, v, mask=None, is_causal=False):
    dims = q.dim()
    shape = q.shape[:-1] + v.shape[-1:]
    if mask is not None:
        mask = mask.to(q.device).ne(0).expand(q.shape[:-1] + k.shape[-2:-1])
        if is_causal:
            mask = mask & mask.new_ones(mask.shape[-2:]).tril()
        lost = mask.any(dim=-1, keepdim=True).logical_not()
        mask = mask | lost
    if dims < 4:
        q, k, v = tree_map(lambda x: x.view(*[1] * (4 - dims), *x.shape) if x.is_contiguous() else x[(None,) * (4 - dims)], (q, k, v))
    elif dims > 4:
        q, k, v = tree_map(lambda x: x.flatten(0, -4), (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal).reshape(shape)
    full = mask.reshape(q.shape[:-1] + k.shape[-2:-1])
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=full).reshape(shape)
    return output.masked_fill(lost, 0)


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    out_dtype = q.dtype
    q, k, v = tree_map(lambda x: x.to(dtype), (q / math.sqrt(q.shape[-1]), k, v))
    scores = torch.matmul(q, k.swapdims(-1, -2))
    if mask is not None:
        mask = mask.to(q.device).eq(0)
        scores = scores.masked_fill(mask, MINUS_INFINITY)
    # the sum is computed in float32
    weights = F.softmax(scores, dim=-1, dtype=torch.float32)
    if mask is not None:
        weights = weights.masked_fill(mask, 0)
    return torch.matmul(weights.to(dtype), v).to(out_dtype), weights.to(out_dtype)


def move_batch(batch, device):
    return tree_map(lambda x: x.to(device, non_blocking=True) if isinstance(x, torch.Tensor) else x, batch)


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2
