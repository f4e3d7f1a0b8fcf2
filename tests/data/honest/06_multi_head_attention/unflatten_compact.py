# %% [markdown]
# # 06 · Multi-head attention

# %%
import math

import torch
from torch import nn


# %%
def split_heads(x, num_heads):
    """Return x, (B, N, E), as (B, H, N, E / H)."""
    if x.size(-1) % num_heads:
        raise ValueError(f"{x.size(-1)} features are not a multiple of {num_heads} heads")
    return x.unflatten(-1, (num_heads, -1)).movedim(-2, 1)


# %%
# Try it: two tokens of four features, for two heads
if __name__ == "__main__":
    x = torch.tensor([[[0.0, 1, 2, 3], [10, 11, 12, 13]]])  # (1, 2, 4)
    heads = split_heads(x, 2)
    assert heads.shape == (1, 2, 2, 2), f"(B, H, N, E / H) is (1, 2, 2, 2), not {tuple(heads.shape)}"
    assert heads[0, 0].tolist() == [[0, 1], [10, 11]], "head 0 has the first half of both tokens"
    assert heads[0, 1].tolist() == [[2, 3], [12, 13]], "head 1 has the second half of both tokens"


# %%
def merge_heads(x):
    """Return x, (B, H, N, D), as (B, N, H * D)."""
    return x.movedim(1, -2).flatten(-2)


# %%
if __name__ == "__main__":
    x = torch.arange(3 * 5 * 8).reshape(3, 5, 8).float()
    assert torch.equal(merge_heads(split_heads(x, 2)), x), "merge_heads(split_heads(x, 2)) should be x again"


# %%
class MultiHeadAttention(nn.Module):
    """Multi-head attention over batches of tokens: (B, N, E) in, (B, N, E) out."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim} features are not a multiple of {num_heads} heads")
        self.num_heads = num_heads
        self.scale = math.sqrt(embed_dim // num_heads)
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(embed_dim, embed_dim) for _ in range(4))

    def forward(self, query, key=None, value=None, mask=None):
        if key is None:
            key = query
        if value is None:
            value = key
        if key.size(1) != value.size(1):
            raise ValueError(f"{key.size(1)} keys, but {value.size(1)} values")

        q, k, v = (
            split_heads(proj(x), self.num_heads)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.mT / self.scale  # (B, H, N_q, N_k)
        if mask is not None:
            if mask.ndim == 3:
                mask = mask[:, None]
            blocked = mask.logical_not()
            weights = scores.masked_fill(blocked, -torch.inf).softmax(-1).masked_fill(blocked, 0)
        else:
            weights = scores.softmax(-1)
        return self.out_proj(merge_heads(weights @ v)), weights


# %%
if __name__ == "__main__":
    Q = torch.tensor([[[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]])
    K = torch.tensor([[[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]]])
    V = torch.tensor([[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]]])
    layer = MultiHeadAttention(4, 2)
    with torch.no_grad():
        for projection in layer.children():
            projection.weight.copy_(torch.eye(4))
            projection.bias.zero_()
    result = layer(Q, K, V)
    expected = torch.tensor([0.2491, 0.3763, 0.2289, 0.3663])
    assert torch.allclose(result[0][0, 0], expected, atol=1e-4), "see the table in the lesson"

# %%
REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048 * 2048
REFLECT_WEIGHT_BYTES_FLOAT32 = REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 * 4
REFLECT_PARAMETERS_E512 = 4 * (512 * 512 + 512)
