import math

import torch
from torch import nn


def split_heads(x, num_heads):
    B, N, E = x.shape
    if E % num_heads != 0:
        raise ValueError(f"E={E} H={num_heads}")
    D = E // num_heads
    return torch.stack([x[:, :, h * D : (h + 1) * D] for h in range(num_heads)], dim=1)


def merge_heads(x):
    B, H, N, D = x.shape
    out = x.new_empty(B, N, H * D)
    for h in range(H):
        out[:, :, h * D : (h + 1) * D] = x[:, h]
    return out


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f"E={embed_dim} H={num_heads}")
        self.E, self.H, self.D = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=True)
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=True)
        self.v_proj = nn.Linear(embed_dim, embed_dim, bias=True)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=True)

    def forward(self, query, key=None, value=None, mask=None):
        if key is None:
            key = query
        if value is None:
            value = key
        B, Nq, _ = query.shape
        _, Nk, _ = key.shape
        if value.shape[1] != Nk:
            raise ValueError(f"key: {Nk}, value: {value.shape[1]}")
        # (B * H, N, D), as nn.MultiheadAttention does it
        q = split_heads(self.q_proj(query), self.H).reshape(B * self.H, Nq, self.D)
        k = split_heads(self.k_proj(key), self.H).reshape(B * self.H, Nk, self.D)
        v = split_heads(self.v_proj(value), self.H).reshape(B * self.H, Nk, self.D)
        start = torch.zeros(B * self.H, Nq, Nk, dtype=q.dtype, device=q.device)
        s = torch.baddbmm(start, q, k.transpose(1, 2), beta=0, alpha=1 / math.sqrt(self.D))
        s = s.view(B, self.H, Nq, Nk)
        if mask is not None:
            if mask.ndim == 3:
                mask = mask[:, None, :, :]
            mask = mask != 0
            s = s.masked_fill(~mask, -torch.inf)
        w = torch.softmax(s, -1)
        if mask is not None:
            w = torch.where(mask, w, torch.zeros_like(w))
        o = torch.bmm(w.reshape(B * self.H, Nq, Nk), v).view(B, self.H, Nq, self.D)
        return self.out_proj(merge_heads(o)), w


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048 * 2048
REFLECT_WEIGHT_BYTES_FLOAT32 = 4 * REFLECT_WEIGHT_ENTRIES_B32_H96_N2048
REFLECT_PARAMETERS_E512 = 4 * (512 * 512 + 512)
