import math

import torch
from torch import nn


class _Plain(nn.Module):
    """What the layers below share: projections, and heads as module 06 cuts them."""

    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim} features, {num_heads} heads")
        if num_heads % num_kv_heads:
            raise ValueError(f"{num_heads} heads, {num_kv_heads} key-value heads")
        self.H, self.G, self.D = num_heads, num_kv_heads, embed_dim // num_heads
        self.q_proj, self.out_proj = nn.Linear(embed_dim, embed_dim), nn.Linear(embed_dim, embed_dim)
        self.k_proj, self.v_proj = nn.Linear(embed_dim, self.G * self.D), nn.Linear(embed_dim, self.G * self.D)

    def made(self, x):
        cut = [torch.stack(p(x).split(self.D, dim=-1), dim=1) for p in (self.q_proj, self.k_proj, self.v_proj)]
        return cut

    def mixed(self, weights, v):
        return self.out_proj(torch.cat((weights @ v).unbind(1), dim=-1)), weights


# %% writes_at_slot_zero counter_reset


class KVCache(KVCache):
    def update(self, k, v):
        n = k.shape[2]
        if n != v.shape[2]:
            raise ValueError(f"{n} and {v.shape[2]}")
        if self.used + n > self.keys.shape[2]:
            raise ValueError(f"{self.used + n} and {self.keys.shape[2]}")
        for i in range(n):
            self.keys[:, :, i], self.values[:, :, i] = k[:, :, i], v[:, :, i]
        self.used += n
        return self.keys[:, :, : self.used], self.values[:, :, : self.used]


# %% returns_every_slot lists


class KVCache(KVCache):
    def update(self, k, v):
        super().update(k, v)
        return self.keys[:], self.values[:]


# %% values_not_kept split_memory


class KVCache(KVCache):
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.keys = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self.used = 0

    def update(self, k, v):
        if k.shape[2] != v.shape[2]:
            raise ValueError(f"{k.shape[2]} and {v.shape[2]}")
        end = self.used + k.shape[2]
        if end > self.keys.shape[2]:
            raise ValueError(f"{end} and {self.keys.shape[2]}")
        self.keys[:, :, self.used : end] = k
        self.used = end
        return self.keys[:, :, :end], v.clone()


# %% reset_does_nothing pass


class KVCache(KVCache):
    def reset(self):
        self.keys = self.keys.clone()


# %% reset_does_nothing zeros


class KVCache(KVCache):
    def reset(self):
        self.keys.fill_(0)
        self.values.fill_(0)


# %% one_memory_for_both chained


class KVCache(KVCache):
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.keys = self.values = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self.used = 0


# %% repeats_in_turn tile


def repeat_kv(x, n_rep):
    return x.tile(1, n_rep, 1, 1)


# %% repeats_in_turn cat


def repeat_kv(x, n_rep):
    return torch.cat([x] * n_rep, dim=1)


# %% repeats_in_turn expand


def repeat_kv(x, n_rep):
    b, h, n, d = x.shape
    return x[:, None].expand(b, n_rep, h, n, d).reshape(b, n_rep * h, n, d)


# %% repeats_in_turn modulo


def repeat_kv(x, n_rep):
    return torch.stack([x[:, h % x.shape[1]] for h in range(x.shape[1] * n_rep)], dim=1)


# %% repeats_the_average sum


def repeat_kv(x, n_rep):
    mean = x.sum(dim=1) / x.shape[1]
    return torch.stack([mean for _ in range(x.shape[1] * n_rep)], dim=1)


# %% mask_from_the_top_left arange


