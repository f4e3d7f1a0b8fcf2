import torch
from torch import nn


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.max_len = max_len
        # tokens first inside, turned round for the caller
        self._keys = torch.zeros(max_len, batch, num_kv_heads, head_dim, dtype=dtype)
        self._values = torch.zeros(max_len, batch, num_kv_heads, head_dim, dtype=dtype)
        self.length = 0

    def update(self, k, v):
        if k.shape[2] != v.shape[2]:
            raise ValueError(f"{k.shape[2]} != {v.shape[2]}")
        if k.shape[2] > self.max_len - self.length:
            raise ValueError(f"max_len is {self.max_len}, but {self.length + k.shape[2]} tokens would be there")
        old, self.length = self.length, self.length + k.shape[2]
        self._keys[old : self.length] = k.permute(2, 0, 1, 3)
        self._values[old : self.length] = v.permute(2, 0, 1, 3)
        return self._keys[: self.length].permute(1, 2, 0, 3), self._values[: self.length].permute(1, 2, 0, 3)

    def reset(self):
        self.length = 0


def repeat_kv(x, n_rep):
    return x[:, [h // n_rep for h in range(x.shape[1] * n_rep)]]


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f"embed_dim {embed_dim}, num_heads {num_heads}")
        if num_heads % num_kv_heads != 0:
            raise ValueError(f"num_heads {num_heads}, num_kv_heads {num_kv_heads}")
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        width = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, width * num_kv_heads)
        self.v_proj = nn.Linear(embed_dim, width * num_kv_heads)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        """No mask: token i is compared only with the tokens up to itself."""
        batch, n, embed_dim = x.shape
        width = embed_dim // self.num_heads
        q = self.q_proj(x).reshape(batch, n, self.num_heads, width)
        k = self.k_proj(x).reshape(batch, n, self.num_kv_heads, width).transpose(1, 2)
        v = self.v_proj(x).reshape(batch, n, self.num_kv_heads, width).transpose(1, 2)
        if cache is not None:
            k, v = cache.update(k, v)
        total = k.shape[2]
        k, v = (repeat_kv(one, self.num_heads // self.num_kv_heads) for one in (k, v))
        rows, outputs = [], []
        for i in range(n):
            seen = total - n + i + 1
            scores = (k[:, :, :seen] * q[:, i, :, None]).sum(dim=-1) / width**0.5  # (B, H, seen)
            scores = scores - scores.amax(dim=-1, keepdim=True)
            weights = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
            outputs.append((weights[..., None] * v[:, :, :seen]).sum(dim=2).flatten(1))
            rows.append(nn.functional.pad(weights, (0, total - seen)))
        return self.out_proj(torch.stack(outputs, dim=1)), torch.stack(rows, dim=2)


def decode(attention, x, cache):
    outputs = []
    position = 0
    while position < x.shape[1]:
        outputs.append(attention(x[:, position, None], cache)[0])
        position += 1
    return torch.hstack(outputs)


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    total = bytes_per_value
    for factor in (2, batch, num_layers, num_kv_heads, max_len, head_dim):
        total *= factor
    return total


REFLECT_KV_BYTES_70B_N4096_GQA8 = 80 * 2 * 8 * 128 * 4096 * 2
REFLECT_KV_BYTES_70B_N4096_MHA64 = 80 * 2 * 64 * 128 * 4096 * 2
