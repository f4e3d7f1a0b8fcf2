from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn


@dataclass
class KVCache:
    batch: int
    num_kv_heads: int
    max_len: int
    head_dim: int
    dtype: torch.dtype = torch.float32
    length: int = field(default=0, init=False)
    keys: Tensor = field(init=False, repr=False)
    values: Tensor = field(init=False, repr=False)

    def __post_init__(self) -> None:
        shape = (self.batch, self.num_kv_heads, self.max_len, self.head_dim)
        self.keys, self.values = torch.zeros(shape, dtype=self.dtype), torch.zeros(shape, dtype=self.dtype)

    def update(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f"expected as many keys as values, got {k.shape[-2]} and {v.shape[-2]}")
        stop = self.length + k.shape[-2]
        if stop > self.max_len:
            raise ValueError(f"need room for {stop} tokens, max_len={self.max_len}")
        window = slice(self.length, stop)
        self.keys[..., window, :], self.values[..., window, :] = k, v
        self.length = stop
        return self.keys[..., :stop, :], self.values[..., :stop, :]

    def reset(self) -> None:
        self.length = 0


def repeat_kv(x: Tensor, n_rep: int) -> Tensor:
    batch, heads, length, width = x.size()
    return x.unsqueeze(2).expand(batch, heads, n_rep, length, width).flatten(1, 2)


def causal_mask(n_new: int, total: int) -> Tensor:
    return torch.arange(total)[None, :] <= torch.arange(total - n_new, total)[:, None]


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int, num_kv_heads: int) -> None:
        super().__init__()
        self._require_multiple(embed_dim, num_heads)
        self._require_multiple(num_heads, num_kv_heads)
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    @staticmethod
    def _require_multiple(number: int, of: int) -> None:
        if number % of:
            raise ValueError(f"{number} is not a multiple of {of}")

    def forward(self, x: Tensor, cache: KVCache | None = None) -> tuple[Tensor, Tensor]:
        query, key, value = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        query = query.unflatten(2, (self.num_heads, self.head_dim)).transpose(1, 2)
        key = key.unflatten(2, (self.num_kv_heads, self.head_dim)).transpose(1, 2)
        value = value.unflatten(2, (self.num_kv_heads, self.head_dim)).transpose(1, 2)
        if cache is not None:
            key, value = cache.update(key, value)
        repeats = self.num_heads // self.num_kv_heads
        key, value = repeat_kv(key, repeats), repeat_kv(value, repeats)
        scores = (query @ key.mT) * (1.0 / math.sqrt(self.head_dim))
        allowed = causal_mask(x.shape[1], key.shape[2]).to(x.device)
        scores = scores.masked_fill(allowed.logical_not(), -math.inf)
        exponentials = (scores - scores.amax(dim=-1, keepdim=True).detach()).exp()
        weights = exponentials / exponentials.sum(dim=-1, keepdim=True)
        return self.out_proj((weights @ value).transpose(1, 2).flatten(2)), weights


def decode(attention: nn.Module, x: Tensor, cache: KVCache) -> Tensor:
    output = x[:, :0]
    for token in x.split(1, dim=1):
        output = torch.cat((output, attention(token, cache)[0]), dim=1)
    return output


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value


REFLECT_KV_BYTES_70B_N4096_GQA8 = 1342177280
REFLECT_KV_BYTES_70B_N4096_MHA64 = 10737418240
