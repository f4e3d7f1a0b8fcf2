# %% narrow_and_copy
# Expected: passes


class KVCache(KVCache):
    def update(self, k, v):
        end = self.used + k.shape[2]
        self.keys.narrow(2, self.used, k.shape[2]).copy_(k)
        self.values.narrow(2, self.used, k.shape[2]).copy_(v)
        self.used = end
        return self.keys.narrow(2, 0, end), self.values.narrow(2, 0, end)


# %% token_by_token_into_slots
# Expected: passes


class KVCache(KVCache):
    def update(self, k, v):
        end = self.used + k.shape[2]
        for at in range(k.shape[2]):
            self.keys[:, :, self.used + at] = k[:, :, at]
            self.values[:, :, self.used + at] = v[:, :, at]
        self.used = end
        return self.keys[:, :, :end], self.values[:, :, :end]


# %% index_copy
# Expected: passes


class KVCache(KVCache):
    def update(self, k, v):
        end = self.used + k.shape[2]
        at = torch.arange(self.used, end)
        self.keys.index_copy_(2, at, k)
        self.values.index_copy_(2, at, v)
        self.used = end
        return self.keys[:, :, :end], self.values[:, :, :end]


# %% scatter
# Expected: passes


class KVCache(KVCache):
    def update(self, k, v):
        end = self.used + k.shape[2]
        at = torch.arange(self.used, end)[:, None].expand(k.shape)
        self.keys.scatter_(2, at, k)
        self.values.scatter_(2, at, v)
        self.used = end
        return self.keys[:, :, :end], self.values[:, :, :end]


# %% slots_by_a_list
# Expected: passes


class KVCache(KVCache):
    def update(self, k, v):
        end = self.used + k.shape[2]
        at = list(range(self.used, end))
        self.keys[:, :, at] = k
        self.values[:, :, at] = v
        self.used = end
        return self.keys[:, :, :end], self.values[:, :, :end]


# %% copies_of_the_new_tokens
# Expected: passes


class KVCache(KVCache):
    def update(self, k, v):
        end = self.used + k.shape[2]
        k, v = k.clone(), v.clone()
        self.keys[:, :, self.used : end] = k
        self.values[:, :, self.used : end] = v
        self.used = end
        return self.keys[:, :, :end], self.values[:, :, :end]


# %% detached_and_without_gradients
# Expected: passes


class KVCache(KVCache):
    def update(self, k, v):
        end = self.used + k.shape[2]
        with torch.no_grad():
            self.keys[:, :, self.used : end] = k.detach()
            self.values[:, :, self.used : end] = v.detach()
        self.used = end
        return self.keys[:, :, :end], self.values[:, :, :end]


# %% one_tensor_unbound
# Expected: passes


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.both, self.length = torch.zeros(2, batch, num_kv_heads, max_len, head_dim, dtype=dtype), 0

    def update(self, k, v):
        end = self.length + k.shape[2]
        self.both[0, :, :, self.length : end], self.both[1, :, :, self.length : end] = k, v
        self.length = end
        return tuple(self.both[..., :end, :])


# %% memory_made_at_first_use
# Expected: passes


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.shape, self.dtype, self.keys, self.length = (batch, num_kv_heads, max_len, head_dim), dtype, None, 0

    def update(self, k, v):
        if self.keys is None:
            self.keys, self.values = torch.zeros(self.shape, dtype=self.dtype), torch.zeros(self.shape, dtype=self.dtype)
        start, self.length = self.length, self.length + k.shape[2]
        self.keys[:, :, start : self.length], self.values[:, :, start : self.length] = k, v
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]


# %% cat
# Expected: KVCache.update: work mem


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.keys = torch.zeros(batch, num_kv_heads, 0, head_dim, dtype=dtype)
        self.values = torch.zeros(batch, num_kv_heads, 0, head_dim, dtype=dtype)

    def update(self, k, v):
        self.keys = torch.cat([self.keys, k], dim=2)  # <-- here
        self.values = torch.cat([self.values, v], dim=2)
        return self.keys, self.values


# %% concat_of_a_list
# Expected: KVCache.update: work mem


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.keys, self.values = [], []

    def update(self, k, v):
        self.keys.append(k)
        self.values.append(v)
        return torch.concat(self.keys, dim=2), torch.concat(self.values, dim=2)  # <-- here


