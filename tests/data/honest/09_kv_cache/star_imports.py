from math import *
from torch import *
from torch.nn import *
from torch.nn.functional import softmax
import torch
from builtins import range, sum, max  # torch has a range, too, and it is not the same


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.k = zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self.v = zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self.length = 0

    def update(self, k, v):
        a, b, m = k.shape[2], v.shape[2], self.k.shape[2]
        if a != b:
            raise ValueError('k: ' + str(a) + ' tokens, v: ' + str(b) + ' tokens')
        if self.length + a > m:
            raise ValueError('needs ' + str(self.length + a) + ' but max_len is ' + str(m))
        self.k[:, :, self.length:self.length + a] = k
        self.v[:, :, self.length:self.length + a] = v
        self.length = self.length + a
        return self.k[:, :, 0:self.length], self.v[:, :, 0:self.length]

    def reset(self):
        self.length = 0


def repeat_kv(x, n_rep):
    return cat([x[:, i // n_rep:i // n_rep + 1] for i in range(x.shape[1] * n_rep)], 1)


class GroupedQueryAttention(Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super(GroupedQueryAttention, self).__init__()
        if embed_dim % num_heads != 0:
            raise ValueError('embed_dim ' + str(embed_dim) + ' not divisible by num_heads ' + str(num_heads))
        if num_heads % num_kv_heads != 0:
            raise ValueError('num_heads ' + str(num_heads) + ' not divisible by num_kv_heads ' + str(num_kv_heads))
        self.nh = num_heads
        self.nk = num_kv_heads
        self.hd = embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, self.nk * self.hd)
        self.v_proj = Linear(embed_dim, self.nk * self.hd)
        self.out_proj = Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        B, N, E = x.shape
        Q = self.q_proj(x).view(B, N, self.nh, self.hd).permute(0, 2, 1, 3)
        K = self.k_proj(x).view(B, N, self.nk, self.hd).permute(0, 2, 1, 3)
        V = self.v_proj(x).view(B, N, self.nk, self.hd).permute(0, 2, 1, 3)
        if cache != None:
            K, V = cache.update(K, V)
        K = repeat_kv(K, self.nh // self.nk)
        V = repeat_kv(V, self.nh // self.nk)
        T = K.shape[2]
        M = triu(full((N, T), -inf), T - N + 1)
        W = softmax(matmul(Q, K.transpose(2, 3)) / sqrt_(self.hd) + M, dim=-1)
        O = matmul(W, V).permute(0, 2, 1, 3).reshape(B, N, E)
        return self.out_proj(O), W


def sqrt_(n):
    # torch's sqrt has replaced the one of math
    return n ** 0.5


def decode(attention, x, cache):
    O = []
    for i in range(x.shape[1]):
        O.append(attention(x[:, i:i + 1], cache)[0])
    return cat(O, 1)


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value


REFLECT_KV_BYTES_70B_N4096_GQA8 = 1342177280
REFLECT_KV_BYTES_70B_N4096_MHA64 = 10737418240
