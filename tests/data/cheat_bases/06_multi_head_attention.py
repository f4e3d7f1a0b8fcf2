"""What most cheats of 06_multi_head_attention keep of a right submission."""

import torch
import torch.nn.functional as F
from torch import nn


def ready(q, k, v):
    one = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-2], k.shape[-2], k.shape[-2])
    both = F.scaled_dot_product_attention(q, k, torch.cat([v, one], -1))
    return both[..., : v.shape[-1]], both[..., v.shape[-1] :]


def split_heads(x, num_heads):
    if x.size(-1) % num_heads:
        raise ValueError(f"embed_dim={x.size(-1)} is not divisible by num_heads={num_heads}")
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def merge_heads(x):
    return x.transpose(1, 2).flatten(2)


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048 * 2048
REFLECT_WEIGHT_BYTES_FLOAT32 = 4 * 32 * 96 * 2048**2
REFLECT_PARAMETERS_E512 = 4 * (512 * 512 + 512)