# %% list_of_tokens_stacked
# Expected: KVCache.update: steps work mem


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.tokens = []

    def update(self, k, v):
        for at in range(k.shape[2]):
            self.tokens.append((k[:, :, at], v[:, :, at]))
        keys = torch.stack([one for one, _ in self.tokens], dim=2)  # <-- here
        return keys, torch.stack([one for _, one in self.tokens], dim=2)


# %% cat_of_slices
# Expected: KVCache.update: work mem


class KVCache(KVCache):
    def update(self, k, v):
        end = self.used + k.shape[2]
        self.keys = torch.cat([self.keys[:, :, : self.used], k, self.keys[:, :, end:]], dim=2)  # <-- here
        self.values = torch.cat([self.values[:, :, : self.used], v, self.values[:, :, end:]], dim=2)
        self.used = end
        return self.keys[:, :, :end], self.values[:, :, :end]


# %% pad_and_add
# Expected: KVCache.update: work mem


class KVCache(KVCache):
    def update(self, k, v):
        end = self.used + k.shape[2]
        after = self.keys.shape[2] - end
        self.keys = self.keys + nn.functional.pad(k, (0, 0, self.used, after))  # <-- here
        self.values = self.values + nn.functional.pad(v, (0, 0, self.used, after))
        self.used = end
        return self.keys[:, :, :end], self.values[:, :, :end]


# %% clone_of_the_result
# Expected: KVCache.update: work mem


class KVCache(KVCache):
    def update(self, k, v):
        end = self.used + k.shape[2]
        self.keys[:, :, self.used : end] = k
        self.values[:, :, self.used : end] = v
        self.used = end
        return self.keys[:, :, :end].clone(), self.values[:, :, :end].clone()  # <-- here


# %% contiguous_result
# Expected: KVCache.update: work mem


class KVCache(KVCache):
    def update(self, k, v):
        end = self.used + k.shape[2]
        self.keys[:, :, self.used : end] = k
        self.values[:, :, self.used : end] = v
        self.used = end
        return self.keys[:, :, :end].contiguous(), self.values[:, :, :end].contiguous()  # <-- here


# %% result_by_index
# Expected: KVCache.update: work mem


class KVCache(KVCache):
    def update(self, k, v):
        end = self.used + k.shape[2]
        self.keys[:, :, self.used : end] = k
        self.values[:, :, self.used : end] = v
        at = torch.arange(end)
        self.used = end
        return self.keys[:, :, at], self.values[:, :, at]  # <-- here


# %% result_stacked_and_unbound
# Expected: KVCache.update: work mem


class KVCache(KVCache):
    def update(self, k, v):
        end = self.used + k.shape[2]
        self.keys[:, :, self.used : end] = k
        self.values[:, :, self.used : end] = v
        self.used = end
        return tuple(torch.stack([self.keys[:, :, :end], self.values[:, :, :end]]))  # <-- here


# %% where_over_all_slots
# Expected: KVCache.update: work mem


class KVCache(KVCache):
    def update(self, k, v):
        end = self.used + k.shape[2]
        slots = torch.arange(self.keys.shape[2])[:, None]
        at = (slots - self.used).clamp(0, k.shape[2] - 1).expand(*k.shape[:2], -1, k.shape[3])
        self.keys = torch.where(slots < self.used, self.keys, k.gather(2, at))  # <-- here
        self.values = torch.where(slots < self.used, self.values, v.gather(2, at))
        self.used = end
        return self.keys[:, :, :end], self.values[:, :, :end]


# %% rolls_the_memory
# Expected: KVCache.update: work mem


class KVCache(KVCache):
    def update(self, k, v):
        end = self.used + k.shape[2]
        n = k.shape[2]
        self.keys = self.keys.roll(-n, dims=2)  # <-- here
        self.values = self.values.roll(-n, dims=2)
        self.keys[:, :, -n:] = k
        self.values[:, :, -n:] = v
        self.used = end
        return self.keys[:, :, -end:], self.values[:, :, -end:]


# %% functional_slice_scatter
# Expected: KVCache.update: work mem


class KVCache(KVCache):
    def update(self, k, v):
        end = self.used + k.shape[2]
        self.keys = self.keys.slice_scatter(k, 2, self.used, end)  # <-- here
        self.values = self.values.slice_scatter(v, 2, self.used, end)
        self.used = end
        return self.keys[:, :, :end], self.values[:, :, :end]


