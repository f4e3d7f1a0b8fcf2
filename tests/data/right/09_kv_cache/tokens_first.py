import math

import torch
from torch import nn


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        # tokens first: a new token is one contiguous row
        self.rows_k = torch.zeros(max_len, batch, num_kv_heads, head_dim, dtype=dtype)
        self.rows_v = torch.zeros(max_len, batch, num_kv_heads, head_dim, dtype=dtype)
        self.length = 0

    def update(self, k, v):
        k_rows, v_rows = k.permute(2, 0, 1, 3), v.permute(2, 0, 1, 3)
        if len(k_rows) != len(v_rows):
            raise ValueError(f"lengths {len(k_rows)} and {len(v_rows)}")
        n = self.length + len(k_rows)
        if n > len(self.rows_k):
            raise ValueError(f"length {n} is over max_len {len(self.rows_k)}")
        self.rows_k[self.length:n] = k_rows
        self.rows_v[self.length:n] = v_rows
        self.length = n
        return tuple(rows[:n].permute(1, 2, 0, 3) for rows in (self.rows_k, self.rows_v))

    def reset(self):
        self.length = 0


def repeat_kv(x, n_rep):
    if n_rep == 1:
        return x
    return x.unsqueeze(2).repeat(1, 1, n_rep, 1, 1).flatten(1, 2)


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
        weight = torch.cat([self.q_proj.weight, self.k_proj.weight, self.v_proj.weight])
        bias = torch.cat([self.q_proj.bias, self.k_proj.bias, self.v_proj.bias])
        sizes = [self.q_proj.out_features, self.k_proj.out_features, self.v_proj.out_features]
        parts = nn.functional.linear(x, weight, bias).split(sizes, dim=-1)
        q, k, v = (part.unflatten(2, (part.shape[2] // self.head_dim, self.head_dim)).transpose(1, 2) for part in parts)
        offset = cache.length if cache is not None else 0
        if cache is not None:
            k, v = cache.update(k, v)
        n_rep = self.num_heads // self.num_kv_heads
        scores = (q @ repeat_kv(k, n_rep).mT) / math.sqrt(self.head_dim)
        i = torch.arange(q.shape[2]).unsqueeze(1) + offset
        j = torch.arange(scores.shape[-1]).unsqueeze(0)
        scores = scores.masked_fill(j > i, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        y = weights @ repeat_kv(v, n_rep)
        return self.out_proj(y.transpose(1, 2).flatten(-2)), weights


def decode(attention, x, cache):
    out = torch.empty_like(x)
    for t in range(x.size(1)):
        out[:, t:t + 1] = attention(x[:, t:t + 1], cache)[0]
    return out


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    return math.prod([2, batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value])

REFLECT_KV_BYTES_70B_N4096_GQA8 = 1342177280
REFLECT_KV_BYTES_70B_N4096_MHA64 = 10737418240
