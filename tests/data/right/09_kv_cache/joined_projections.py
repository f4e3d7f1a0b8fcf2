import torch
from torch import nn
from torch.nn.functional import linear


class KVCache:
    __slots__ = ("dims", "key_memory", "n", "value_memory")

    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.dims = (batch * num_kv_heads, max_len, head_dim), (batch, num_kv_heads)
        self.key_memory = torch.zeros(self.dims[0], dtype=dtype)
        self.value_memory = torch.zeros(self.dims[0], dtype=dtype)
        self.n = 0

    length = property(lambda self: self.n)

    def update(self, k, v):
        (_, max_len, _), lead = self.dims
        count = k.shape[2]
        if count != v.shape[2]:
            raise ValueError(f"{count} keys but {v.shape[2]} values")
        if self.n + count > max_len:
            raise ValueError(f"{self.n} + {count} = {self.n + count} tokens exceed max_len = {max_len}")
        self.key_memory[:, self.n : self.n + count] = k.flatten(0, 1)
        self.value_memory[:, self.n : self.n + count] = v.flatten(0, 1)
        self.n += count
        return self.key_memory[:, : self.n].unflatten(0, lead), self.value_memory[:, : self.n].unflatten(0, lead)

    def reset(self):
        self.n = 0


def repeat_kv(x, n_rep):
    return torch.cat([head.expand(-1, n_rep, -1, -1) for head in x.split(1, dim=1)], dim=1)


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f"{embed_dim} / {num_heads}")
        if num_heads % num_kv_heads != 0:
            raise ValueError(f"{num_heads} / {num_kv_heads}")
        self.h, self.g, self.d = num_heads, num_kv_heads, embed_dim // num_heads
        widths = {"q_proj": self.h, "k_proj": self.g, "v_proj": self.g, "out_proj": self.h}
        for name, heads in widths.items():
            self.add_module(name, nn.Linear(embed_dim, heads * self.d))

    def forward(self, x, cache=None):
        parts = (self.q_proj, self.k_proj, self.v_proj)
        weight, bias = torch.cat([p.weight for p in parts]), torch.cat([p.bias for p in parts])
        heads = linear(x, weight, bias).unflatten(-1, (-1, self.d)).transpose(1, 2)  # (B, H + 2 G, n, D)
        q, k, v = heads.split([self.h, self.g, self.g], dim=1)
        if cache is not None:
            k, v = cache.update(k, v)
        n, total = q.shape[2], k.shape[2]
        q = q.unflatten(1, (self.g, -1)).flatten(2, 3)  # (B, G, R n, D): queries of a group are rows of one product
        scores = (q @ k.mT).unflatten(2, (-1, n)) / self.d**0.5  # (B, G, R, n, total)
        bias = torch.zeros(n, total, dtype=x.dtype)
        bias[torch.ones(n, total).triu(total - n + 1) == 1] = -torch.inf
        weights = torch.exp(torch.log_softmax(scores + bias, dim=-1))
        mixed = (weights.flatten(2, 3) @ v).unflatten(2, (-1, n)).flatten(1, 2)  # (B, H, n, D)
        return self.out_proj(mixed.transpose(1, 2).flatten(2)), weights.flatten(1, 2)


def decode(attention, x, cache):
    step = lambda token: attention(token, cache)[0]  # noqa: E731
    return torch.cat(list(map(step, x.chunk(x.shape[1], dim=1))), dim=1)


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    return (batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value) << 1


REFLECT_KV_BYTES_70B_N4096_GQA8 = 5 * 2**28
REFLECT_KV_BYTES_70B_N4096_MHA64 = 5 * 2**31
