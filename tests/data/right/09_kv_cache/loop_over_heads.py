import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        shape = (batch, num_kv_heads, max_len, head_dim)
        self.max_len = max_len
        self.store = {"k": torch.zeros(shape, dtype=dtype), "v": torch.zeros(shape, dtype=dtype)}
        self._n = 0

    @property
    def length(self):
        return self._n

    def update(self, k, v):
        new = k.shape[2]
        if v.shape[2] != new:
            raise ValueError("got %d keys but %d values" % (new, v.shape[2]))
        if self._n + new > self.max_len:
            raise ValueError("cache is full: need %d, max_len is %d" % (self._n + new, self.max_len))
        for t in range(new):
            self.store["k"][:, :, self._n + t] = k[:, :, t]
            self.store["v"][:, :, self._n + t] = v[:, :, t]
        self._n += new
        return tuple(self.store[name][:, :, : self._n] for name in "kv")

    def reset(self):
        self._n = 0


def repeat_kv(x, n_rep):
    heads = []
    for h in range(x.shape[1]):
        for _ in range(n_rep):
            heads.append(x[:, h])
    return torch.stack(heads, dim=1)


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f"embed_dim={embed_dim} is not divisible by num_heads={num_heads}")
        if num_heads % num_kv_heads != 0:
            raise ValueError(f"num_heads={num_heads} is not divisible by num_kv_heads={num_kv_heads}")
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.head_dim = embed_dim // num_heads
        kv_dim = num_kv_heads * self.head_dim
        self.q_proj, self.out_proj = nn.Linear(embed_dim, embed_dim), nn.Linear(embed_dim, embed_dim)
        self.k_proj, self.v_proj = nn.Linear(embed_dim, kv_dim), nn.Linear(embed_dim, kv_dim)

    def cut(self, x, heads):
        return torch.stack(x.chunk(heads, dim=-1), dim=1)

    def forward(self, x, cache=None):
        k = self.cut(self.k_proj(x), self.num_kv_heads)
        v = self.cut(self.v_proj(x), self.num_kv_heads)
        past = 0
        if cache is not None:
            past = cache.length
            k, v = cache.update(k, v)
        n, total = x.shape[1], k.shape[2]
        mask = torch.full((n, total), -math.inf, dtype=x.dtype, device=x.device).triu(past + 1)
        q = self.q_proj(x) / math.sqrt(self.head_dim)
        outs, all_weights = [], []
        for h, q_h in enumerate(q.split(self.head_dim, dim=-1)):
            shared = h // (self.num_heads // self.num_kv_heads)
            w = F.softmax(q_h @ k[:, shared].mT + mask, dim=-1)
            outs.append(w @ v[:, shared])
            all_weights.append(w)
        return self.out_proj(torch.cat(outs, dim=-1)), torch.stack(all_weights, dim=1)


def decode(attention, x, cache):
    result = torch.empty_like(x)
    with torch.no_grad():
        for t in range(x.size(1)):
            result[:, t : t + 1], _ = attention(x[:, t : t + 1], cache)
    return result


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    return math.prod((2, batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value))


REFLECT_KV_BYTES_70B_N4096_GQA8 = 2 * 80 * 8 * 4096 * 128 * 2
REFLECT_KV_BYTES_70B_N4096_MHA64 = 8 * REFLECT_KV_BYTES_70B_N4096_GQA8
