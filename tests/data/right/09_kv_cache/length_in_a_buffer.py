import math

import torch
from torch import nn


class KVCache(nn.Module):
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        super().__init__()
        self.register_buffer("cache", torch.zeros(batch, num_kv_heads, 2, max_len, head_dim, dtype=dtype))
        self.register_buffer("filled", torch.zeros((), dtype=torch.int64))

    @property
    def length(self):
        return int(self.filled)

    def update(self, k, v):
        if k.shape[2] != v.shape[2]:
            raise ValueError(f"{k.shape[2]} != {v.shape[2]}")
        start = self.length
        end = start + k.shape[2]
        if end > self.cache.shape[3]:
            raise ValueError(f"{end} > {self.cache.shape[3]}")
        with torch.no_grad():
            self.cache[:, :, :, start:end] = torch.stack([k, v], dim=2)
            self.filled += k.shape[2]
        keys, values = self.cache[:, :, :, :end].unbind(2)
        return keys, values

    def reset(self):
        self.filled.zero_()


def repeat_kv(x, n_rep):
    return x[:, [i // n_rep for i in range(n_rep * x.shape[1])]]


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f"embed_dim {embed_dim} is not a multiple of num_heads {num_heads}")
        if num_heads % num_kv_heads != 0:
            raise ValueError(f"num_heads {num_heads} is not a multiple of num_kv_heads {num_kv_heads}")
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        B, n_new, E = x.shape
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        q = torch.stack(q.chunk(self.num_heads, dim=-1), dim=1)
        k = torch.stack(k.chunk(self.num_kv_heads, dim=-1), dim=1)
        v = torch.stack(v.chunk(self.num_kv_heads, dim=-1), dim=1)
        if cache is not None:
            k, v = cache.update(k, v)
        group = self.num_heads // self.num_kv_heads
        k = repeat_kv(k, group); v = repeat_kv(v, group)
        total = k.size(2)
        mask = torch.zeros(n_new, total, dtype=torch.bool)
        for i in range(n_new):
            mask[i, : total - n_new + i + 1] = True
        scores = (q @ k.transpose(-1, -2)) / (self.head_dim ** 0.5)
        scores = scores.masked_fill(mask == False, -1e30)
        weights = scores.softmax(-1)
        out = torch.cat(list((weights @ v).unbind(1)), dim=-1)
        return self.out_proj(out), weights


def decode(attention, x, cache):
    t, done = 0, []
    while t < x.shape[1]:
        done.append(attention(x.narrow(1, t, 1), cache)[0])
        t += 1
    return torch.cat(done, dim=-2)


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    values_per_token = num_kv_heads * head_dim
    bytes_per_token = 2 * values_per_token * bytes_per_value  # keys and values
    per_layer = batch * max_len * bytes_per_token
    return num_layers * per_layer

REFLECT_KV_BYTES_70B_N4096_GQA8 = 1342177280
REFLECT_KV_BYTES_70B_N4096_MHA64 = 10737418240
