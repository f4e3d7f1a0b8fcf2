import math
from typing import Callable

import torch
from torch import Tensor, nn


class Projection(nn.Linear):
    """A square linear layer with Xavier initialisation that can return its result cut into heads."""

    def __init__(self, embed_dim: int, init: Callable[[Tensor], Tensor] = nn.init.xavier_uniform_) -> None:
        self._init = init
        super().__init__(embed_dim, embed_dim)

    def reset_parameters(self) -> None:
        self._init(self.weight)
        nn.init.zeros_(self.bias)

    def heads(self, x: Tensor, num_heads: int) -> Tensor:
        return split_heads(self(x), num_heads)


def split_heads(x, num_heads):
    batch, length, features = x.shape
    if features % num_heads:
        raise ValueError(f"{features} features, {num_heads} heads")
    return x.view(batch, length, num_heads, -1).permute(0, 2, 1, 3) if x.is_contiguous() else split_heads(
        x.contiguous(), num_heads
    )


def merge_heads(x):
    batch, heads, length, width = x.shape
    return x.permute(0, 2, 1, 3).reshape(batch, length, heads * width)


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim} features, {num_heads} heads")
        self.num_heads = num_heads
        self.q_proj = Projection(embed_dim)
        self.k_proj = Projection(embed_dim)
        self.v_proj = Projection(embed_dim)
        self.out_proj = Projection(embed_dim)

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if (n := key.shape[1]) != (m := value.shape[1]):
            raise ValueError(f"{n} keys, {m} values")
        q = self.q_proj.heads(query, self.num_heads)
        k = self.k_proj.heads(key, self.num_heads)
        v = self.v_proj.heads(value, self.num_heads)
        scores = torch.matmul(q, k.transpose(2, 3)).div(math.sqrt(q.shape[-1]))
        if mask is not None:
            mask = {2: lambda m: m[None, None], 3: lambda m: m[:, None], 4: lambda m: m}[mask.ndim](mask)
            blocked = mask.eq(0)
            nothing = blocked.all(-1, keepdim=True)
            scores = scores.masked_fill(blocked, -math.inf).masked_fill(nothing, 0)
            weights = scores.softmax(-1).masked_fill(nothing, 0)
        else:
            weights = scores.softmax(-1)
        return self.out_proj(merge_heads(torch.matmul(weights, v))), weights


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048 * 2048
REFLECT_WEIGHT_BYTES_FLOAT32 = 4 * REFLECT_WEIGHT_ENTRIES_B32_H96_N2048
REFLECT_PARAMETERS_E512 = 4 * (512 * 512 + 512)
