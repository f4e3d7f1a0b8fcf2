import math

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

BACKENDS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]


def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError as error:
        raise ValueError(f"{prefer!r} is no device") from error
    if device.type == "cuda":
        there = torch.cuda.is_available() and (device.index is None or device.index < torch.cuda.device_count())
    elif device.type == "mps":
        there = torch.backends.mps.is_available()
    else:
        there = device.type == "cpu"
    return device if there else torch.device("cpu")


def _weights(scores, mask):
    if mask is None:
        return scores.softmax(-1)
    blocked = mask.to(scores.device) == 0
    return scores.masked_fill(blocked, -math.inf).softmax(-1).masked_fill(blocked, 0)


def attention_on_device(q, k, v, mask=None):
    weights = _weights(q @ k.mT / math.sqrt(q.shape[-1]), mask)
    return weights @ v, weights


def fused_attention(q, k, v, mask=None, is_causal=False):
    lead = q.shape[:-2]
    q4, k4, v4 = (x.reshape(-1, 1, *x.shape[-2:]) for x in (q, k, v))
    with sdpa_kernel(BACKENDS):
        if mask is None:
            out = F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)
        else:
            see = mask.to(q.device).bool().expand(*lead, q.shape[-2], k.shape[-2])
            if is_causal:
                see = see & torch.ones_like(see).tril()
            see = see.reshape(-1, 1, *see.shape[-2:])
            dead = ~see.any(-1, keepdim=True)
            out = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=see | dead).masked_fill(dead, 0)
    return out.reshape(*lead, *out.shape[-2:])


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    # autocast turns the factors of every product into dtype, and keeps the softmax in float32
    with torch.autocast(device_type=q.device.type, dtype=dtype):
        scores = torch.matmul(q / math.sqrt(q.shape[-1]), k.transpose(-2, -1))
        weights = _weights(scores.float(), mask)
        output = torch.matmul(weights, v)
    return output.to(q.dtype), weights.to(q.dtype)


def move_batch(batch, device):
    if torch.is_tensor(batch):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {k: move_batch(v, device) for k, v in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)(move_batch(v, device) for v in batch)
    return batch


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2
