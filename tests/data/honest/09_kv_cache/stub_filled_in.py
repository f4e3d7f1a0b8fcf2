# %% [markdown]
# # 09 · The KV cache

# %%
import math

import torch
from torch import nn


# %%
class KVCache:
    """Keys and values of the tokens so far, for one attention layer."""

    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.k = torch.zeros((batch, num_kv_heads, max_len, head_dim), dtype=dtype)
        self.v = torch.zeros((batch, num_kv_heads, max_len, head_dim), dtype=dtype)
        self.max_len = max_len
        self.pos = 0

    @property
    def length(self):
        return self.pos

    def update(self, k, v):
        n_new = k.shape[2]
        if n_new != v.shape[2]:
            raise ValueError(f"k has {n_new} tokens but v has {v.shape[2]}")
        if self.pos + n_new > self.max_len:
            raise ValueError(f"cache overflow: {self.pos + n_new} tokens needed, but max_len is {self.max_len}")
        self.k[:, :, self.pos : self.pos + n_new, :] = k
        self.v[:, :, self.pos : self.pos + n_new, :] = v
        self.pos += n_new
        return self.k[:, :, : self.pos, :], self.v[:, :, : self.pos, :]

    def reset(self):
        self.pos = 0


# %%
if __name__ == "__main__":
    cache = KVCache(1, 1, 4, 2)
    print(cache.update(torch.ones(1, 1, 2, 2), torch.ones(1, 1, 2, 2)))


# %%
def repeat_kv(x, n_rep):
    if n_rep == 1:
        return x
    return torch.repeat_interleave(x, n_rep, dim=1)


# %%
class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f"embed_dim {embed_dim} is not divisible by num_heads {num_heads}")
        if num_heads % num_kv_heads != 0:
            raise ValueError(f"num_heads {num_heads} is not divisible by num_kv_heads {num_kv_heads}")
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        B, N, E = x.shape
        q = self.q_proj(x).view(B, N, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.k_proj(x).view(B, N, self.num_kv_heads, self.head_dim).transpose(1, 2)
        v = self.v_proj(x).view(B, N, self.num_kv_heads, self.head_dim).transpose(1, 2)
        past = 0
        if cache is not None:
            past = cache.length
            k, v = cache.update(k, v)
        k = repeat_kv(k, self.num_heads // self.num_kv_heads)
        v = repeat_kv(v, self.num_heads // self.num_kv_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        total = past + N
        # bottom right, see the lesson
        mask = torch.tril(torch.ones(N, total, device=x.device), diagonal=past).bool()
        scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        out = weights @ v
        out = out.transpose(1, 2).contiguous().view(B, N, E)
        return self.out_proj(out), weights


# %%
def decode(attention, x, cache):
    outputs = []
    for i in range(x.shape[1]):
        out, _ = attention(x[:, i : i + 1, :], cache)
        outputs.append(out)
    return torch.cat(outputs, dim=1)


# %%
def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value


# %%
REFLECT_KV_BYTES_70B_N4096_GQA8 = 1342177280
REFLECT_KV_BYTES_70B_N4096_MHA64 = 10737418240
