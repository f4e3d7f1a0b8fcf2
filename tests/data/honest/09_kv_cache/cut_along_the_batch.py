import torch
from torch import nn


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.K = torch.zeros(batch, num_kv_heads, max_len, head_dim).to(dtype)
        self.V = torch.zeros(batch, num_kv_heads, max_len, head_dim).to(dtype)
        self.L = max_len
        self.length = 0

    def update(self, k, v):
        a, b = k.shape[2], v.shape[2]
        if a != b:
            raise ValueError(f"{a} keys and {b} values")
        if self.length + a > self.L:
            raise ValueError(f"cannot hold {self.length + a} tokens, max_len = {self.L}")
        for head in range(k.shape[1]):
            self.K[:, head, self.length : self.length + a] = k[:, head]
            self.V[:, head, self.length : self.length + a] = v[:, head]
        self.length += a
        return (self.K[:, :, : self.length], self.V[:, :, : self.length])

    def reset(self):
        self.__init__(*self.K.shape, dtype=self.K.dtype)


def repeat_kv(x, n_rep):
    return x.transpose(0, 1).repeat_interleave(n_rep, dim=0).transpose(0, 1)


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError("embed_dim: {} num_heads: {}".format(embed_dim, num_heads))
        if num_heads % num_kv_heads != 0:
            raise ValueError("num_heads: {} num_kv_heads: {}".format(num_heads, num_kv_heads))
        self.H, self.G = num_heads, num_kv_heads
        self.D = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, self.G * self.D)
        self.v_proj = nn.Linear(embed_dim, self.G * self.D)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        b, n, e = x.shape
        q = self.q_proj(x).reshape(b, n, self.H, self.D).transpose(1, 2)
        k = self.k_proj(x).reshape(b, n, self.G, self.D).transpose(1, 2)
        v = self.v_proj(x).reshape(b, n, self.G, self.D).transpose(1, 2)
        if cache is not None:
            k, v = cache.update(k, v)
        k, v = repeat_kv(k, self.H // self.G), repeat_kv(v, self.H // self.G)
        t = k.shape[2]
        # batch and heads as one axis for bmm
        q, k, v = q.reshape(b * self.H, n, self.D), k.reshape(b * self.H, t, self.D), v.reshape(b * self.H, t, self.D)
        mask = torch.zeros(n, t, dtype=x.dtype)
        for i in range(n):
            mask[i, t - n + i + 1 :] = float("-inf")
        weights = torch.baddbmm(mask.expand(b * self.H, n, t), q, k.mT, alpha=self.D**-0.5).softmax(dim=2)
        merged = torch.bmm(weights, v).reshape(b, self.H, n, self.D).transpose(1, 2).reshape(b, n, e)
        return self.out_proj(merged), weights.reshape(b, self.H, n, t)


def decode(attention, x, cache):
    out = torch.zeros(x.shape, dtype=x.dtype)
    for i in range(x.shape[1]):
        y = attention(x[:, i : i + 1], cache)[0]
        out[:, i : i + 1] = y
    return out


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value


REFLECT_KV_BYTES_70B_N4096_GQA8 = 1342177280
REFLECT_KV_BYTES_70B_N4096_MHA64 = 10737418240
