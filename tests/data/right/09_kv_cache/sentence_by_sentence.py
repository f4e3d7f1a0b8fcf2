import torch
from torch import nn


class KVCache:
    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=torch.float32):
        self.memory = torch.zeros(2, batch, num_kv_heads, max_len, head_dim, dtype=dtype)
        self.counter = torch.tensor(0)

    @property
    def length(self):
        return int(self.counter)

    def update(self, k, v):
        if k.shape != v.shape:
            raise ValueError(f"k has length {k.shape[2]}, v has length {v.shape[2]}")
        start = int(self.counter)
        room = self.memory.shape[3]
        if start + k.shape[2] > room:
            raise ValueError(f"Cache overflow: length {start + k.shape[2]} > max_len {room}")
        for part, new in enumerate((k, v)):
            for sentence in range(k.shape[0]):
                self.memory[part, sentence, :, start : start + k.shape[2]] = new[sentence]
        self.counter += k.shape[2]
        return self.memory[0, :, :, : self.length], self.memory[1, :, :, : self.length]

    def reset(self):
        self.counter.zero_()


def repeat_kv(x, n_rep):
    return torch.stack([x] * n_rep, dim=2).flatten(1, 2)


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, num_kv_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"embed_dim ({embed_dim}) must be a multiple of num_heads ({num_heads})")
        if num_heads % num_kv_heads:
            raise ValueError(f"num_heads ({num_heads}) must be a multiple of num_kv_heads ({num_kv_heads})")
        self.num_heads = num_heads
        self.num_kv_heads = num_kv_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, num_heads * self.head_dim, bias=True)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim, bias=True)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim, bias=True)
        self.out_proj = nn.Linear(num_heads * self.head_dim, embed_dim, bias=True)
        self.softmax = nn.Softmax(dim=-1)

    def project(self, layer, x, heads):
        made = layer(x)
        return torch.stack([made[..., h * self.head_dim : (h + 1) * self.head_dim] for h in range(heads)], dim=1)

    def forward(self, x, cache=None):
        q = self.project(self.q_proj, x, self.num_heads)
        k = self.project(self.k_proj, x, self.num_kv_heads)
        v = self.project(self.v_proj, x, self.num_kv_heads)
        if cache is not None:
            k, v = cache.update(k, v)
        n_rep = self.num_heads // self.num_kv_heads
        k, v = repeat_kv(k, n_rep), repeat_kv(v, n_rep)
        n, total = q.shape[2], k.shape[2]
        results = []
        for b in range(len(x)):  # one sentence after another
            scores = torch.bmm(q[b], k[b].transpose(1, 2)) / self.head_dim**0.5
            blocked = torch.triu(torch.ones(n, total, dtype=torch.bool), diagonal=total - n + 1)
            weights = self.softmax(scores.masked_fill(blocked, float("-inf")))
            results.append((torch.bmm(weights, v[b]).transpose(0, 1).reshape(n, -1), weights))
        merged = torch.stack([one for one, _ in results])
        return self.out_proj(merged), torch.stack([one for _, one in results])


@torch.no_grad()
def decode(attention, x, cache):
    outputs = []
    for index in range(x.size(1)):
        token = x[:, [index], :]
        output, weights = attention(token, cache=cache)
        assert weights.shape[-1] == cache.length
        outputs.append(output)
    return torch.cat(outputs, 1)


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    per_token_and_layer = 2 * num_kv_heads * head_dim
    return per_token_and_layer * num_layers * max_len * batch * bytes_per_value


REFLECT_KV_BYTES_70B_N4096_GQA8 = int(1.25 * 2**30)
REFLECT_KV_BYTES_70B_N4096_MHA64 = 10 * 2**30
