import math

import torch
from mylab.multi_head_attention import merge_heads, split_heads
from torch import nn


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.buffer = [torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype) for _ in range(2)]
        self.max_len, self.length = max_len, 0

    def update(self, k, v):
        lengths = {x.shape[2] for x in (k, v)}
        if len(lengths) != 1:
            raise ValueError(f"keys and values should be equally many: {k.shape[2]} and {v.shape[2]}")
        needed = self.length + lengths.pop()
        if needed > self.max_len:
            raise ValueError(f"only {self.max_len} tokens fit, not {needed}")
        for memory, new in zip(self.buffer, (k, v)):
            memory[:, :, self.length : needed] = new
        self.length = needed
        return tuple(memory[:, :, :needed] for memory in self.buffer)

    def reset(self):
        self.length = 0


def repeat_kv(x, n_rep):
    index = torch.arange(x.shape[1] * n_rep, device=x.device) // n_rep
    return x.index_select(1, index)


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f"{embed_dim} features, {num_heads} heads")
        if num_heads % num_kv_heads != 0:
            raise ValueError(f"{num_heads} heads, {num_kv_heads} key-value heads")
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim * num_kv_heads // num_heads)
        self.v_proj = nn.Linear(embed_dim, embed_dim * num_kv_heads // num_heads)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        q = split_heads(self.q_proj(x), self.num_heads)
        k = split_heads(self.k_proj(x), self.num_kv_heads)
        v = split_heads(self.v_proj(x), self.num_kv_heads)
        if cache is not None:
            k, v = cache.update(k, v)
        k = repeat_kv(k, self.num_heads // self.num_kv_heads)
        v = repeat_kv(v, self.num_heads // self.num_kv_heads)
        causal = torch.ones(q.shape[2], k.shape[2]).tril(k.shape[2] - q.shape[2])
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        weights = torch.softmax(scores.masked_fill(causal == 0, -math.inf), dim=-1)
        return self.out_proj(merge_heads(weights @ v)), weights


def decode(attention, x, cache):
    result = x.new_zeros(x.shape)
    for i in range(x.shape[1]):
        result[:, i] = attention(x[:, i][:, None], cache)[0][:, 0]
    return result


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    """Keys and values."""
    return 2 * num_layers * batch * max_len * num_kv_heads * head_dim * bytes_per_value


REFLECT_KV_BYTES_70B_N4096_GQA8 = kv_cache_bytes(1, 80, 8, 4096, 128, 2)
REFLECT_KV_BYTES_70B_N4096_MHA64 = kv_cache_bytes(1, 80, 64, 4096, 128, 2)
