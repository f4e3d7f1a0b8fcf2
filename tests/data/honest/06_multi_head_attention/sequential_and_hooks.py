import math
from collections import OrderedDict
from functools import partialmethod

import torch
from torch import nn


class Split(nn.Module):
    def __init__(self, num_heads):
        super().__init__()
        self.num_heads = num_heads

    def forward(self, x):
        return split_heads(x, self.num_heads)


class Merge(nn.Module):
    def forward(self, x):
        return merge_heads(x)


def split_heads(x, num_heads):
    width = x.shape[-1]
    if width % num_heads:
        raise ValueError(f"width {width}, heads {num_heads}")
    size = width // num_heads
    # (B, N, E) -> (B, H, N, D): the slices of every head, one after the other
    return torch.cat([part.unsqueeze(1) for part in torch.split(x, size, dim=-1)], dim=1)


def merge_heads(x):
    return torch.hstack([*x.mT.unbind(1)]).mT


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"width {embed_dim}, heads {num_heads}")
        self.num_heads = num_heads
        self.root = math.sqrt(embed_dim // num_heads)
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.register_forward_pre_hook(self._defaults, with_kwargs=True)
        self.split = Split(num_heads)
        self.merge = Merge()

    @staticmethod
    def _defaults(module, args, kwargs):
        """Fill in key and value before forward is called."""
        given = dict(zip(("query", "key", "value", "mask"), args)) | kwargs
        if given.get("key") is None:
            given["key"] = given["query"]
        if given.get("value") is None:
            given["value"] = given["key"]
        return (), given

    def _project(self, name, x):
        return self.split(self.get_submodule(name)(x))

    queries = partialmethod(_project, "q_proj")
    keys = partialmethod(_project, "k_proj")
    values = partialmethod(_project, "v_proj")

    def forward(self, query, key=None, value=None, mask=None):
        if key is None:
            key = query
        if value is None:
            value = key
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, {value.shape[1]} values")
        scores = torch.matmul(self.queries(query), self.keys(key).mT) / self.root
        steps = OrderedDict(softmax=nn.Softmax(dim=-1))
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.ndim == 3 else mask).logical_not()
            scores = scores.masked_fill(blocked, -torch.inf)
            steps["zeros"] = Zeros(blocked)
        weights = nn.Sequential(steps)(scores)
        return nn.Sequential(self.merge, self.out_proj)(torch.matmul(weights, self.values(value))), weights


class Zeros(nn.Module):
    def __init__(self, where):
        super().__init__()
        self.where = where

    def forward(self, x):
        return x.masked_fill(self.where, 0)


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 12_884_901_888
REFLECT_WEIGHT_BYTES_FLOAT32 = 51_539_607_552
REFLECT_PARAMETERS_E512 = 1_050_624
