# %% [markdown]
# # 06 · Multi-head attention
#
# The middle part is my layer of module 05: it takes any leading dimensions, so (B, H) works at once.

# %%
import math

import torch
from torch import nn

try:
    from mylab.torch_attention import ScaledDotProductAttention
except ImportError:  # this file on its own: my class of module 05, pasted

    class ScaledDotProductAttention(nn.Module):
        def __init__(self, d_k, dropout=0.0):
            super().__init__()
            self.scale = math.sqrt(d_k)
            self.dropout = nn.Dropout(dropout)

        def forward(self, q, k, v, mask=None):
            if q.shape[-1] != k.shape[-1]:
                raise ValueError(f"q and k have different widths, {q.shape[-1]} and {k.shape[-1]}")
            if k.shape[-2] != v.shape[-2]:
                raise ValueError(f"k and v have different lengths, {k.shape[-2]} and {v.shape[-2]}")
            scores = q @ k.transpose(-1, -2) / self.scale
            if mask is not None:
                scores = scores.masked_fill(mask == 0, -torch.inf)
            weights = torch.softmax(scores, dim=-1)
            if mask is not None:
                weights = weights.masked_fill(mask == 0, 0.0)
            weights = self.dropout(weights)
            return weights @ v, weights


# %%
class NotDivisible(ValueError):
    def __init__(self, features, heads):
        super().__init__(f"cannot cut {features} features into {heads} equal slices")


def split_heads(x, num_heads):
    batch, tokens, features = x.shape
    if features % num_heads != 0:
        raise NotDivisible(features, num_heads)
    width = features // num_heads
    x = x.view(batch, tokens, num_heads, width) if x.is_contiguous() else x.reshape(batch, tokens, num_heads, width)
    return torch.swapaxes(x, 1, 2)


def merge_heads(x):
    batch, num_heads, tokens, width = x.shape
    x = torch.swapaxes(x, 1, 2)
    return x.reshape(batch, tokens, num_heads * width)


# %%
class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise NotDivisible(embed_dim, num_heads)
        self.num_heads = num_heads
        self.attention = ScaledDotProductAttention(embed_dim // num_heads)  # no parameters, no dropout

        make_projection = lambda: nn.Linear(embed_dim, embed_dim)
        self.q_proj = make_projection()
        self.k_proj = make_projection()
        self.v_proj = make_projection()
        self.out_proj = make_projection()

    def heads(self, projection, tokens):
        return split_heads(projection(tokens), self.num_heads)

    def forward(self, query, key=None, value=None, mask=None):
        key = key if key is not None else query
        value = value if value is not None else key
        if len(key[0]) != len(value[0]):
            raise ValueError("{} keys and {} values".format(len(key[0]), len(value[0])))
        if mask is not None and mask.dim() == 3:
            mask = torch.unsqueeze(mask, dim=1)  # (B, 1, N_q, N_k)

        per_head, weights = self.attention(
            self.heads(self.q_proj, query),
            self.heads(self.k_proj, key),
            self.heads(self.v_proj, value),
            mask=mask,
        )
        output = self.out_proj(merge_heads(per_head))
        return output, weights


# %%
if __name__ == "__main__":
    tokens = ["The", "cat", "sat", "on", "mat"]
    Q = torch.tensor([[[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]])
    layer = MultiHeadAttention(4, 2)
    print(layer)
    output, weights = layer(Q, mask=torch.ones(5, 5).tril())
    for h, head in enumerate(weights[0]):
        for token, row in zip(tokens, head.tolist()):
            print(h, f"{token:>4}", " ".join(f"{w:.2f}" for w in row))

# %%
REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = None
REFLECT_WEIGHT_BYTES_FLOAT32 = None
REFLECT_PARAMETERS_E512 = None
REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048**2
REFLECT_WEIGHT_BYTES_FLOAT32 = 32 * 96 * 2048**2 * 4
REFLECT_PARAMETERS_E512 = 4 * 512**2 + 4 * 512
