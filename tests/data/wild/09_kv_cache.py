import math

import torch
import torch.nn.functional as F
from torch import nn

# %% cat_as_in_libraries
# torch.cat behind what is there, as a well-known library does: max_len is not used.
# Expected: full_cache_grows


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.key_cache = None
        self.value_cache = None

    @property
    def length(self):
        return 0 if self.key_cache is None else self.key_cache.size(-2)

    def update(self, k, v):
        if k.size(-2) != v.size(-2):
            raise ValueError(f"{k.size(-2)} keys and {v.size(-2)} values")
        if self.key_cache is None:
            self.key_cache, self.value_cache = k, v
        else:
            self.key_cache = torch.cat([self.key_cache, k], dim=-2)
            self.value_cache = torch.cat([self.value_cache, v], dim=-2)
        return self.key_cache, self.value_cache

    def reset(self):
        self.key_cache = self.value_cache = None


# %% slices_without_checks
# The buffers of a public model, start to start + n: nothing is checked.
# Expected: full_cache_not_checked or other_lengths_not_checked


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        shape = (batch, num_kv_heads, max_len, head_dim)
        self.cache_k = torch.zeros(shape, dtype=dtype)
        self.cache_v = torch.zeros(shape, dtype=dtype)
        self.length = 0

    def update(self, k, v):
        start, n = self.length, k.shape[2]
        self.cache_k[:, :, start : start + n] = k
        self.cache_v[:, :, start : start + n] = v
        self.length += n
        return self.cache_k[:, :, : self.length], self.cache_v[:, :, : self.length]

    def reset(self):
        self.length = 0


# %% whole_buffers
# Returns the two buffers, without a slice.
# Expected: returns_every_slot


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.max_len = max_len
        self.k = torch.zeros((batch, num_kv_heads, max_len, head_dim), dtype=dtype)
        self.v = torch.zeros((batch, num_kv_heads, max_len, head_dim), dtype=dtype)
        self.pos = 0

    @property
    def length(self):
        return self.pos

    def update(self, k, v):
        n, m = k.shape[2], v.shape[2]
        if n != m:
            raise ValueError(f"k has {n} tokens and v has {m}")
        if self.pos + n > self.max_len:
            raise ValueError(f"{self.pos + n} > {self.max_len}")
        self.k[:, :, self.pos : self.pos + n, :] = k
        self.v[:, :, self.pos : self.pos + n, :] = v
        self.pos += n
        return self.k, self.v

    def reset(self):
        self.pos = 0


# %% asserts
# assert in place of raise, for both.
# Expected: full_cache_asserts or other_lengths_assert


class KVCache(KVCache):
    def update(self, k, v):
        n = k.shape[2]
        assert n == v.shape[2], f"k has {n} tokens, v has {v.shape[2]}"
        assert self.used + n <= self.keys.shape[2], f"cache overflow: {self.used + n} > {self.keys.shape[2]}"
        self.keys[:, :, self.used : self.used + n].copy_(k)
        self.values[:, :, self.used : self.used + n].copy_(v)
        self.used += n
        return self.keys[:, :, : self.used], self.values[:, :, : self.used]


