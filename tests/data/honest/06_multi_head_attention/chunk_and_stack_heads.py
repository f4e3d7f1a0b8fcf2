import math

import torch
from torch import nn


def split_heads(x, num_heads):
    if x.shape[2] % num_heads != 0:
        raise ValueError(f"E = {x.shape[2]}, num_heads = {num_heads}")
    return torch.stack(x.chunk(num_heads, dim=2), dim=1)


def merge_heads(x):
    return torch.cat(x.unbind(dim=1), dim=-1)


def one_head(q, k, v, mask):
    scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        seen = mask.bool()
        anything = seen.any(dim=-1, keepdim=True)
        scores = scores.masked_fill(~seen, -torch.inf)
        scores = torch.where(anything, scores, torch.zeros_like(scores))
        weights = scores.softmax(dim=-1) * anything
    return torch.bmm(weights, v), weights


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"embed_dim = {embed_dim}, num_heads = {num_heads}")
        self.num_heads = num_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(embed_dim, embed_dim) for _ in range(4))

    def forward(self, query, key=None, value=None, mask=None):
        if key is None and value is None:
            key = value = query
        elif value is None:
            value = key
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"N_k = {key.shape[1]} in key, {value.shape[1]} in value")
        # a loop over heads is allowed
        heads = [split_heads(f(x), self.num_heads).unbind(1) for f, x in
                 ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))]
        masks = [None] * self.num_heads
        if mask is not None and mask.dim() == 4:
            masks = [mask[:, 0 if mask.shape[1] == 1 else h] for h in range(self.num_heads)]
        elif mask is not None:
            masks = [mask] * self.num_heads
        results = [one_head(*qkv, m) for *qkv, m in zip(*heads, masks)]
        outputs, weights = zip(*results)
        return self.out_proj(torch.cat(outputs, dim=-1)), torch.stack(weights, dim=1)


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048 * 2048
REFLECT_WEIGHT_BYTES_FLOAT32 = 4 * REFLECT_WEIGHT_ENTRIES_B32_H96_N2048
REFLECT_PARAMETERS_E512 = 4 * (512 * 512 + 512)
