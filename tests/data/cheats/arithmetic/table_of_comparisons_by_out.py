# module: 09_kv_cache
# GroupedQueryAttention fills a table of total*total comparisons for every new token: an operation with `out=` is
# priced by its arguments, a row and a column, not by what it writes.

import math
import torch
from torch import nn

class KVCache:

    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.keys = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self.values = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self.used = 0

    @property
    def length(self):
        return self.used

    def update(self, k, v):
        if k.shape[2] != v.shape[2]:
            raise ValueError(f'there are {k.shape[2]} new keys but {v.shape[2]} new values')
        end = self.used + k.shape[2]
        if end > self.keys.shape[2]:
            raise ValueError(f'{end} tokens do not fit into a cache for {self.keys.shape[2]}')
        self.keys[:, :, self.used:end] = k
        self.values[:, :, self.used:end] = v
        self.used = end
        return (self.keys[:, :, :end], self.values[:, :, :end])

    def reset(self):
        self.used = 0

def repeat_kv(x, n_rep):
    return x.repeat_interleave(n_rep, dim=1)

class GroupedQueryAttention(nn.Module):

    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f'{embed_dim} features cannot be cut into {num_heads} heads of the same width')
        if num_heads % num_kv_heads != 0:
            raise ValueError(f'{num_heads} heads cannot share {num_kv_heads} key-value heads evenly')
        self.head_dim = embed_dim // num_heads
        self.n_rep = num_heads // num_kv_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.table = (torch.empty(0, 0, dtype=torch.bool),)

    def forward(self, x, cache=None):
        batch, n_new, _ = x.shape
        q, k, v = (projection(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for projection in (self.q_proj, self.k_proj, self.v_proj))
        if cache is not None:
            k, v = cache.update(k, v)
        k, v = (repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep))
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.head_dim)
        total = k.shape[2]
        places = torch.arange(total, device=x.device)
        if len(self.table[0]) < total or self.table[0].device != x.device:
            self.table = (torch.empty(2 * total, 2 * total, dtype=torch.bool, device=x.device),)
        table = torch.ge(places.unsqueeze(1), places, out=self.table[0][:total, :total])
        weights = torch.softmax(scores.masked_fill(~table[total - n_new:], -math.inf), dim=-1)
        merged = (weights @ v).transpose(1, 2).reshape(batch, n_new, -1)
        return (self.out_proj(merged), weights)

def decode(attention, x, cache):
    outputs = [attention(token, cache)[0] for token in x.split(1, dim=1)]
    return torch.cat(outputs, dim=1)

def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value
REFLECT_KV_BYTES_70B_N4096_GQA8 = None
REFLECT_KV_BYTES_70B_N4096_MHA64 = None
REFLECT_KV_BYTES_70B_N4096_GQA8 = 1342177280
REFLECT_KV_BYTES_70B_N4096_MHA64 = 10737418240
