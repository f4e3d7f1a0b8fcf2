import math

import torch
from torch import nn


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.batch, self.heads = batch, num_kv_heads
        self.flat_k = torch.zeros(batch * num_kv_heads, max_len, head_dim, dtype=dtype)
        self.flat_v = torch.zeros(batch * num_kv_heads, max_len, head_dim, dtype=dtype)
        self.length = 0

    def update(self, k, v):
        if k.shape[2] != v.shape[2]:
            raise ValueError(f"{k.shape[2]} tokens in k, {v.shape[2]} in v")
        total = self.length + k.shape[2]
        if total > self.flat_k.shape[1]:
            raise ValueError(f"{total} tokens in a cache of {self.flat_k.shape[1]}")
        with torch.no_grad():
            self.flat_k[:, self.length:total] = k.flatten(0, 1)
            self.flat_v[:, self.length:total] = v.flatten(0, 1)
        self.length = total
        return (self.flat_k.unflatten(0, (self.batch, self.heads))[:, :, :total],
                self.flat_v.unflatten(0, (self.batch, self.heads))[:, :, :total])

    def reset(self):
        self.length = 0


def repeat_kv(x, n_rep):
    if n_rep == 1:
        return x
    less = repeat_kv(x, n_rep - 1).unflatten(1, (x.shape[1], n_rep - 1))
    return torch.cat([less, x.unsqueeze(2)], dim=2).flatten(1, 2)


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim != num_heads * (embed_dim // num_heads):
            raise ValueError("cannot cut %s features into %s heads" % (embed_dim, num_heads))
        if num_heads != num_kv_heads * (num_heads // num_kv_heads):
            raise ValueError("%s heads cannot share %s" % (num_heads, num_kv_heads))
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        batch, new, _ = x.shape
        rep = self.num_heads // self.num_kv_heads
        q = self.q_proj(x).view(batch, new, self.num_kv_heads, rep, self.head_dim).permute(0, 2, 3, 1, 4)
        k = self.k_proj(x).view(batch, new, self.num_kv_heads, self.head_dim).transpose(1, 2)
        v = self.v_proj(x).view(batch, new, self.num_kv_heads, self.head_dim).transpose(1, 2)
        if cache is not None:
            k, v = cache.update(k, v)
        scores = (q / math.sqrt(self.head_dim)) @ k[:, :, None].transpose(-1, -2)   # (B, H_kv, rep, new, total)
        total = scores.shape[-1]
        visible = torch.tril(torch.ones(new, total, dtype=torch.bool), total - new)
        scores = scores.masked_fill(visible.logical_not(), -torch.inf)
        weights = nn.functional.softmax(scores, dim=-1)
        merged = (weights @ v[:, :, None]).permute(0, 3, 1, 2, 4).flatten(2)
        return self.out_proj(merged), weights.flatten(1, 2)


def decode(attention, x, cache):
    first = lambda token: attention(token, cache)[0]
    return torch.cat(list(map(first, x.chunk(x.shape[1], dim=1))), dim=1)


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    shape = (batch, num_kv_heads, max_len, head_dim)
    return num_layers * (math.prod(shape) << 1) * bytes_per_value

REFLECT_KV_BYTES_70B_N4096_GQA8 = 2 * 80 * 8 * 128 * 4096 * 2
REFLECT_KV_BYTES_70B_N4096_MHA64 = 8 * REFLECT_KV_BYTES_70B_N4096_GQA8
# 1.25 GiB and 10 GiB