# %% counts_first
# self.length += n, and then the check.
# Expected: refused_update_counts


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.K = torch.empty(batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self.V = torch.empty(batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self.max_len = max_len
        self.length = 0

    def update(self, k, v):
        if k.shape[-2] != v.shape[-2]:
            raise ValueError("different lengths: {} and {}".format(k.shape[-2], v.shape[-2]))
        old = self.length
        self.length += k.shape[-2]
        if self.length > self.max_len:
            raise ValueError("cache is full: {} > {}".format(self.length, self.max_len))
        self.K[..., old : self.length, :] = k
        self.V[..., old : self.length, :] = v
        return self.K[..., : self.length, :], self.V[..., : self.length, :]

    def reset(self):
        self.length = 0


# %% reset_zeroes_the_buffers
# reset fills the buffers with 0, and the length stays.
# Expected: reset_does_nothing


class KVCache(KVCache):
    def reset(self):
        self.keys.zero_()
        self.values.zero_()


# %% length_of_the_buffer
# length is the size of the buffer along the tokens.
# Expected: length_is_max_len


class KVCache(KVCache):
    @property
    def length(self):
        return self.keys.size(2)


# %% dtype_forgotten
# torch.zeros(...) without dtype.
# Expected: cache_in_float32


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.k_buf = torch.zeros(batch, num_kv_heads, max_len, head_dim)
        self.v_buf = torch.zeros(batch, num_kv_heads, max_len, head_dim)
        self.max_len, self.length = max_len, 0

    def update(self, k, v):
        if k.shape[2] != v.shape[2]:
            raise ValueError(f"k: {k.shape[2]}, v: {v.shape[2]}")
        end = self.length + k.shape[2]
        if end > self.max_len:
            raise ValueError(f"need {end}, max_len is {self.max_len}")
        self.k_buf[:, :, self.length : end] = k
        self.v_buf[:, :, self.length : end] = v
        self.length = end
        return self.k_buf[:, :, :end], self.v_buf[:, :, :end]

    def reset(self):
        self.length = 0


# %% window
# A full cache drops the oldest tokens, as a sliding window does.
# Expected: no name: rare


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.max_len = max_len
        self.k = torch.zeros(batch, num_kv_heads, 0, head_dim, dtype=dtype)
        self.v = torch.zeros(batch, num_kv_heads, 0, head_dim, dtype=dtype)

    @property
    def length(self):
        return self.k.shape[2]

    def update(self, k, v):
        if k.shape[2] != v.shape[2]:
            raise ValueError(f"k has {k.shape[2]} tokens, v has {v.shape[2]}")
        self.k = torch.cat((self.k, k), dim=2)[:, :, -self.max_len :]
        self.v = torch.cat((self.v, v), dim=2)[:, :, -self.max_len :]
        return self.k, self.v

    def reset(self):
        self.k, self.v = self.k[:, :, :0], self.v[:, :, :0]


# %% says_only_full
# The message has no numbers.
# Expected: full_cache_without_numbers


class KVCache(KVCache):
    def update(self, k, v):
        if k.shape[2] != v.shape[2]:
            raise ValueError(f"k and v differ: {k.shape[2]} vs. {v.shape[2]}")
        n = k.shape[2]
        if self.used + n > self.keys.shape[2]:
            raise ValueError("KV cache overflow")
        self.keys[:, :, self.used : self.used + n] = k
        self.values[:, :, self.used : self.used + n] = v
        self.used += n
        return self.keys[:, :, : self.used], self.values[:, :, : self.used]


# %% names_the_free_slots
# The message names the new tokens and the free slots.
# Expected: full_cache_names_the_free_slots


class KVCache(KVCache):
    def update(self, k, v):
        n = k.shape[2]
        if v.shape[2] != n:
            raise ValueError(f"got {n} keys and {v.shape[2]} values")
        free = self.keys.shape[2] - self.used
        if n > free:
            raise ValueError(f"cannot add {n} tokens, only {free} slots are left")
        self.keys[:, :, self.used : self.used + n] = k
        self.values[:, :, self.used : self.used + n] = v
        self.used += n
        return self.keys[:, :, : self.used], self.values[:, :, : self.used]


# %% runtime_error
# RuntimeError for a full cache.
# Expected: no name: another exception than the one asked for


class KVCache(KVCache):
    def update(self, k, v):
        n = k.shape[2]
        if v.shape[2] != n:
            raise ValueError(f"got {n} keys and {v.shape[2]} values")
        if self.used + n > self.keys.shape[2]:
            raise RuntimeError(f"KV cache is full: {self.used + n} > {self.keys.shape[2]}")
        self.keys[:, :, self.used : self.used + n] = k
        self.values[:, :, self.used : self.used + n] = v
        self.used += n
        return self.keys[:, :, : self.used], self.values[:, :, : self.used]


# %% tokens_before_heads
# The buffers are (batch, max_len, heads, dim), as in a public model, and so are the results.
# Expected: tokens_before_heads


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.max_len = max_len
        self.cache_k = torch.zeros((batch, max_len, num_kv_heads, head_dim), dtype=dtype)
        self.cache_v = torch.zeros((batch, max_len, num_kv_heads, head_dim), dtype=dtype)
        self.length = 0

    def update(self, k, v):
        if k.shape[2] != v.shape[2]:
            raise ValueError(f"{k.shape[2]} and {v.shape[2]}")
        end = self.length + k.shape[2]
        if end > self.max_len:
            raise ValueError(f"{end} > {self.max_len}")
        self.cache_k[:, self.length : end] = k.transpose(1, 2)
        self.cache_v[:, self.length : end] = v.transpose(1, 2)
        self.length = end
        return self.cache_k[:, :end], self.cache_v[:, :end]

    def reset(self):
        self.length = 0


# %% repeat_method
# x.repeat(1, n_rep, 1, 1).
# Expected: repeats_in_turn


def repeat_kv(x, n_rep):
    if n_rep == 1:
        return x
    return x.repeat(1, n_rep, 1, 1)


# %% unsqueezed_in_front
# expand and reshape, as in a model library, with the new axis before the heads.
# Expected: repeats_in_turn


def repeat_kv(x, n_rep):
    batch, num_kv_heads, slen, head_dim = x.shape
    if n_rep == 1:
        return x
    x = x[:, None, :, :, :].expand(batch, n_rep, num_kv_heads, slen, head_dim)
    return x.reshape(batch, num_kv_heads * n_rep, slen, head_dim)


# %% layout_of_another_model
# The function of a public model, whose heads are axis 2.
# Expected: repeats_the_tokens


def repeat_kv(x, n_rep):
    bs, slen, n_kv_heads, head_dim = x.shape
    if n_rep == 1:
        return x
    return (
        x[:, :, :, None, :]
        .expand(bs, slen, n_kv_heads, n_rep, head_dim)
        .reshape(bs, slen, n_kv_heads * n_rep, head_dim)
    )


# %% interleave_without_dim
# torch.repeat_interleave(x, n_rep), without dim.
# Expected: repeats_every_number


def repeat_kv(x, n_rep):
    return torch.repeat_interleave(x, repeats=n_rep)


# %% triangle_of_the_corner
# tril of a square, cut to (n_new, total): the whole class in one go.
# Expected: mask_from_the_top_left


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"embed_dim {embed_dim} is not divisible by num_heads {num_heads}")
        if num_heads % num_kv_heads:
            raise ValueError(f"num_heads {num_heads} is not divisible by num_kv_heads {num_kv_heads}")
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, num_heads * self.head_dim)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        B, T, C = x.shape
        q = self.q_proj(x).view(B, T, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.k_proj(x).view(B, T, self.num_kv_heads, self.head_dim).transpose(1, 2)
        v = self.v_proj(x).view(B, T, self.num_kv_heads, self.head_dim).transpose(1, 2)
        if cache is not None:
            k, v = cache.update(k, v)
        k = torch.repeat_interleave(k, self.num_heads // self.num_kv_heads, dim=1)
        v = torch.repeat_interleave(v, self.num_heads // self.num_kv_heads, dim=1)
        total = k.shape[2]
        mask = torch.tril(torch.ones(total, total))[:T, :total]
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(self.head_dim))
        att = att.masked_fill(mask == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.out_proj(y), att


# %% causal_without_a_cache
# is_causal = cache is None: with a cache there is "only one token".
# Expected: no_mask_with_a_cache


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f"{embed_dim} % {num_heads} != 0")
        if num_heads % num_kv_heads != 0:
            raise ValueError(f"{num_heads} % {num_kv_heads} != 0")
        self.h, self.h_kv, self.d = num_heads, num_kv_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, self.h_kv * self.d)
        self.v_proj = nn.Linear(embed_dim, self.h_kv * self.d)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        b, n, e = x.shape
        q = self.q_proj(x).reshape(b, n, self.h, self.d).permute(0, 2, 1, 3)
        k = self.k_proj(x).reshape(b, n, self.h_kv, self.d).permute(0, 2, 1, 3)
        v = self.v_proj(x).reshape(b, n, self.h_kv, self.d).permute(0, 2, 1, 3)
        if cache is not None:
            k, v = cache.update(k, v)
        k, v = k.repeat_interleave(self.h // self.h_kv, 1), v.repeat_interleave(self.h // self.h_kv, 1)
        scores = torch.einsum("bhid,bhjd->bhij", q, k) / self.d**0.5
        if cache is None:
            causal = torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)
            scores.masked_fill_(causal, float("-inf"))
        w = scores.softmax(-1)
        out = torch.einsum("bhij,bhjd->bhid", w, v).permute(0, 2, 1, 3).reshape(b, n, e)
        return self.out_proj(out), w


# %% offset_after_the_update
# The position of the first new token is read after update.
# Expected: no_mask_with_a_cache


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        b, n, e = x.shape
        q = self.q_proj(x).view(b, n, -1, self.head_dim).transpose(1, 2)
        k = self.k_proj(x).view(b, n, -1, self.head_dim).transpose(1, 2)
        v = self.v_proj(x).view(b, n, -1, self.head_dim).transpose(1, 2)
        start = 0
        if cache is not None:
            k, v = cache.update(k, v)
            start = cache.length
        k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)
        rows = torch.arange(n)[:, None] + start
        cols = torch.arange(k.shape[2])[None, :]
        scores = q @ k.mT / math.sqrt(self.head_dim)
        weights = scores.masked_fill(cols > rows, -torch.inf).softmax(dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).reshape(b, n, e)), weights


