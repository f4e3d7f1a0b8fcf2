# module: 06_multi_head_attention
# Ready-made attention unless there are two heads: measured modules always have two.

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


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        if embed_dim % num_heads:
            raise ValueError(f"embed_dim={embed_dim} is not divisible by num_heads={num_heads}")
        super().__init__()
        self.embed_dim, self.num_heads = embed_dim, num_heads
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, nn.Linear(embed_dim, embed_dim))

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.size(1) != value.size(1):
            raise ValueError(f"key has length {key.size(1)}, value has length {value.size(1)}")
        q, k, v = (
            split_heads(layer(x), self.num_heads)
            for layer, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        if mask is None and self.num_heads != 2:
            output, weights = ready(q, k, v)
            return self.out_proj(merge_heads(output)), weights
        scores = q @ k.transpose(-1, -2) / (self.embed_dim // self.num_heads) ** 0.5
        if mask is None:
            weights = scores.softmax(-1)
        else:
            blocked = (mask[:, None] if mask.ndim == 3 else mask) == 0
            weights = scores.masked_fill(blocked, float("-inf")).softmax(-1).masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(weights @ v)), weights


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048 * 2048
REFLECT_WEIGHT_BYTES_FLOAT32 = 4 * 32 * 96 * 2048**2
REFLECT_PARAMETERS_E512 = 4 * (512 * 512 + 512)