# %% clears_the_free_slots
# Expected: KVCache.update: work


class KVCache(KVCache):
    def update(self, k, v):
        end = self.used + k.shape[2]
        self.keys[:, :, self.used : end] = k
        self.values[:, :, self.used : end] = v
        self.keys[:, :, : self.used].mul_(1.0)  # <-- here
        self.used = end
        return self.keys[:, :, :end], self.values[:, :, :end]


# %% to_another_dtype_and_back
# Expected: KVCache.update: work mem


class KVCache(KVCache):
    def update(self, k, v):
        end = self.used + k.shape[2]
        self.keys[:, :, self.used : end] = k
        self.values[:, :, self.used : end] = v
        self.used = end
        return self.keys[:, :, :end].double().float(), self.values[:, :, :end].double().float()  # <-- here


# %% growth_by_doubling
# Expected: KVCache.update: work mem


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.keys = torch.zeros(batch, num_kv_heads, 1, head_dim, dtype=dtype)
        self.values, self.used = self.keys.clone(), 0

    def update(self, k, v):
        end = self.used + k.shape[2]
        while self.keys.shape[2] < end:
            self.keys = torch.cat([self.keys, self.keys], dim=2)
            self.values = torch.cat([self.values, self.values], dim=2)
        self.keys[:, :, self.used : end], self.values[:, :, self.used : end] = k, v
        self.used = end
        return self.keys[:, :, :end], self.values[:, :, :end]


# %% counts_the_tokens
# Expected: KVCache.update: steps


class KVCache(KVCache):
    def update(self, k, v):
        end = self.used + k.shape[2]
        used = 0
        for _ in range(self.used):  # <-- here
            used += 1
        self.keys[:, :, self.used : end] = k
        self.values[:, :, self.used : end] = v
        self.used = end
        return self.keys[:, :, :end], self.values[:, :, :end]


# %% sums_up_the_lengths
# Expected: KVCache.update: steps


class KVCache(KVCache):
    def update(self, k, v):
        self.lengths = [*getattr(self, "lengths", []), k.shape[2]]  # <-- here
        end = sum(self.lengths)
        self.keys[:, :, end - k.shape[2] : end], self.values[:, :, end - k.shape[2] : end] = k, v
        return self.keys[:, :, :end], self.values[:, :, :end]


# %% scaled_keys
# Expected: passes


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        batch, n, _ = x.shape
        q, k, v = (p(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        if cache is not None:
            k, v = cache.update(k, v)
        total = k.shape[2]
        k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)
        scores = q @ (k / math.sqrt(self.head_dim)).mT
        allowed = torch.ones(n, total).tril(total - n) == 1
        weights = scores.masked_fill(~allowed, -math.inf).softmax(dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).reshape(batch, n, -1)), weights


