import math

import torch
from torch import nn


class KVCache:
    __slots__ = ("tensors", "limit", "length")

    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.limit = max_len
        self.tensors = {name: torch.zeros((batch, num_kv_heads, max_len, head_dim), dtype=dtype) for name in "kv"}
        self.length = 0

    def update(self, k, v):
        new = {"k": k, "v": v}
        if k.shape[2] != v.shape[2]:
            raise ValueError(f"tokens in k and v: {[t.shape[2] for t in new.values()]}")
        after = self.length + k.shape[2]
        if not after <= self.limit:
            raise ValueError(f"{after} tokens, room for {self.limit}")
        for name in self.tensors:
            self.tensors[name].data[:, :, self.length:after, :] = new[name]
        self.length = after
        return self.tensors["k"][:, :, :after, :], self.tensors["v"][:, :, :after, :]

    def reset(self):
        for tensor in self.tensors.values():
            tensor.fill_(0)
        self.length = 0


def repeat_kv(x, n_rep):
    return torch.stack([head for head in x.unbind(1) for _ in range(n_rep)], dim=1)


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        for whole, part in ((embed_dim, num_heads), (num_heads, num_kv_heads)):
            if whole % part:
                raise ValueError(f"{whole} cannot be divided by {part}")
        self.h, self.h_kv, self.d = num_heads, num_kv_heads, embed_dim // num_heads
        for name, width in dict(q_proj=embed_dim, k_proj=num_kv_heads * self.d, v_proj=num_kv_heads * self.d, out_proj=embed_dim).items():
            self.add_module(name, nn.Linear(embed_dim, width))

    def _project(self, x):
        cut = lambda y: y.view(*y.shape[:2], y.shape[2] // self.d, self.d).transpose(1, 2)
        return cut(self.q_proj(x)), cut(self.k_proj(x)), cut(self.v_proj(x))

    def _attend(self, q, k, v, start):
        scores = torch.einsum("bhid,bhjd->bhij", q, k) / self.d ** 0.5
        too_late = torch.arange(k.shape[2]) > torch.arange(start, start + q.shape[2])[:, None]
        scores = scores.masked_fill(too_late, -torch.inf)
        log_weights = scores - scores.logsumexp(-1, keepdim=True)
        weights = log_weights.exp()
        return torch.einsum("bhij,bhjd->bhid", weights, v), weights

    def forward(self, x, cache=None):
        q, k, v = self._project(x)
        start = 0
        if cache is not None:
            start = int(cache.length)
            k, v = cache.update(k, v)
        heads, weights = self._attend(q, repeat_kv(k, self.h // self.h_kv), repeat_kv(v, self.h // self.h_kv), start)
        merged = heads.permute(0, 2, 1, 3).contiguous().view(x.shape[0], x.shape[1], self.h * self.d)
        return self.out_proj(merged), weights


def decode(attention, x, cache):
    def steps():
        for token in x.transpose(0, 1):
            yield attention(token[:, None, :], cache)[0]
    return torch.cat(tuple(steps()), 1)


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value

REFLECT_KV_BYTES_70B_N4096_GQA8 = kv_cache_bytes(1, 80, 8, 4096, 128)
REFLECT_KV_BYTES_70B_N4096_MHA64 = kv_cache_bytes(1, 80, 64, 4096, 128)