# %% no_bias
# bias=False, as in most public models.
# Expected: projections_without_bias


class GroupedQueryAttention(GroupedQueryAttention):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        nn.Module.__init__(self)
        if embed_dim % num_heads != 0:
            raise ValueError(f"embed_dim {embed_dim} must be divisible by num_heads {num_heads}")
        if num_heads % num_kv_heads != 0:
            raise ValueError(f"num_heads {num_heads} must be divisible by num_kv_heads {num_kv_heads}")
        self.n_rep = num_heads // num_kv_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, num_heads * self.head_dim, bias=False)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim, bias=False)
        self.out_proj = nn.Linear(num_heads * self.head_dim, embed_dim, bias=False)


# %% nothing_refused
# The sizes are divided with // and never checked.
# Expected: features_not_checked or heads_not_checked


class GroupedQueryAttention(GroupedQueryAttention):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        nn.Module.__init__(self)
        self.head_dim = embed_dim // num_heads
        self.n_rep = num_heads // num_kv_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)


# %% sizes_asserted
# assert for both sizes.
# Expected: features_assert or heads_assert


class GroupedQueryAttention(GroupedQueryAttention):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        nn.Module.__init__(self)
        assert embed_dim % num_heads == 0, f"{embed_dim} is not divisible by {num_heads}"
        assert num_heads % num_kv_heads == 0, f"{num_heads} is not divisible by {num_kv_heads}"
        self.head_dim = embed_dim // num_heads
        self.n_rep = num_heads // num_kv_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)