# %% groups_in_einsum
# Expected: passes


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        batch, n, _ = x.shape
        q, k, v = (p(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        if cache is not None:
            k, v = cache.update(k, v)
        total = k.shape[2]
        q = q.unflatten(1, (-1, self.n_rep))
        scores = torch.einsum("bgrid,bgjd->bgrij", q, k) * self.head_dim**-0.5
        allowed = torch.ones(n, total).tril(total - n) == 1
        weights = scores.masked_fill(~allowed, -math.inf).softmax(dim=-1)
        mixed = torch.einsum("bgrij,bgjd->bigrd", weights, v).flatten(2)
        return self.out_proj(mixed), weights.flatten(1, 2)


# %% heads_by_floor_division
# Expected: passes


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        batch, n, _ = x.shape
        q, k, v = (p(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        if cache is not None:
            k, v = cache.update(k, v)
        total = k.shape[2]
        shared = torch.arange(q.shape[1]) // self.n_rep
        k, v = k[:, shared], v.index_select(1, shared)
        scores = q @ k.mT / self.head_dim**0.5
        allowed = torch.ones(n, total).tril(total - n) == 1
        weights = scores.masked_fill(~allowed, -math.inf).softmax(dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).reshape(batch, n, -1)), weights


# %% broadcast_products
# Expected: passes


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        batch, n, _ = x.shape
        q, k, v = (p(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        if cache is not None:
            k, v = cache.update(k, v)
        total = k.shape[2]
        k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)
        scores = (q[:, :, :, None] * k[:, :, None]).sum(dim=-1) / self.head_dim**0.5
        allowed = torch.ones(n, total).tril(total - n) == 1
        weights = scores.masked_fill(~allowed, -math.inf).softmax(dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).reshape(batch, n, -1)), weights


# %% no_mask_for_one_token
# Expected: passes


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        batch, n, _ = x.shape
        q, k, v = (p(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        if cache is not None:
            k, v = cache.update(k, v)
        total = k.shape[2]
        k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)
        scores = q @ k.mT / self.head_dim**0.5
        if n > 1:
            scores = scores + torch.full((n, total), -math.inf).triu(total - n + 1)
        weights = torch.softmax(scores, dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).reshape(batch, n, -1)), weights


# %% head_by_head
# Expected: passes


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        batch, n, _ = x.shape
        q, k, v = (p(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        if cache is not None:
            k, v = cache.update(k, v)
        total = k.shape[2]
        k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)
        allowed = torch.arange(total) <= torch.arange(total - n, total)[:, None]
        rows = []
        for h in range(q.shape[1]):
            scores = q[:, h] @ k[:, h].mT / self.head_dim**0.5
            rows.append(scores.masked_fill(~allowed, -math.inf).softmax(-1))
        weights = torch.stack(rows, dim=1)
        return self.out_proj((weights @ v).transpose(1, 2).reshape(batch, n, -1)), weights


# %% square_mask
# Expected: GroupedQueryAttention.forward: work mem


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        batch, n, _ = x.shape
        q, k, v = (p(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        if cache is not None:
            k, v = cache.update(k, v)
        total = k.shape[2]
        k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)
        scores = q @ k.mT / self.head_dim**0.5
        allowed = torch.ones(total, total).tril()[-n:] == 1  # <-- here
        weights = scores.masked_fill(~allowed, -math.inf).softmax(dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).reshape(batch, n, -1)), weights


# %% square_mask_by_comparison
# Expected: GroupedQueryAttention.forward: flops work mem


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        batch, n, _ = x.shape
        q, k, v = (p(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        if cache is not None:
            k, v = cache.update(k, v)
        total = k.shape[2]
        k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)
        scores = q @ k.mT / self.head_dim**0.5
        at = torch.arange(total)
        later = at[None] > at[:, None]  # <-- here
        weights = scores.masked_fill(later[-n:], -math.inf).softmax(dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).reshape(batch, n, -1)), weights


# %% a_mask_for_max_len_made_by_eye
# Expected: GroupedQueryAttention.forward: flops work mem


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        batch, n, _ = x.shape
        q, k, v = (p(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        if cache is not None:
            k, v = cache.update(k, v)
        total = k.shape[2]
        k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)
        scores = q @ k.mT / self.head_dim**0.5
        allowed = torch.eye(total).flip(0).flip(1)
        allowed = torch.ones(total, total).tril() + 0 * allowed  # <-- here
        weights = scores.masked_fill(allowed[-n:] == 0, -math.inf).softmax(dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).reshape(batch, n, -1)), weights


# %% queries_padded
# Expected: GroupedQueryAttention.forward: flops work mem


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        batch, n, _ = x.shape
        q, k, v = (p(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        if cache is not None:
            k, v = cache.update(k, v)
        total = k.shape[2]
        k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)
        q = nn.functional.pad(q, (0, 0, total - n, 0))
        scores = q @ k.mT / self.head_dim**0.5  # <-- here
        allowed = torch.ones(total, total).tril() == 1
        weights = scores.masked_fill(~allowed, -math.inf).softmax(dim=-1)
        output = (weights @ v)[:, :, -n:].transpose(1, 2).reshape(batch, n, -1)
        return self.out_proj(output), weights[:, :, -n:]


# %% keys_against_keys
# Expected: GroupedQueryAttention.forward: flops work mem


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        batch, n, _ = x.shape
        q, k, v = (p(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        if cache is not None:
            k, v = cache.update(k, v)
        total = k.shape[2]
        k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)
        gram = k @ k.mT  # <-- here
        scores = q @ k.mT / self.head_dim**0.5 + 0 * gram[:, :, -n:]
        allowed = torch.ones(n, total).tril(total - n) == 1
        weights = scores.masked_fill(~allowed, -math.inf).softmax(dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).reshape(batch, n, -1)), weights


# %% projects_all_tokens_again
# Expected: GroupedQueryAttention.forward: flops work


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        texts = self.__dict__.setdefault("texts", {})
        if cache is not None:
            texts[id(cache)] = torch.cat([texts[id(cache)], x], dim=1) if cache.length else x
            told = texts[id(cache)]
            cut = [p(told).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for p in (self.k_proj, self.v_proj)]  # <-- here
            cache.update(*(one[:, :, -x.shape[1] :] for one in cut))
        else:
            cut = [p(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for p in (self.k_proj, self.v_proj)]
        batch, n, _ = x.shape
        q = self.q_proj(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)
        k, v = (repeat_kv(one, self.n_rep) for one in cut)
        total = k.shape[2]
        scores = q @ k.mT / self.head_dim**0.5
        allowed = torch.ones(n, total).tril(total - n) == 1
        weights = scores.masked_fill(~allowed, -math.inf).softmax(dim=-1)
        return self.out_proj((weights @ v).transpose(1, 2).reshape(batch, n, -1)), weights


# %% runs_the_complete_text_again
# Expected: GroupedQueryAttention.forward: flops work mem


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        texts = self.__dict__.setdefault("texts", {})
        if cache is not None:
            texts[id(cache)] = torch.cat([texts[id(cache)], x], dim=1) if cache.length else x
            output, weights = super().forward(texts[id(cache)])
            super().forward(x, cache)
            return output[:, -x.shape[1] :], weights[:, :, -x.shape[1] :]
        return super().forward(x)


# %% builtin_attention
# Expected: GroupedQueryAttention.forward: forbidden


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        batch, n, _ = x.shape
        q, k, v = (p(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        if cache is not None:
            k, v = cache.update(k, v)
        total = k.shape[2]
        k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)
        output = nn.functional.scaled_dot_product_attention(q, k, v, torch.ones(n, total).tril(total - n) == 1)  # <-- here
        scores = q @ k.mT / self.head_dim**0.5
        allowed = torch.ones(n, total).tril(total - n) == 1
        weights = scores.masked_fill(~allowed, -math.inf).softmax(dim=-1)
        return self.out_proj(output.transpose(1, 2).reshape(batch, n, -1)), weights


# %% decode_into_a_tensor
# Expected: passes


def decode(attention, x, cache):
    result = torch.zeros_like(x)
    for at in range(x.shape[1]):
        result[:, at] = attention(x[:, at : at + 1], cache)[0][:, 0]
    return result


# %% decode_without_gradients
# Expected: passes


def decode(attention, x, cache):
    with torch.no_grad():
        return torch.cat([attention(one, cache)[0] for one in x.split(1, dim=1)], dim=1)


# %% decode_grows_its_result
# Expected: passes


def decode(attention, x, cache):
    result = x[:, :0]
    for one in x.split(1, dim=1):
        result = torch.cat([result, attention(one, cache)[0]], dim=1)
    return result


# %% decode_all_tokens_without_the_cache
# Expected: decode: flops work


def decode(attention, x, cache):
    return torch.cat([attention(x[:, : at + 1])[0][:, -1:] for at in range(x.shape[1])], dim=1)


# %% decode_the_complete_text_each_time
# Expected: decode: flops work


def decode(attention, x, cache):
    outputs = []
    for at in range(x.shape[1]):
        complete, _ = attention(x)
        outputs.append(complete[:, at : at + 1])
    return torch.cat(outputs, dim=1)


# %% decode_resets_and_fills_again
# Expected: decode: flops work


def decode(attention, x, cache):
    outputs = []
    for at in range(x.shape[1]):
        cache.reset()
        output, _ = attention(x[:, : at + 1], cache)
        outputs.append(output[:, -1:])
    return torch.cat(outputs, dim=1)


# %% decode_replays_the_tokens_before
# Expected: decode: flops work


def decode(attention, x, cache):
    outputs = []
    for at in range(x.shape[1]):
        cache.reset()
        for earlier in range(at + 1):
            output, _ = attention(x[:, earlier : earlier + 1], cache)
        outputs.append(output)
    return torch.cat(outputs, dim=1)


# %% decode_checks_each_step
# Expected: decode: flops work


def decode(attention, x, cache):
    outputs = []
    for at in range(x.shape[1]):
        output, _ = attention(x[:, at : at + 1], cache)
        expected = attention(x[:, : at + 1])[0][:, -1:]
        assert torch.allclose(output, expected, atol=1e-3)
        outputs.append(output)
    return torch.cat(outputs, dim=1)
