import math

import torch
from torch import nn


def check_same_length(k, v):
    if k.shape[2] != v.shape[2]:
        raise ValueError(f"number of keys: {k.shape[2]}, number of values: {v.shape[2]}")


def check_room(needed, room):
    if needed > room:
        raise ValueError(f"{needed} tokens do not fit, the cache has {room} slots")


def check_divides(a, b):
    if a % b != 0:
        raise ValueError(f"{b} does not divide {a}")


def to_heads(x, n):
    b, t, e = x.shape
    return x.reshape(b, t, n, e // n).permute(0, 2, 1, 3)


def from_heads(x):
    b, h, t, d = x.shape
    return x.permute(0, 2, 1, 3).reshape(b, t, h * d)


def softmax(x):
    x = x - x.max(dim=-1, keepdim=True).values
    e = torch.exp(x)
    return e / e.sum(dim=-1, keepdim=True)


def is_future(n_new, n_before):
    i = torch.arange(n_new).reshape(-1, 1) + n_before
    j = torch.arange(n_before + n_new).reshape(1, -1)
    return j > i


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.room = max_len
        self.count = 0
        self.data = [torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype) for _ in ("keys", "values")]

    @property
    def length(self):
        return self.count

    @length.setter
    def length(self, value):
        self.count = value

    def update(self, k, v):
        check_same_length(k, v)
        start, end = self.count, self.count + k.shape[2]
        check_room(end, self.room)
        keys, values = self.data
        keys[:, :, start:end] = k
        values[:, :, start:end] = v
        self.length = end
        return keys[:, :, :end], values[:, :, :end]

    def reset(self):
        self.length = 0


def repeat_kv(x, n_rep):
    out = torch.empty(x.shape[0], x.shape[1] * n_rep, x.shape[2], x.shape[3], dtype=x.dtype)
    for r in range(n_rep):
        out[:, r::n_rep] = x
    return out


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        check_divides(embed_dim, num_heads)
        check_divides(num_heads, num_kv_heads)
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, self.head_dim * num_kv_heads)
        self.v_proj = nn.Linear(embed_dim, self.head_dim * num_kv_heads)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        q = to_heads(self.q_proj(x), self.num_heads)
        k = to_heads(self.k_proj(x), self.num_kv_heads)
        v = to_heads(self.v_proj(x), self.num_kv_heads)
        n_before = cache.length if cache is not None else 0
        if cache is not None:
            k, v = cache.update(k, v)
        k, v = repeat_kv(k, self.num_heads // self.num_kv_heads), repeat_kv(v, self.num_heads // self.num_kv_heads)
        scores = q @ k.permute(0, 1, 3, 2) / math.sqrt(self.head_dim)
        scores[..., is_future(x.shape[1], n_before)] = -math.inf
        weights = softmax(scores)
        return self.out_proj(from_heads(weights @ v)), weights


def decode(attention, x, cache):
    n = x.shape[1]
    out = [None] * n
    for i in range(n):
        out[i] = attention(x[:, i : i + 1], cache)[0]
    return torch.concat(out, dim=1)


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value


REFLECT_KV_BYTES_70B_N4096_GQA8 = 1342177280
REFLECT_KV_BYTES_70B_N4096_MHA64 = 10737418240
