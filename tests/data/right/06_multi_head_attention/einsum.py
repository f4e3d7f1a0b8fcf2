import torch
from torch import nn


def split_heads(x, num_heads):
    E = x.size(-1)
    if E % num_heads:
        raise ValueError(f"embed_dim={E} is not divisible by num_heads={num_heads}")
    return torch.einsum("bnhd->bhnd", x.unflatten(-1, (num_heads, -1)))


def merge_heads(x):
    return torch.einsum("bhnd->bnhd", x).flatten(2)


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        if embed_dim % num_heads:
            raise ValueError(f"embed_dim={embed_dim} is not divisible by num_heads={num_heads}")
        super().__init__()
        self.embed_dim, self.num_heads = embed_dim, num_heads
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, nn.Linear(embed_dim, embed_dim))

    def forward(self, query, key=None, value=None, mask=None):
        if key is None:
            key = query
        if value is None:
            value = key
        if key.size(1) != value.size(1):
            raise ValueError(f"key has length {key.size(1)}, value has length {value.size(1)}")
        H = self.num_heads
        q, k, v = (
            torch.einsum("bne,hde->bhnd", x, p.weight.unflatten(0, (H, -1))) + p.bias.view(H, 1, -1)
            for x, p in ((query, self.q_proj), (key, self.k_proj), (value, self.v_proj))
        )
        scores = torch.einsum("bhid,bhjd->bhij", q, k) * (self.embed_dim / H) ** -0.5
        if mask is None:
            weights = scores.softmax(-1)
        else:
            allowed = mask.bool()
            if allowed.ndim == 3:
                allowed = allowed[:, None]
            allowed = allowed.expand_as(scores)
            some = allowed.any(-1, keepdim=True)
            scores = torch.where(allowed | ~some, scores, float("-inf"))
            weights = torch.where(some, scores.softmax(-1), 0.0)
        out = torch.einsum("bhij,bhjd->bihd", weights, v).flatten(2)
        return torch.einsum("bie,oe->bio", out, self.out_proj.weight) + self.out_proj.bias, weights


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048 * 2048
REFLECT_WEIGHT_BYTES_FLOAT32 = 4 * 32 * 96 * 2048**2
REFLECT_PARAMETERS_E512 = 4 * (512 * 512 + 512)

