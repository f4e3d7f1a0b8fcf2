"""No recursion in move_batch but a tree map of its own; baddbmm for the scores."""

import math

import torch
import torch.nn.functional as F


def pick_device(prefer="cuda"):
    if not isinstance(prefer, torch.device):
        known = ("cpu", "cuda", "mps", "xpu", "meta", "hip", "ipu")
        kind, colon, number = prefer.partition(":")
        if kind not in known or (colon and not number.isdigit()):
            raise ValueError(f"{prefer!r}: the devices are {', '.join(known)}")
        prefer = torch.device(prefer)
    if prefer.type == "cuda" and torch.cuda.is_available() and (prefer.index or 0) < torch.cuda.device_count():
        return prefer
    if prefer.type == "mps" and torch.backends.mps.is_available():
        return prefer
    return torch.device("cpu")


def attention_on_device(q, k, v, mask=None):
    *lead, n_q, d = q.shape
    n_k, d_v = v.shape[-2:]
    q3, k3, v3 = q.reshape(-1, n_q, d), k.reshape(-1, n_k, d), v.reshape(-1, n_k, d_v)
    if mask is None:
        weights = torch.softmax(torch.bmm(q3, k3.transpose(1, 2)) / math.sqrt(d), dim=2)
    else:
        allowed = mask.to(q.device).bool().expand(*lead, n_q, n_k).reshape(-1, n_q, n_k)
        scores = torch.bmm(q3 / math.sqrt(d), k3.transpose(1, 2))
        scores[~allowed] = -math.inf
        weights = torch.softmax(scores, dim=2).masked_fill(~allowed, 0)
    return torch.bmm(weights, v3).reshape(*lead, n_q, d_v), weights.reshape(*lead, n_q, n_k)


def fused_attention(q, k, v, mask=None, is_causal=False):
    if q.dim() < 4:
        one = None if mask is None else mask
        return fused_attention(q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0), one, is_causal).squeeze(0)
    if mask is None:
        return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
    mask = mask.to(q.device) != 0
    if mask.dim() == 1:
        mask = mask.unsqueeze(0)
    if is_causal:
        mask = mask & (torch.ones_like(q[..., :1] @ k[..., :1].mT).tril() != 0)
    blocked = ~mask.any(-1, keepdim=True)
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=torch.logical_or(mask, blocked))
    return output.masked_fill(blocked, 0)


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    root = math.sqrt(math.sqrt(q.shape[-1]))
    scores = torch.matmul((q / root).to(dtype), (k / root).to(dtype).mT).to(torch.float32)
    if mask is not None:
        mask = mask.to(q.device) != 0
        scores = torch.where(mask, scores, torch.tensor(-1e30, device=q.device))
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights * mask
    return torch.matmul(weights.to(dtype), v.to(dtype)).to(q.dtype), weights.to(q.dtype)


def move_batch(batch, device):
    box = [batch]
    jobs = [(box, 0)]
    after = []
    while jobs:
        holder, key = jobs.pop()
        value = holder[key]
        if isinstance(value, torch.Tensor):
            holder[key] = value.to(device, non_blocking=True)
        elif isinstance(value, dict):
            holder[key] = dict(value)
            jobs += [(holder[key], name) for name in value]
        elif isinstance(value, (list, tuple)):
            holder[key] = list(value)
            jobs += [(holder[key], i) for i in range(len(value))]
            if isinstance(value, tuple):
                after.append((holder, key))
    for holder, key in reversed(after):
        holder[key] = tuple(holder[key])
    return box[0]


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2

