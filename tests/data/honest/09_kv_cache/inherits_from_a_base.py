import math
from abc import ABC, abstractmethod

import torch
from torch import nn


class BaseCache(ABC):
    @abstractmethod
    def update(self, k, v): ...

    @abstractmethod
    def reset(self): ...

    @property
    @abstractmethod
    def length(self): ...


class KVCache(BaseCache):
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        super().__init__()
        size = [batch, num_kv_heads, max_len, head_dim]
        self._k, self._v = torch.zeros(*size, dtype=dtype), torch.zeros(*size, dtype=dtype)
        self._filled = 0

    @property
    def length(self):
        return self._filled

    @property
    def max_len(self):
        return self._k.size(2)

    def update(self, k, v):
        new_k, new_v = k.size(2), v.size(2)
        if new_k != new_v:
            raise ValueError(f"lengths differ: k {new_k}, v {new_v}")
        if self.length + new_k > self.max_len:
            raise ValueError(f"{self.length + new_k} > max_len ({self.max_len})")
        self._k[:, :, self.length :][:, :, :new_k] = k
        self._v[:, :, self.length :][:, :, :new_v] = v
        self._filled += new_k
        return self.keys, self.values

    @property
    def keys(self):
        return self._k[:, :, : self._filled]

    @property
    def values(self):
        return self._v[:, :, : self._filled]

    def reset(self):
        self._filled = 0


def repeat_kv(x, n_rep):
    return x.repeat_interleave(n_rep, 1)


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f"{embed_dim=} must be divisible by {num_heads=}")
        if num_heads % num_kv_heads != 0:
            raise ValueError(f"{num_heads=} must be divisible by {num_kv_heads=}")
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.head_dim = embed_dim // num_heads
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.register_buffer("scale", torch.tensor(1 / math.sqrt(self.head_dim)), persistent=False)

    def _attend(self, q, k, v, offset):
        scores = torch.einsum("bhid,bhjd->bhij", q, k) * self.scale
        ok = torch.ones_like(scores[0, 0], dtype=torch.bool).tril(offset)
        weights = torch.masked_fill(scores, ok.logical_not(), -torch.inf).softmax(-1)
        return torch.einsum("bhij,bhjd->bihd", weights, v).flatten(-2), weights

    def forward(self, x, cache=None):
        q = self.q_proj(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        k = self.k_proj(x).unflatten(-1, (self.num_kv_heads, -1)).transpose(1, 2)
        v = self.v_proj(x).unflatten(-1, (self.num_kv_heads, -1)).transpose(1, 2)
        offset = 0
        if cache is not None:
            offset = cache.length
            k, v = cache.update(k, v)
        rep = self.num_heads // self.num_kv_heads
        merged, weights = self._attend(q, repeat_kv(k, rep), repeat_kv(v, rep), offset)
        return self.out_proj(merged), weights


def decode(attention, x, cache):
    def steps():
        for i in range(x.shape[1]):
            yield attention(x.narrow(1, i, 1), cache)[0]

    return torch.cat(tuple(steps()), dim=1)


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value


REFLECT_KV_BYTES_70B_N4096_GQA8 = 1342177280
REFLECT_KV_BYTES_70B_N4096_MHA64 = 10737418240