class GroupedQueryAttention(_Plain):
    def forward(self, x, cache=None):
        q, k, v = self.made(x)
        if cache is not None:
            k, v = cache.update(k, v)
        k, v = repeat_kv(k, self.H // self.G), repeat_kv(v, self.H // self.G)
        i, j = torch.arange(q.shape[2])[:, None], torch.arange(k.shape[2])[None]
        scores = (q @ k.mT / math.sqrt(self.D)).masked_fill(j > i, -math.inf)
        return self.mixed(scores.softmax(-1), v)


# %% mask_from_the_top_left triu


class GroupedQueryAttention(_Plain):
    def forward(self, x, cache=None):
        q, k, v = self.made(x)
        if cache is not None:
            k, v = cache.update(k, v)
        k, v = repeat_kv(k, self.H // self.G), repeat_kv(v, self.H // self.G)
        scores = torch.einsum("bhid,bhjd->bhij", q, k) * self.D**-0.5
        scores = scores + torch.full((q.shape[2], k.shape[2]), -math.inf).triu(1)
        return self.mixed(torch.softmax(scores, dim=-1), v)


# %% no_mask_with_a_cache if


class GroupedQueryAttention(_Plain):
    def forward(self, x, cache=None):
        q, k, v = self.made(x)
        if cache is not None:
            k, v = cache.update(k, v)
        k, v = repeat_kv(k, self.H // self.G), repeat_kv(v, self.H // self.G)
        scores = q @ k.mT / self.D**0.5
        if cache is None:
            n = x.shape[1]
            scores = scores.masked_fill(torch.ones(n, n).triu(1).bool(), float("-inf"))
        return self.mixed(scores.softmax(dim=-1), v)


# %% no_mask scores_only


class GroupedQueryAttention(_Plain):
    def forward(self, x, cache=None):
        q, k, v = self.made(x)
        if cache is not None:
            k, v = cache.update(k, v)
        k, v = repeat_kv(k, self.H // self.G), repeat_kv(v, self.H // self.G)
        return self.mixed((q @ k.mT / self.D**0.5).softmax(dim=-1), v)


# %% scale_of_the_whole_width power


class GroupedQueryAttention(_Plain):
    def forward(self, x, cache=None):
        q, k, v = self.made(x)
        if cache is not None:
            k, v = cache.update(k, v)
        k, v = repeat_kv(k, self.H // self.G), repeat_kv(v, self.H // self.G)
        n, total = q.shape[2], k.shape[2]
        scores = q * (self.H * self.D) ** -0.5 @ k.mT
        later = torch.ones(n, total).triu(total - n + 1).bool()
        return self.mixed(scores.masked_fill(later, -math.inf).softmax(-1), v)


# %% cache_written_but_not_read order


class GroupedQueryAttention(_Plain):
    def forward(self, x, cache=None):
        q, k, v = self.made(x)
        if cache is not None:
            cache.update(k, v)
        k, v = repeat_kv(k, self.H // self.G), repeat_kv(v, self.H // self.G)
        n = x.shape[1]
        scores = q @ k.mT / self.D**0.5
        return self.mixed(scores.masked_fill(torch.ones(n, n).triu(1).bool(), -math.inf).softmax(-1), v)


# %% last_cache_is_used_again attribute


class GroupedQueryAttention(_Plain):
    cache = None

    def forward(self, x, cache=None):
        if cache is not None:
            self.cache = cache
        q, k, v = self.made(x)
        if self.cache is not None:
            k, v = self.cache.update(k, v)
        k, v = repeat_kv(k, self.H // self.G), repeat_kv(v, self.H // self.G)
        n, total = q.shape[2], k.shape[2]
        later = torch.ones(n, total).triu(total - n + 1).bool()
        return self.mixed((q @ k.mT / self.D**0.5).masked_fill(later, -math.inf).softmax(-1), v)


# %% decode_resets_the_cache at_the_end


def decode(attention, x, cache):
    outputs = [attention(x[:, i : i + 1], cache)[0] for i in range(x.shape[1])]
    cache.reset()
    return torch.cat(outputs, dim=1)


# %% decode_all_at_once chunk


def decode(attention, x, cache):
    output, _weights = attention(x, cache=cache)
    return output


# %% decode_without_the_cache loop


def decode(attention, x, cache):
    result = torch.zeros_like(x)
    for i in range(x.shape[1]):
        result[:, i : i + 1] = attention(x[:, i : i + 1])[0]
    return result


# %% decode_returns_the_last loop


def decode(attention, x, cache):
    for i in range(x.shape[1]):
        output, _ = attention(x[:, i : i + 1], cache)
    return output


# %% bytes_of_the_keys steps


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    per_token = num_kv_heads * head_dim * bytes_per_value
    return per_token * max_len * batch * num_layers


# %% bytes_of_one_layer steps


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    return 2 * batch * max_len * num_kv_heads * head_dim * bytes_per_value
