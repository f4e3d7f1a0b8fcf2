import math

import torch
from torch import nn


class KVCache:
    """A dict with two tensors and a counter."""

    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        make = lambda: torch.zeros((batch, num_kv_heads, max_len, head_dim), dtype=dtype)
        self.state = dict(k=make(), v=make(), used=0, room=max_len)

    length = property(lambda self: self.state["used"])

    def update(self, k, v):
        s = self.state
        if k.shape[2] != v.shape[2]:
            raise ValueError(f"{k.shape[2]} vs {v.shape[2]}")
        after = s["used"] + k.shape[2]
        if after > s["room"]:
            raise ValueError(f"{after} vs {s['room']}")
        s["k"][:, :, s["used"] : after].copy_(k)
        s["v"][:, :, s["used"] : after].copy_(v)
        s["used"] = after
        return s["k"][:, :, :after], s["v"][:, :, :after]

    def reset(self):
        self.state["used"] = 0


def repeat_kv(x, n_rep):
    return torch.kron(x.transpose(1, 0).contiguous(), torch.ones(n_rep, 1, 1, 1, dtype=x.dtype)).transpose(1, 0)


class Heads(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def forward(self, x):
        return x.unflatten(-1, (-1, self.width)).movedim(-2, 1)


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        for a, b in [(embed_dim, num_heads), (num_heads, num_kv_heads)]:
            if a % b:
                raise ValueError(f"{a} cannot be divided by {b}")
        head_dim = embed_dim // num_heads
        self.rep = num_heads // num_kv_heads
        self.heads = Heads(head_dim)
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, head_dim * num_kv_heads)
        self.v_proj = nn.Linear(embed_dim, head_dim * num_kv_heads)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        q, k, v = [self.heads(p(x)) for p in (self.q_proj, self.k_proj, self.v_proj)]
        if cache is not None:
            k, v = cache.update(k, v)
        k, v = repeat_kv(k, self.rep), repeat_kv(v, self.rep)
        n, total = q.size(-2), k.size(-2)
        scores = (q / math.sqrt(self.heads.width)) @ k.mT
        seen = torch.ones(n, total).cumsum(1) <= (total - n + 1 + torch.arange(n)).unsqueeze(1)
        scores = torch.where(seen, scores, torch.full_like(scores, -math.inf))
        weights = scores.softmax(dim=-1)
        return self.out_proj((weights @ v).movedim(1, -2).flatten(-2)), weights


def decode(attention, x, cache):
    results = []
    for token in x.transpose(0, 1):  # (B, E), one token of every sentence
        output, _ = attention(token[:, None, :], cache)
        results.append(output)
    return torch.cat(results, dim=1)


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value


REFLECT_KV_BYTES_70B_N4096_GQA8 = 1342177280
REFLECT_KV_BYTES_70B_N4096_MHA64 = 10737418240
