"""Module 06. Head by head, because then I can see what a head is. (The lesson says a loop over heads is fine.)"""

import math
from typing import NamedTuple

import torch
from torch import nn


class Head(NamedTuple):
    """What one head gets: its slice of the queries, keys and values, each (B, N, D), and its mask or None."""

    queries: torch.Tensor
    keys: torch.Tensor
    values: torch.Tensor
    mask: torch.Tensor | None

    @property
    def width(self):
        return self.queries.shape[-1]

    def attend(self):
        """Return what this head has found, (B, N_q, D), and its weights, (B, N_q, N_k)."""
        scores = torch.bmm(self.queries, self.keys.transpose(1, 2)) / math.sqrt(self.width)
        if self.mask is None:
            weights = torch.softmax(scores, dim=2)
        else:
            forbidden = self.mask == 0
            lonely = forbidden.all(dim=2, keepdim=True)
            scores = scores.masked_fill(forbidden, float("-inf"))
            scores = scores.masked_fill(lonely, 0.0)
            weights = torch.softmax(scores, dim=2).masked_fill(lonely, 0.0)
        return torch.bmm(weights, self.values), weights


def check_divisible(embed_dim, num_heads):
    if num_heads < 1 or embed_dim % num_heads != 0:
        raise ValueError(f"embed_dim={embed_dim} cannot be shared out among num_heads={num_heads}")


def split_heads(x, num_heads):
    check_divisible(x.shape[2], num_heads)
    return torch.stack(x.chunk(num_heads, dim=2), dim=1)


def merge_heads(x):
    return torch.cat(x.unbind(dim=1), dim=2)


class MultiHeadAttention(nn.Module):
    PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        check_divisible(embed_dim, num_heads)
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        for name in self.PROJECTIONS:
            self.add_module(name, nn.Linear(embed_dim, embed_dim))

    def masks(self, mask, shape):
        """Return a mask (B, N_q, N_k) for each head, or None for each head."""
        if mask is None:
            return [None] * self.num_heads
        if mask.dim() == 3:
            mask = mask.unsqueeze(1)
        return list(mask.expand(shape).unbind(dim=1))  # expand copies nothing

    def forward(self, query, key=None, value=None, mask=None):
        if key is None:
            key = query
        if value is None:
            value = key
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"key has length {key.shape[1]}, value has length {value.shape[1]}")

        queries = self.q_proj(query).chunk(self.num_heads, dim=-1)
        keys = self.k_proj(key).chunk(self.num_heads, dim=-1)
        values = self.v_proj(value).chunk(self.num_heads, dim=-1)
        masks = self.masks(mask, (query.shape[0], self.num_heads, query.shape[1], key.shape[1]))

        found, looked = [], []
        for parts in zip(queries, keys, values, masks):
            output, weights = Head(*parts).attend()
            found.append(output)
            looked.append(weights)
        return self.out_proj(torch.cat(found, dim=-1)), torch.stack(looked, dim=1)


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 12_884_901_888
REFLECT_WEIGHT_BYTES_FLOAT32 = 51_539_607_552
REFLECT_PARAMETERS_E512 = 1_050_624


if __name__ == "__main__":
    x = torch.arange(3 * 5 * 8).reshape(3, 5, 8).float()
    assert torch.equal(merge_heads(split_heads(x, 2)), x)
    layer = MultiHeadAttention(512, 8)
    assert sum(p.numel() for p in layer.parameters()) == REFLECT_PARAMETERS_E512
    small = MultiHeadAttention(8, 2)
    for m in (torch.ones(5, 5).tril(), torch.ones(3, 5, 5).tril(), torch.ones(3, 1, 1, 5), torch.zeros(5, 5)):
        output, weights = small(x, mask=m)
        print(tuple(m.shape), tuple(output.shape), tuple(weights.shape), weights.sum(-1).unique())