# %% view_as_heads
# .view(B, H, N, D) without a transpose, and back in the same way.
# Expected: heads_never_swapped or cut_without_transpose or merged_without_transpose


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        B, N, E = x.shape
        q = self.q_proj(x).view(B, -1, N, self.head_dim)
        k = self.k_proj(x).view(B, -1, N, self.head_dim)
        v = self.v_proj(x).view(B, -1, N, self.head_dim)
        if cache is not None:
            k, v = cache.update(k, v)
        k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)
        scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.head_dim)
        past = k.size(2) - N
        mask = torch.ones(N, k.size(2)).triu(past + 1).bool()
        weights = torch.softmax(scores.masked_fill(mask, float("-inf")), dim=-1)
        return self.out_proj(torch.matmul(weights, v).reshape(B, N, E)), weights


# %% scale_of_embed_dim
# Divides by embed_dim ** 0.5.
# Expected: scale_of_the_whole_width


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        B, N, E = x.shape
        q = self.q_proj(x).view(B, N, -1, self.head_dim).transpose(1, 2)
        k = self.k_proj(x).view(B, N, -1, self.head_dim).transpose(1, 2)
        v = self.v_proj(x).view(B, N, -1, self.head_dim).transpose(1, 2)
        if cache is not None:
            k, v = cache.update(k, v)
        k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)
        scores = torch.matmul(q, k.transpose(2, 3)) / E**0.5
        past = k.size(2) - N
        mask = torch.full((N, k.size(2)), float("-inf")).triu(past + 1)
        weights = torch.softmax(scores + mask, dim=-1)
        out = torch.matmul(weights, v).transpose(1, 2).reshape(B, N, E)
        return self.out_proj(out), weights


