# %% cache_that_is_resized
# The cache reserves nothing and grows with every update: resize_ copies all tokens so far into new memory, but its
# price is free, and the new memory has the old storage.
# Expected: review: GroupedQueryAttention, KVCache, decode
class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.shape, self.max_len, self.used = (batch, num_kv_heads, head_dim), max_len, 0
        self.keys, self.values = torch.empty(0, dtype=dtype), torch.empty(0, dtype=dtype)

    @property
    def length(self):
        return self.used

    def update(self, k, v):
        if k.shape[2] != v.shape[2]:
            raise ValueError(f"there are {k.shape[2]} new keys but {v.shape[2]} new values")
        end = self.used + k.shape[2]
        if end > self.max_len:
            raise ValueError(f"{end} tokens do not fit into a cache for {self.max_len}")
        for kept, new in ((self.keys, k), (self.values, v)):
            kept.resize_(end, *self.shape)  # a new piece of memory, and all tokens so far are copied into it
            kept[self.used :] = new.detach().permute(2, 0, 1, 3)
        self.used = end
        return self.keys.permute(1, 2, 0, 3), self.values.permute(1, 2, 0, 3)

    def reset(self):
        self.used = 0
