import contextlib
import math

import torch
from torch import nn


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        with torch.no_grad():
            self.keys = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)
            self.values = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self.length = 0

    @contextlib.contextmanager
    def _reserve(self, n):
        """Give the free slots for n tokens; they count as used only if the block ends without an error."""
        end, max_len = self.length + n, self.keys.shape[2]
        if end > max_len:
            raise ValueError(f"reserving {end} of {max_len} slots")
        with torch.no_grad():
            yield self.keys[:, :, self.length : end], self.values[:, :, self.length : end]
        self.length = end

    def update(self, k, v):
        if k.shape[2] != v.shape[2]:
            raise ValueError(f"{k.shape[2]} keys for {v.shape[2]} values")
        with self._reserve(k.shape[2]) as (key_slots, value_slots):
            key_slots.copy_(k)
            value_slots.copy_(v)
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]

    def reset(self):
        self.length = 0

    def __enter__(self):
        self.reset()
        return self

    def __exit__(self, *_):
        self.reset()


def repeat_kv(x, n_rep):
    return torch.repeat_interleave(x, torch.full((x.shape[1],), n_rep), dim=1)


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"embed_dim {embed_dim}, num_heads {num_heads}")
        if num_heads % num_kv_heads:
            raise ValueError(f"num_heads {num_heads}, num_kv_heads {num_kv_heads}")
        self.h, self.g, self.d = num_heads, num_kv_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, self.h * self.d)
        self.k_proj = nn.Linear(embed_dim, self.g * self.d)
        self.v_proj = nn.Linear(embed_dim, self.g * self.d)
        self.out_proj = nn.Linear(self.h * self.d, embed_dim)

    def forward(self, x, cache=None):
        # with a cache there is no training
        with torch.no_grad() if cache is not None else contextlib.nullcontext():
            q = self.q_proj(x).unflatten(-1, (self.h, self.d)).transpose(1, 2)
            k = self.k_proj(x).unflatten(-1, (self.g, self.d)).transpose(1, 2)
            v = self.v_proj(x).unflatten(-1, (self.g, self.d)).transpose(1, 2)
            if cache is not None:
                k, v = cache.update(k, v)
            rep = self.h // self.g
            scores = q @ repeat_kv(k, rep).transpose(-1, -2) / math.sqrt(self.d)
            n, total = scores.shape[-2:]
            hidden = torch.ones(n, total, dtype=torch.bool).triu(diagonal=total - n + 1)
            weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)
            out = self.out_proj((weights @ repeat_kv(v, rep)).transpose(1, 2).flatten(2))
        return out, weights


def decode(attention, x, cache):
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        outputs = [attention(x[:, i : i + 1], cache)[0] for i in range(x.shape[1])]
        return torch.cat(outputs, dim=1)


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    return 2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value


REFLECT_KV_BYTES_70B_N4096_GQA8 = 1342177280
REFLECT_KV_BYTES_70B_N4096_MHA64 = 10737418240
