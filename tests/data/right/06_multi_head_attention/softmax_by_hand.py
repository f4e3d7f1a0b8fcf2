from math import sqrt

import torch
from torch.nn import Linear, Module


def softmax_where(scores, allowed):
    scores = torch.where(allowed, scores, -torch.inf)
    top = scores.amax(dim=-1, keepdim=True)
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    exps = torch.exp(scores - top.detach())
    total = exps.sum(dim=-1, keepdim=True)
    return exps / torch.where(total == 0, torch.ones_like(total), total)


def split_heads(x, num_heads):
    if x.shape[2] % num_heads != 0:
        raise ValueError("E", x.shape[2], "num_heads", num_heads)
    size = x.shape[2] // num_heads
    return torch.cat([x[:, None, :, i : i + size] for i in range(0, x.shape[2], size)], dim=1)


def merge_heads(x):
    return torch.hstack([head.transpose(1, 2) for head in x.unbind(1)]).transpose(1, 2)


class MultiHeadAttention(Module):
    def __init__(self, embed_dim, num_heads):
        super(MultiHeadAttention, self).__init__()
        if embed_dim % num_heads != 0:
            raise ValueError("embed_dim", embed_dim, "num_heads", num_heads)
        self.heads = num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)

    def forward(self, query, key=None, value=None, mask=None):
        if key is None:
            key = query
        if value is None:
            value = key
        if key.shape[1] != value.shape[1]:
            raise ValueError("keys", key.shape[1], "values", value.shape[1])
        Q = split_heads(self.q_proj(query), self.heads)
        K = split_heads(self.k_proj(key), self.heads)
        V = split_heads(self.v_proj(value), self.heads)
        scores = Q.matmul(K.permute(0, 1, 3, 2)).div(sqrt(Q.shape[-1]))
        if mask is None:
            allowed = torch.ones((), dtype=torch.bool)
        elif mask.dim() == 3:
            allowed = mask.reshape(mask.shape[0], 1, *mask.shape[1:]) > 0
        else:
            allowed = mask > 0
        weights = softmax_where(scores, allowed)
        return self.out_proj(merge_heads(weights.matmul(V))), weights


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048 * 2048
REFLECT_WEIGHT_BYTES_FLOAT32 = 4 * 32 * 96 * 2048**2
REFLECT_PARAMETERS_E512 = 4 * (512 * 512 + 512)

