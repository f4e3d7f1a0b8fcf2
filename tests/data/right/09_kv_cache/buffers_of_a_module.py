import torch
from torch import Tensor, nn


class KVCache(nn.Module):
    def __init__(self, batch: int, num_kv_heads: int, max_len: int, head_dim: int, dtype=torch.float32) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype))
        self.register_buffer("values", torch.zeros(batch, num_kv_heads, max_len, head_dim, dtype=dtype))
        self.max_len = max_len
        self.position = 0

    @property
    def length(self) -> int:
        return self.position

    @torch.no_grad()
    def update(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        if k.shape[2] != v.shape[2]:
            raise ValueError(f"different lengths: {k.shape[2]} and {v.shape[2]}")
        needed = self.position + k.shape[2]
        if needed > self.max_len:
            raise ValueError(f"length {needed} is larger than max_len {self.max_len}")
        new = slice(self.position, needed)
        self.keys[:, :, new].copy_(k)
        self.values[:, :, new].copy_(v)
        self.position = needed
        return self.keys[:, :, :needed], self.values[:, :, :needed]

    def reset(self) -> None:
        self.position = 0
        self.keys.zero_()
        self.values.zero_()


def repeat_kv(x: Tensor, n_rep: int) -> Tensor:
    return x.unsqueeze(2).repeat(1, 1, n_rep, 1, 1).flatten(1, 2)


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int, num_kv_heads: int) -> None:
        super().__init__()
        if embed_dim % num_heads or num_heads % num_kv_heads:
            raise ValueError(f"numbers do not divide: {embed_dim} features, {num_heads} heads, {num_kv_heads} shared")
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, num_heads * self.head_dim)
        self.k_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.v_proj = nn.Linear(embed_dim, num_kv_heads * self.head_dim)
        self.out_proj = nn.Linear(num_heads * self.head_dim, embed_dim)
        self.scale = torch.rsqrt(torch.tensor(float(self.head_dim))).item()

    def heads(self, x: Tensor, count: int) -> Tensor:
        return x.reshape(*x.shape[:2], count, self.head_dim).transpose(1, 2)

    def forward(self, x: Tensor, cache: KVCache | None = None) -> tuple[Tensor, Tensor]:
        query = self.heads(self.q_proj(x), self.num_heads)
        key = self.heads(self.k_proj(x), self.num_kv_heads)
        value = self.heads(self.v_proj(x), self.num_kv_heads)
        offset = 0 if cache is None else cache.length
        if cache is not None:
            key, value = cache.update(key, value)
        n_rep = self.num_heads // self.num_kv_heads
        scores = self.scale * query @ repeat_kv(key, n_rep).mT
        i = torch.arange(x.shape[1]).unsqueeze(1) + offset
        j = torch.arange(key.shape[2]).unsqueeze(0)
        scores = torch.where(j <= i, scores, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        merged = (weights @ repeat_kv(value, n_rep)).transpose(1, 2).flatten(2)
        return self.out_proj(merged), weights


def decode(attention: nn.Module, x: Tensor, cache: KVCache) -> Tensor:
    with torch.inference_mode():
        steps = [attention(token, cache)[0] for token in torch.split(x, 1, dim=1)]
    return torch.cat(steps, dim=1).clone()


def kv_cache_bytes(batch, num_layers, num_kv_heads, max_len, head_dim, bytes_per_value=2):
    return int(2 * batch * num_layers * num_kv_heads * max_len * head_dim * bytes_per_value)


REFLECT_KV_BYTES_70B_N4096_GQA8 = 1_342_177_280
REFLECT_KV_BYTES_70B_N4096_MHA64 = 10_737_418_240
