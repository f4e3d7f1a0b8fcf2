import torch
from torch import einsum, nn


def split_heads(x, num_heads):
    b, n, e = x.shape
    if e % num_heads:
        raise ValueError(f"{e=} {num_heads=}")
    return einsum("bnhd->bhnd", x.reshape(b, n, num_heads, e // num_heads))


def merge_heads(x):
    b, h, n, d = x.shape
    return einsum("bhnd->bnhd", x).reshape(b, n, h * d)


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim=} {num_heads=}")
        self.h = num_heads
        self.d = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def project(self, layer, x):
        # the weights of a Linear are (out, in), and out is made of heads
        w = layer.weight.view(self.h, self.d, -1)
        return einsum("bne,hde->bhnd", x, w) + layer.bias.view(1, self.h, 1, self.d)

    def forward(self, query, key=None, value=None, mask=None):
        key = key if key is not None else query
        value = value if value is not None else key
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, {value.shape[1]} values")
        q, k, v = self.project(self.q_proj, query), self.project(self.k_proj, key), self.project(self.v_proj, value)
        s = einsum("bhqd,bhkd->bhqk", q, k) / self.d**0.5
        if mask is not None:
            m = (mask if mask.dim() != 3 else mask.unsqueeze(1)) != 0
            s = torch.where(m, s, torch.finfo(s.dtype).min)
            w = torch.where(m, s.softmax(-1), 0)
        else:
            w = s.softmax(-1)
        o = einsum("bhqk,bhkd->bqhd", w, v)
        return self.out_proj(o.reshape(*query.shape)), w


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048 * 2048
REFLECT_WEIGHT_BYTES_FLOAT32 = 4 * REFLECT_WEIGHT_ENTRIES_B32_H96_N2048
REFLECT_PARAMETERS_E512 = 4 * (512 * 512 + 512)
