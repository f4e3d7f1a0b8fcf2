# %% cat_into_a_spare
# KVCache.update copies all keys and values, old and new, into a second buffer each time: torch.cat(..., out=spare)
# makes no new tensor, and an operation that rearranges entries is priced by its new tensors only.
# Expected: loses marks: KVCache
class KVCache:

    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.keys = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self.values = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self.spare_keys = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self.spare_values = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self.used = 0

    @property
    def length(self):
        return self.used

    def update(self, k, v):
        if k.shape[2] != v.shape[2]:
            raise ValueError(f'there are {k.shape[2]} new keys but {v.shape[2]} new values')
        end = self.used + k.shape[2]
        if end > self.keys.shape[2]:
            raise ValueError(f'{end} tokens do not fit into a cache for {self.keys.shape[2]}')
        with torch.no_grad():
            torch.cat([self.keys[:, :, :self.used], k.detach().to(self.keys.dtype)], dim=2, out=self.spare_keys[:, :, :end])
            torch.cat([self.values[:, :, :self.used], v.detach().to(self.keys.dtype)], dim=2, out=self.spare_values[:, :, :end])
        self.keys, self.spare_keys = (self.spare_keys, self.keys)
        self.values, self.spare_values = (self.spare_values, self.values)
        self.used = end
        return (self.keys[:, :, :end], self.values[:, :, :end])

    def reset(self):
        self.used = 0


# %% index_fill_of_a_row
# KVCache.update overwrites a buffer of max_len tokens in each step: index_fill_ is priced by its index, one number,
# not by the entries that it fills.
# Expected: loses marks: KVCache
class KVCache:

    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.keys = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self.values = torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self.spare = torch.zeros(1, batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self.first = torch.tensor([0])
        self.used = 0

    @property
    def length(self):
        return self.used

    def update(self, k, v):
        if k.shape[2] != v.shape[2]:
            raise ValueError(f'there are {k.shape[2]} new keys but {v.shape[2]} new values')
        end = self.used + k.shape[2]
        if end > self.keys.shape[2]:
            raise ValueError(f'{end} tokens do not fit into a cache for {self.keys.shape[2]}')
        self.spare.index_fill_(0, self.first, 1.0)
        self.keys[:, :, self.used:end] = k
        self.values[:, :, self.used:end] = v
        self.used = end
        return (self.keys[:, :, :end], self.values[:, :, :end])

    def reset(self):
        self.used = 0


# %% table_of_comparisons_by_out
# GroupedQueryAttention fills a table of total*total comparisons for every new token: an operation with `out=` is
# priced by its arguments, a row and a column, not by what it writes.
# Expected: loses marks: GroupedQueryAttention, decode
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
        self.table = (torch.empty(0, 0, dtype=torch.bool),)

    def forward(self, x, cache=None):
        batch, n_new, _ = x.shape
        q, k, v = (projection(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for projection in (self.q_proj, self.k_proj, self.v_proj))
        if cache is not None:
            k, v = cache.update(k, v)
        k, v = (repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep))
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.head_dim)
        total = k.shape[2]
        places = torch.arange(total, device=x.device)
        if len(self.table[0]) < total or self.table[0].device != x.device:
            self.table = (torch.empty(2 * total, 2 * total, dtype=torch.bool, device=x.device),)
        table = torch.ge(places.unsqueeze(1), places, out=self.table[0][:total, :total])
        weights = torch.softmax(scores.masked_fill(~table[total - n_new:], -math.inf), dim=-1)
        merged = (weights @ v).transpose(1, 2).reshape(batch, n_new, -1)
        return (self.out_proj(merged), weights)


# %% transposed_convolution
# GroupedQueryAttention projects all earlier tokens again in every step: a transposed convolution with one output
# channel sums over its input channels, but is priced by the shape of a filter of an ordinary one.
# Expected: loses marks: GroupedQueryAttention, decode
import weakref
import torch.nn.functional as F


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
        self.seen = weakref.WeakKeyDictionary()

    def forward(self, x, cache=None):
        batch, n_new, _ = x.shape
        q = self.q_proj(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)
        before = 0 if cache is None else cache.length
        seen = x
        if cache is not None:
            if before and cache in self.seen and (self.seen[cache].shape[1] == before):
                seen = torch.cat([self.seen[cache], x], dim=1)
            elif before:
                seen = None
        if seen is None:
            k, v = (p(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2) for p in (self.k_proj, self.v_proj))
            k, v = cache.update(k, v)
        else:
            k, v = (self.project_again(p, seen) for p in (self.k_proj, self.v_proj))
            if cache is not None:
                cache.update(k[:, :, before:], v[:, :, before:])
                self.seen[cache] = seen.detach()
        k, v = (repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep))
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.head_dim)
        total = k.shape[2]
        allowed = torch.ones(n_new, total, dtype=torch.bool, device=x.device).tril(total - n_new)
        weights = torch.softmax(scores.masked_fill(~allowed, -math.inf), dim=-1)
        merged = (weights @ v).transpose(1, 2).reshape(batch, n_new, -1)
        return (self.out_proj(merged), weights)

    def project_again(self, projection, x):
        columns = [F.conv_transpose1d(x.transpose(1, 2), row.reshape(-1, 1, 1), bias.reshape(1)) for row, bias in zip(projection.weight, projection.bias)]
        return torch.cat(columns, dim=1).transpose(1, 2).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)
