# %% [markdown]
# # 06 · Multi-head attention
#
# For self-attention the three projections are one product with a matrix of 3 E rows, like `in_proj_weight` of PyTorch.

# %%
from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


# %%
def _head_width(features: int, num_heads: int) -> int:
    width, rest = divmod(features, num_heads)
    if rest:
        raise ValueError(f"E = {features} is not divisible by H = {num_heads}; {rest} features would be left over")
    return width


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    b, n, e = x.shape
    d = _head_width(e, num_heads)
    return x.reshape(b, n, num_heads, d).permute(0, 2, 1, 3)


def merge_heads(x: Tensor) -> Tensor:
    b, h, n, d = x.shape
    return x.permute(0, 2, 1, 3).contiguous().view(b, n, h * d)


# %%
class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        self.head_width = _head_width(embed_dim, num_heads)
        self.num_heads = num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def _project(self, query: Tensor, key: Tensor | None, value: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """Return projected queries, keys and values, (B, N, E)."""
        if key is None and value is None:
            layers = (self.q_proj, self.k_proj, self.v_proj)
            weight = torch.cat([layer.weight for layer in layers])  # (3 E, E)
            bias = torch.cat([layer.bias for layer in layers])  # (3 E,)
            q, k, v = F.linear(query, weight, bias).chunk(3, dim=-1)
            return q, k, v
        key = query if key is None else key
        value = key if value is None else value
        if (n_key := key.shape[1]) != (n_value := value.shape[1]):
            raise ValueError(f"as many values as keys, please: {n_key} keys, {n_value} values")
        return self.q_proj(query), self.k_proj(key), self.v_proj(value)

    @staticmethod
    def _four_dimensions(mask: Tensor) -> Tensor:
        match mask.dim():
            case 2:
                return mask[None, None, :, :]
            case 3:
                return mask[:, None, :, :]
            case _:
                return mask

    def _weights(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        if mask is None:
            return F.softmax(scores, dim=-1)
        seen = self._four_dimensions(mask).to(torch.bool)
        nothing_seen = torch.logical_not(seen.any(dim=-1, keepdim=True))
        # rows in which nothing is seen stay open in the softmax, and are closed after it
        weights = F.softmax(scores.masked_fill(~(seen | nothing_seen), -torch.inf), dim=-1)
        return weights.masked_fill(nothing_seen, 0.0)

    def forward(
        self, query: Tensor, key: Tensor | None = None, value: Tensor | None = None, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        q, k, v = (split_heads(x, self.num_heads) for x in self._project(query, key, value))
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * self.head_width**-0.5
        weights = self._weights(scores, mask)
        mixed = torch.einsum("bhqk,bhkd->bhqd", weights, v)
        return self.out_proj(merge_heads(mixed)), weights


# %%
if __name__ == "__main__":
    torch.manual_seed(0)
    mine = MultiHeadAttention(16, 2)
    x = torch.randn(3, 6, 16)
    assert torch.allclose(mine(x)[0], mine(x, x, x)[0], atol=1e-6), "joint and separate projections agree"
    print("parameters:", sum(p.numel() for p in mine.parameters()))

# %%
B, H, N, E = 32, 96, 2048, 512
REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = B * H * N * N
REFLECT_WEIGHT_BYTES_FLOAT32 = 4 * B * H * N * N
REFLECT_PARAMETERS_E512 = 4 * E * (E + 1)
