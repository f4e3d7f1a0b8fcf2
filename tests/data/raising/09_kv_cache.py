"""Right code with one slip that raises."""

# %% attribute_before
# An attribute that was never set.
# Expected: no name; no line has set self.used
class KVCache:

    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.keys = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self.values = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)

    @property
    def length(self):
        return self.used

    def update(self, k, v):
        if k.shape[2] != v.shape[2]:
            raise ValueError(f'there are {k.shape[2]} new keys but {v.shape[2]} new values')
        end = self.used + k.shape[2]
        if end > self.keys.shape[2]:
            raise ValueError(f'{end} tokens do not fit into a cache for {self.keys.shape[2]}')
        self.keys[:, :, self.used:end] = k
        self.values[:, :, self.used:end] = v
        self.used = end
        return (self.keys[:, :, :end], self.values[:, :, :end])

    def reset(self):
        self.used = 0


# %% repeat_of_a_keyword
# A misspelt keyword.
# Expected: no name; repeat_kv
def repeat_kv(x, n_rep):
    return x.repeat_interleave(n_rep, dims=1)


# %% head_dim_forgotten
# Self is missing.
# Expected: no name; nothing has the name head_dim here
class GroupedQueryAttention(nn.Module):

    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f'{embed_dim} features cannot be cut into {num_heads} heads of the same width')
        if num_heads % num_kv_heads != 0:
            raise ValueError(f'{num_heads} heads cannot share {num_kv_heads} key-value heads evenly')
        self.head_dim = embed_dim // num_heads
        self.n_rep = num_heads // num_kv_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x, cache=None):
        batch, n_new, _ = x.shape
        q, k, v = (projection(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for projection in (self.q_proj, self.k_proj, self.v_proj))
        if cache is not None:
            k, v = cache.update(k, v)
        k, v = (repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep))
        scores = q @ k.transpose(-1, -2) / math.sqrt(head_dim)
        total = k.shape[2]
        allowed = torch.ones(n_new, total, dtype=torch.bool, device=x.device).tril(total - n_new)
        weights = torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-1)
        merged = (weights @ v).transpose(1, 2).reshape(batch, n_new, -1)
        return (self.out_proj(merged), weights)


# %% cat_of_a_generator
# A tensor is called.
# Expected: no name; round brackets behind a tensor
def decode(attention, x, cache):
    outputs = attention(x, cache)[0][None]()
    return torch.cat(outputs, dim=1)
