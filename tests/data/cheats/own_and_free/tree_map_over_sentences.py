# module: 07_gpu_path
# attention_on_device loops over the first axis: tree_map of torch.utils._pytree calls a function of torch for each
# sentence (or query), and neither its loop nor the calls are steps.

import functools
import torch.utils._pytree as pytree
import math
import torch
import torch.nn.functional as F

def pick_device(prefer='cuda'):
    try:
        device = torch.device(prefer)
    except RuntimeError as error:
        raise ValueError(f'{prefer!r} is not a device name') from error
    counts = {'cpu': 1, 'cuda': torch.cuda.device_count(), 'mps': int(torch.backends.mps.is_available())}
    return device if (device.index or 0) < counts.get(device.type, 0) else torch.device('cpu')

def attention_on_device(q, k, v, mask=None):
    queries = q.unsqueeze(-1).unbind(-3)
    rows = pytree.tree_map(functools.partial(torch.matmul, k / math.sqrt(q.shape[-1])), queries)
    scores = torch.stack(rows, dim=-3).squeeze(-1)
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    rows = pytree.tree_map(functools.partial(torch.matmul, v.transpose(-1, -2)), weights.unsqueeze(-1).unbind(-3))
    return (torch.stack(rows, dim=-3).squeeze(-1), weights)

def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        output = F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)
    else:
        n_q, n_k = (q.shape[-2], k.shape[-2])
        allowed = mask.to(q.device, non_blocking=True) != 0
        allowed = torch.atleast_2d(allowed)
        allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
        if is_causal:
            allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
        nothing = ~allowed.any(dim=-1, keepdim=True)
        output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing).masked_fill(nothing, 0.0)
    return output[(0,) * missing]

def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = low @ k.to(dtype).transpose(-1, -2)
    scores = scores.float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return (output.to(q.dtype), weights.to(q.dtype))

def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, list):
        return [move_batch(value, device) for value in batch]
    if isinstance(batch, tuple):
        moved = [move_batch(value, device) for value in batch]
        return type(batch)(*moved) if hasattr(batch, '_fields') else tuple(moved)
    return batch
REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = None
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = None
REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2
