import math

import torch
from torch import nn


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self._k = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self._v = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self._length = 0

    length = property(lambda self: self._length, doc="number of tokens")

    def update(self, k, v):
        n = k.shape[2]
        if n != v.shape[2]:
            raise ValueError("unequal lengths %s and %s" % (n, v.shape[2]))
        if self._length + n > self._k.shape[2]:
            raise ValueError("%s tokens for max_len %s" % (self._length + n, self._k.shape[2]))
        where = torch.arange(self._length, self._length + n).view(1, 1, n, 1).expand(k.shape)
        self._k.scatter_(2, where, k.detach().to(self._k.dtype))
        self._v.scatter_(2, where, v.detach().to(self._v.dtype))
        self._length += n
        return self._k[:, :, : self._length], self._v[:, :, : self._length]

    def reset(self):
        self._length = 0


def repeat_kv(x, n_rep):
    return torch.kron(x.contiguous(), torch.ones(1, n_rep, 1, 1, dtype=x.dtype))


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("embed_dim %s, num_heads %s" % (embed_dim, num_heads))
        if num_heads % num_kv_heads:
            raise ValueError("num_heads %s, num_kv_heads %s" % (num_heads, num_kv_heads))
        head_dim = embed_dim // num_heads
        for name, features in dict(q=embed_dim, k=num_kv_heads * head_dim, v=num_kv_heads * head_dim, out=embed_dim).items():
            setattr(self, name + "_proj", nn.Linear(embed_dim, features))
        self.num_heads, self.num_kv_heads, self.head_dim = num_heads, num_kv_heads, head_dim

    def forward(self, x, cache=None):
        parts = {}
        for name, heads in ("q", self.num_heads), ("k", self.num_kv_heads), ("v", self.num_kv_heads):
            part = getattr(self, f"{name}_proj")(x)
            parts[name] = part.view(*part.shape[:2], heads, self.head_dim).transpose(1, 2)
        if cache is not None:
            parts["k"], parts["v"] = cache.update(parts["k"], parts["v"])
        for name in "kv":
            parts[name] = repeat_kv(parts[name], self.num_heads // self.num_kv_heads)
        q, k, v = parts.values()
        total, n = k.shape[2], q.shape[2]
        scores = torch.matmul(q, k.mT)
        scores = scores / math.sqrt(self.head_dim)
        # each row: how many keys may be seen
        limit = torch.arange(1, n + 1).add_(total - n)
        weights = torch.where(torch.arange(total) < limit[:, None], scores, scores.new_tensor(-math.inf)).softmax(-1)
        return self.out_proj((weights @ v).permute(0, 2, 1, 3).flatten(2, 3)), weights


def decode(attention, x, cache):
    out = []
    for i in torch.arange(x.shape[1]).tolist():
        out.append(attention(x.select(1, i).unsqueeze(1), cache)[0])
    return torch.cat(out, 1)


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value


REFLECT_KV_BYTES_70B_N4096_GQA8 = kv_cache_bytes(1, 80, 8, 4096, 128)
REFLECT_KV_BYTES_70B_N4096_MHA64 = kv_cache_bytes(1, 80, 64, 4096, 128)
