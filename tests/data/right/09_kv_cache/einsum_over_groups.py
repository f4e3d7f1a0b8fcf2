import torch
from torch import nn


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.k = torch.empty(batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self.v = torch.empty_like(self.k)
        self.max_len = max_len
        self.length = 0

    def update(self, k, v):
        n, m = k.size(-2), v.size(-2)
        if n != m:
            raise ValueError(f"{n} keys, {m} values")
        if self.length + n > self.max_len:
            raise ValueError(f"needs {self.length + n} slots, has {self.max_len}")
        self.k.narrow(2, self.length, n).copy_(k)
        self.v.narrow(2, self.length, n).copy_(v)
        self.length += n
        return self.k.narrow(2, 0, self.length), self.v.narrow(2, 0, self.length)

    def reset(self):
        self.length = 0


def repeat_kv(x, n_rep):
    b, h, n, d = x.shape
    return x[:, :, None].expand(b, h, n_rep, n, d).reshape(b, h * n_rep, n, d)


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        for whole, part in ((embed_dim, num_heads), (num_heads, num_kv_heads)):
            if whole % part:
                raise ValueError(f"{whole} is not a multiple of {part}")
        self.groups, self.width = num_kv_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.width)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.width)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        past = 0 if cache is None else cache.length
        q = self.q_proj(x).unflatten(-1, (self.groups, -1, self.width))  # (B, n, G, R, D)
        k = self.k_proj(x).unflatten(-1, (self.groups, self.width)).movedim(2, 1)
        v = self.v_proj(x).unflatten(-1, (self.groups, self.width)).movedim(2, 1)
        if cache is not None:
            k, v = cache.update(k, v)
        scores = torch.einsum("bigrd,bgjd->bgrij", q, k) * self.width**-0.5
        rows = past + torch.arange(x.shape[1], device=x.device)
        later = torch.arange(k.shape[2], device=x.device) > rows[:, None]
        weights = scores.masked_fill(later, float("-inf")).softmax(dim=-1)
        mixed = torch.einsum("bgrij,bgjd->bigrd", weights, v)
        return self.out_proj(mixed.flatten(2)), weights.flatten(1, 2)


def decode(attention, x, cache):
    return torch.cat([attention(x[:, i : i + 1], cache)[0] for i in range(x.shape[1])], dim=1)


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    one_token = 2 * num_kv_heads * head_dim * bytes_per_value
    return one_token * num_layers * batch * max_len


REFLECT_KV_BYTES_70B_N4096_GQA8 = kv_cache_bytes(1, 80, 8, 4096, 128)
REFLECT_KV_BYTES_70B_N4096_MHA64 = kv_cache_bytes(1, 80, 64, 4096, 128)