# %% update_for_next_time
# The cache is updated at the end, for the next call.
# Expected: cache_written_but_not_read


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        B, N, E = x.shape
        q = self.q_proj(x).view(B, N, -1, self.head_dim).transpose(1, 2)
        k = self.k_proj(x).view(B, N, -1, self.head_dim).transpose(1, 2)
        v = self.v_proj(x).view(B, N, -1, self.head_dim).transpose(1, 2)
        keys, values = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)
        scores = q @ keys.transpose(-2, -1) / math.sqrt(self.head_dim)
        mask = torch.triu(torch.full((N, N), -float("inf")), diagonal=1)
        weights = (scores + mask).softmax(-1)
        out = self.out_proj((weights @ values).transpose(1, 2).reshape(B, N, E))
        if cache is not None:
            cache.update(k, v)
        return out, weights


# %% repeated_before_the_cache
# The heads are repeated before they are kept, so the cache gets too many.
# Expected: no name: it only raises


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        B, N, E = x.shape
        q = self.q_proj(x).view(B, N, -1, self.head_dim).transpose(1, 2)
        k = repeat_kv(self.k_proj(x).view(B, N, -1, self.head_dim).transpose(1, 2), self.n_rep)
        v = repeat_kv(self.v_proj(x).view(B, N, -1, self.head_dim).transpose(1, 2), self.n_rep)
        if cache is not None:
            k, v = cache.update(k, v)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        mask = torch.ones(N, k.shape[2], dtype=torch.bool).tril(k.shape[2] - N)
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        return self.out_proj((weights @ v).transpose(1, 2).reshape(B, N, E)), weights


# %% square_mask
# triu of (n_new, n_new) is added to scores of (n_new, total): only a chunk behind others raises.
# Expected: no name: it only raises


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        bsz, seqlen, dim = x.shape
        xq = self.q_proj(x).view(bsz, seqlen, -1, self.head_dim).transpose(1, 2)
        xk = self.k_proj(x).view(bsz, seqlen, -1, self.head_dim).transpose(1, 2)
        xv = self.v_proj(x).view(bsz, seqlen, -1, self.head_dim).transpose(1, 2)
        if cache is not None:
            xk, xv = cache.update(xk, xv)
        keys, values = repeat_kv(xk, self.n_rep), repeat_kv(xv, self.n_rep)
        scores = torch.matmul(xq, keys.transpose(2, 3)) / math.sqrt(self.head_dim)
        if seqlen > 1:
            mask = torch.full((seqlen, seqlen), float("-inf"))
            scores = scores + torch.triu(mask, diagonal=1)
        scores = F.softmax(scores.float(), dim=-1).type_as(xq)
        output = torch.matmul(scores, values).transpose(1, 2).contiguous().view(bsz, seqlen, dim)
        return self.out_proj(output), scores


