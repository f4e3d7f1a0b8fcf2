import math

import torch
import torch.nn as nn


def split_heads(x, num_heads):
    b, n, e = x.shape
    if e % num_heads != 0:
        raise ValueError("cannot split %d features into %d heads" % (e, num_heads))
    return x.view(b, n, num_heads, e // num_heads).permute(0, 2, 1, 3).contiguous()


def merge_heads(x):
    b, h, n, d = x.shape
    return x.permute(0, 2, 1, 3).contiguous().view(b, n, h * d)


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError("cannot split %d features into %d heads" % (embed_dim, num_heads))
        self.h = num_heads
        self.d = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=True)
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=True)
        self.v_proj = nn.Linear(embed_dim, embed_dim, bias=True)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=True)
        nn.init.xavier_uniform_(self.q_proj.weight)
        nn.init.constant_(self.out_proj.bias, 0.0)

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        b, nq, e = query.shape
        nk = key.shape[1]
        if nk != value.shape[1]:
            raise ValueError("got %d keys and %d values" % (nk, value.shape[1]))
        q = split_heads(self.q_proj(query), self.h).reshape(b * self.h, nq, self.d)
        k = split_heads(self.k_proj(key), self.h).reshape(b * self.h, nk, self.d)
        v = split_heads(self.v_proj(value), self.h).reshape(b * self.h, nk, self.d)
        bias = torch.zeros(b * self.h, nq, nk, dtype=q.dtype, device=q.device)
        blocked = None
        if mask is not None:
            if mask.dim() == 2:
                blocked = (mask == 0).expand(b * self.h, nq, nk)
            elif mask.dim() == 3:
                blocked = (mask == 0).repeat_interleave(self.h, dim=0)
            else:
                blocked = (mask == 0).expand(b, self.h, nq, nk).reshape(b * self.h, nq, nk)
            empty = blocked.all(dim=-1, keepdim=True)
            bias = bias.masked_fill(blocked & ~empty, -math.inf)
        scores = torch.baddbmm(bias, q, k.transpose(1, 2), alpha=1 / math.sqrt(self.d))
        weights = nn.functional.softmax(scores, dim=2)
        if blocked is not None:
            weights = weights.masked_fill(blocked, 0)
        out = torch.bmm(weights, v).view(b, self.h, nq, self.d)
        return self.out_proj(merge_heads(out)), weights.view(b, self.h, nq, nk)


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048 * 2048
REFLECT_WEIGHT_BYTES_FLOAT32 = 4 * 32 * 96 * 2048**2
REFLECT_PARAMETERS_E512 = 4 * (512 * 512 + 512)

