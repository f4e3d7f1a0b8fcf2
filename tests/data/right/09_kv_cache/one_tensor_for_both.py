from math import inf, sqrt

import torch
from torch import nn


class KVCache:
    """Keys and values in one tensor, keys first. The memory is made with the first update."""

    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.shape, self.dtype = (2, batch, num_kv_heads, max_len, head_dim), dtype
        self.both = None
        self.reset()

    def reset(self):
        self.length = 0

    def update(self, k, v):
        if k.shape[-2] != v.shape[-2]:
            raise ValueError(f"k has {k.shape[-2]} tokens and v has {v.shape[-2]}")
        start, end = self.length, self.length + k.shape[-2]
        if end > self.shape[3]:
            raise ValueError(f"{end} tokens are too many for a cache of {self.shape[3]}")
        if self.both is None:
            self.both = torch.zeros(self.shape, dtype=self.dtype, device=k.device)
        where = torch.arange(start, end, device=k.device)
        self.both[0].index_copy_(2, where, k.detach())
        self.both[1].index_copy_(2, where, v.detach())
        self.length = end
        keys, values = self.both[..., :end, :].unbind(0)
        return keys, values


def repeat_kv(x, n_rep):
    return torch.repeat_interleave(x, repeats=n_rep, dim=1) if n_rep > 1 else x


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        head_dim, rest = divmod(embed_dim, num_heads)
        if rest:
            raise ValueError(f"{num_heads} heads do not divide {embed_dim} features")
        group, rest = divmod(num_heads, num_kv_heads)
        if rest:
            raise ValueError(f"{num_kv_heads} key-value heads do not divide {num_heads} heads")
        self.head_dim, self.group = head_dim, group
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim // group)
        self.v_proj = nn.Linear(embed_dim, embed_dim // group)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        b, n, e = x.shape
        q = self.q_proj(x).view(b, n, -1, self.head_dim).permute(0, 2, 1, 3)
        k = self.k_proj(x).view(b, n, -1, self.head_dim).permute(0, 2, 1, 3)
        v = self.v_proj(x).view(b, n, -1, self.head_dim).permute(0, 2, 1, 3)
        if cache is not None:
            k, v = cache.update(k, v)
        past = k.shape[2] - n
        k, v = repeat_kv(k, self.group), repeat_kv(v, self.group)
        s = torch.matmul(q, (k / sqrt(self.head_dim)).transpose(2, 3))
        if n > 1:  # one token sees everything
            s = s.masked_fill(torch.ones(n, past + n, device=x.device).triu(past + 1).bool(), -inf)
        w = torch.softmax(s, -1)
        return self.out_proj(torch.matmul(w, v).permute(0, 2, 1, 3).contiguous().view(b, n, e)), w


def decode(attention, x, cache):
    outputs = ()
    for token in x.unbind(dim=1):
        output, _weights = attention(token.unsqueeze(1), cache)
        outputs += (output.squeeze(1),)
    return torch.stack(outputs, dim=1)


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    keys = batch * num_kv_heads * max_len * head_dim * bytes_per_value
    values = keys
    return num_layers * (keys + values)


REFLECT_KV_BYTES_70B_N4096_GQA8 = 1342177280
REFLECT_KV_BYTES_70B_N4096_MHA64 = 10737418240
