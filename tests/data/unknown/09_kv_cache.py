import math

import torch

# %% keys_reversed_in_the_cache


class KVCache(KVCache):
    def update(self, k, v):
        keys, values = super().update(k, v)
        return keys.flip(2), values.flip(2)


# %% keys_rounded


class KVCache(KVCache):
    def update(self, k, v):
        keys, values = super().update(k.round(), v)
        return keys, values


# %% heads_of_the_cache_swapped


class KVCache(KVCache):
    def update(self, k, v):
        keys, values = super().update(k, v)
        return keys.flip(1) + 1, values


# %% length_counts_both


class KVCache(KVCache):
    @property
    def length(self):
        return 2 * self.used


# %% reset_to_three


class KVCache(KVCache):
    def reset(self):
        self.used = 3


# %% reset_forgets_the_dtype


class KVCache(KVCache):
    def reset(self):
        batch, heads, max_len, width = self.keys.shape
        self.__init__(batch, heads, max_len, width)


# %% length_is_a_float


class KVCache(KVCache):
    @property
    def length(self):
        return float(self.used)


# %% heads_in_reverse


def repeat_kv(x, n_rep):
    return x.repeat_interleave(n_rep, dim=1).flip(1)


# %% copies_shrink


def repeat_kv(x, n_rep):
    return torch.cat([x / (r + 1) for r in range(n_rep)], dim=1)


# %% weights_squared


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        output, weights = super().forward(x, cache)
        return output, weights**2


# %% values_of_the_first_token


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        output, weights = super().forward(x, cache)
        return output[:, :1].expand_as(output), weights


# %% window_of_two


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        batch, n_new, _ = x.shape
        q, k, v = (p(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        if cache is not None:
            k, v = cache.update(k, v)
        k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)
        total = k.shape[2]
        scores = q @ k.mT / math.sqrt(self.head_dim)
        allowed = torch.ones(n_new, total).tril(total - n_new).triu(total - n_new - 1) == 1
        weights = torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).reshape(batch, n_new, -1)), weights


# %% fill_of_minus_thousand


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        batch, n_new, _ = x.shape
        q, k, v = (p(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        if cache is not None:
            k, v = cache.update(k, v)
        k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)
        total = k.shape[2]
        scores = q @ k.mT / math.sqrt(self.head_dim)
        allowed = torch.ones(n_new, total).tril(total - n_new) == 1
        weights = torch.softmax(scores.masked_fill(~allowed, -1000.0), dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).reshape(batch, n_new, -1)), weights


# %% distance_in_the_scores


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        batch, n_new, _ = x.shape
        q, k, v = (p(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        if cache is not None:
            k, v = cache.update(k, v)
        k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)
        total = k.shape[2]
        scores = q @ k.mT / math.sqrt(self.head_dim) + torch.arange(total) / 10
        allowed = torch.ones(n_new, total).tril(total - n_new) == 1
        weights = torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).reshape(batch, n_new, -1)), weights


# %% decode_adds_up


def decode(attention, x, cache):
    return torch.cat([attention(token, cache)[0] for token in x.split(1, dim=1)], dim=1).cumsum(dim=1)


# %% decode_two_tokens_at_a_time_without_the_odd_one


def decode(attention, x, cache):
    pieces = [attention(piece, cache)[0] for piece in x.split(2, dim=1)]
    return torch.cat(pieces, dim=1) * 0.5


# %% bytes_of_three


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    return 3 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value
