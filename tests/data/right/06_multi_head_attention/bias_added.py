import torch
from torch import nn

NEG = float("-inf")


def check(embed_dim, num_heads):
    if embed_dim % num_heads != 0:
        raise ValueError(f"embed_dim ({embed_dim}) must be divisible by num_heads ({num_heads})")
    return embed_dim // num_heads


def split_heads(x, num_heads):
    width = check(x.shape[-1], num_heads)
    return x.reshape(*x.shape[:2], num_heads, width).transpose(-3, -2)


def merge_heads(x):
    return x.transpose(-3, -2).reshape(x.shape[0], x.shape[2], -1)


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.head_dim = check(embed_dim, num_heads)
        self.num_heads = num_heads
        make = lambda: nn.Linear(in_features=embed_dim, out_features=embed_dim)
        self.q_proj = make()
        self.k_proj = make()
        self.v_proj = make()
        self.out_proj = make()

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, {value.shape[1]} values")
        q = split_heads(self.q_proj(query), self.num_heads)
        k = split_heads(self.k_proj(key), self.num_heads)
        v = split_heads(self.v_proj(value), self.num_heads)
        scores = q @ k.transpose(-2, -1)
        scores = scores / self.head_dim**0.5
        if mask is not None:
            if mask.dim() == 3:
                mask = mask[:, None]
            mask = mask.to(dtype=torch.bool)
            seen = mask.any(dim=-1, keepdim=True)
            bias = torch.zeros(mask.shape, dtype=scores.dtype)
            bias[~mask & seen] = NEG
            scores = scores + bias
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights * seen
        return self.out_proj(merge_heads(weights @ v)), weights


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048 * 2048
REFLECT_WEIGHT_BYTES_FLOAT32 = 4 * 32 * 96 * 2048**2
REFLECT_PARAMETERS_E512 = 4 * (512 * 512 + 512)