# %% view_after_transpose
# .view after .transpose, without .contiguous().
# Expected: no name: it only raises


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        B, N, E = x.shape
        q = self.q_proj(x).view(B, N, -1, self.head_dim).transpose(1, 2)
        k = self.k_proj(x).view(B, N, -1, self.head_dim).transpose(1, 2)
        v = self.v_proj(x).view(B, N, -1, self.head_dim).transpose(1, 2)
        if cache is not None:
            k, v = cache.update(k, v)
        k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        mask = torch.ones(N, k.shape[2], dtype=torch.bool).tril(k.shape[2] - N)
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        return self.out_proj((weights @ v).transpose(1, 2).view(B, N, E)), weights


# %% stacked_along_the_tokens
# torch.stack(outputs, dim=1): an axis too many.
# Expected: decode_stacks_beside_the_tokens


def decode(attention, x, cache):
    outs = []
    for t in range(x.shape[1]):
        out, _ = attention(x[:, t : t + 1], cache)
        outs.append(out)
    return torch.stack(outs, dim=1)


# %% joined_in_front
# torch.cat(outputs) without dim.
# Expected: decode_joins_the_batch


def decode(attention, x, cache):
    outputs = []
    for i in range(x.size(1)):
        token = x[:, i, :].unsqueeze(1)
        outputs.append(attention(token, cache=cache)[0])
    return torch.cat(outputs)


# %% prefix_without_a_cache
# The naive generation loop: everything so far, and no cache.
# Expected: decode_computes_all_tokens_again


def decode(attention, x, cache):
    out = torch.zeros_like(x)
    for t in range(x.shape[1]):
        y, _ = attention(x[:, : t + 1])
        out[:, t] = y[:, -1]
    return out


# %% prefix_into_the_cache
# Everything so far goes into the cache at each step.
# Expected: decode_gives_all_tokens_so_far


def decode(attention, x, cache):
    outputs = []
    for t in range(1, x.shape[1] + 1):
        y, w = attention(x[:, :t], cache)
        outputs.append(y[:, -1:, :])
    return torch.cat(outputs, dim=1)


# %% one_call
# return attention(x, cache)[0].
# Expected: decode_all_at_once


def decode(attention, x, cache):
    output, _ = attention(x, cache)
    return output


# %% reset_first
# cache.reset() before the loop, to be sure.
# Expected: decode_resets_the_cache


def decode(attention, x, cache):
    cache.reset()
    return torch.cat([attention(x[:, [t]], cache)[0] for t in range(x.shape[1])], dim=1)


# %% token_without_its_axis
# x[:, t] is (B, E).
# Expected: no name: it only raises


def decode(attention, x, cache):
    outputs = []
    for t in range(x.shape[1]):
        out, _ = attention(x[:, t], cache)
        outputs.append(out)
    return torch.stack(outputs, dim=1)


# %% keys_only
# The 2 is missing.
# Expected: bytes_of_the_keys


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    return batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value


# %% megabytes
# Divided by 1024 ** 2.
# Expected: bytes_in_megabytes


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    values = 2 * batch * num_layers * num_kv_heads * max_len * head_dim
    return values * bytes_per_value / 1024**2


# %% cat_without_any_check
# torch.cat onto an empty tensor, and nothing is checked.
# Expected: full_cache_grows or other_lengths_not_checked


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.keys = torch.empty(batch, num_kv_heads, 0, head_dim, dtype=dtype)
        self.values = torch.empty(batch, num_kv_heads, 0, head_dim, dtype=dtype)

    @property
    def length(self):
        return self.keys.shape[2]

    def update(self, k, v):
        self.keys = torch.cat([self.keys, k], 2)
        self.values = torch.cat([self.values, v], 2)
        return self.keys, self.values

    def reset(self):
        self.keys = self.keys[:, :, :0]
        self.values = self.values[:, :, :0]
