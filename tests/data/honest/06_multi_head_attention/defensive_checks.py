import math
import operator

import torch
from torch import nn


def _divisible(features, num_heads):
    num_heads = operator.index(num_heads)
    if num_heads < 1:
        raise ValueError(f"num_heads should be at least 1, got {num_heads} (for {features} features)")
    if features % num_heads:
        raise ValueError(f"{features} features cannot be shared by {num_heads} heads")
    return features // num_heads


def _is_tensor(name, x, ndim):
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{name} should be a tensor, got {type(x).__name__}")
    if x.ndim != ndim:
        raise ValueError(f"{name} should have {ndim} dimensions, got {x.ndim}")


def split_heads(x, num_heads):
    _is_tensor("x", x, 3)
    width = _divisible(x.shape[-1], num_heads)
    heads = x.reshape(*x.shape[:2], num_heads, width).permute(0, 2, 1, 3)
    assert heads.shape == (x.shape[0], num_heads, x.shape[1], width)
    return heads


def merge_heads(x):
    _is_tensor("x", x, 4)
    merged = x.permute(0, 2, 1, 3).flatten(2, 3)
    assert merged.shape == (x.shape[0], x.shape[2], x.shape[1] * x.shape[3])
    return merged


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.head_width = _divisible(embed_dim, num_heads)
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.q_proj = nn.Linear(in_features=embed_dim, out_features=embed_dim)
        self.k_proj = nn.Linear(in_features=embed_dim, out_features=embed_dim)
        self.v_proj = nn.Linear(in_features=embed_dim, out_features=embed_dim)
        self.out_proj = nn.Linear(in_features=embed_dim, out_features=embed_dim)

    def _mask(self, mask, shape):
        if not isinstance(mask, torch.Tensor):
            raise TypeError(f"mask should be a tensor, got {type(mask).__name__}")
        if mask.ndim not in (2, 3, 4):
            raise ValueError(f"mask should have 2, 3 or 4 dimensions, got {mask.ndim}")
        if mask.ndim == 3:
            mask = mask.unsqueeze(dim=1)
        try:
            torch.broadcast_shapes(mask.shape, shape)
        except RuntimeError as error:
            raise ValueError(f"a mask of {tuple(mask.shape)} does not fit weights of {tuple(shape)}") from error
        return mask.to(dtype=torch.bool, device=self.q_proj.weight.device)

    def forward(self, query, key=None, value=None, mask=None):
        if key is None and value is not None:
            raise ValueError("a value without a key")
        key = query if key is None else key
        value = key if value is None else value
        for name, x in {"query": query, "key": key, "value": value}.items():
            _is_tensor(name, x, 3)
            if x.shape[-1] != self.embed_dim:
                raise ValueError(f"{name} should have {self.embed_dim} features, got {x.shape[-1]}")
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"key has the length {key.shape[1]}, but value has {value.shape[1]}")

        q = split_heads(self.q_proj(query), self.num_heads)
        k = split_heads(self.k_proj(key), self.num_heads)
        v = split_heads(self.v_proj(value), self.num_heads)
        scores = q.matmul(k.transpose(-1, -2)) / math.sqrt(self.head_width)
        if mask is None:
            weights = scores.softmax(dim=-1)
        else:
            allowed = self._mask(mask, scores.shape)
            some = allowed.any(dim=-1, keepdim=True)
            scores = scores.masked_fill(~allowed & some, -math.inf)
            weights = scores.softmax(dim=-1).masked_fill(~allowed, 0)
        assert weights.shape == (query.shape[0], self.num_heads, query.shape[1], key.shape[1])
        output = self.out_proj(merge_heads(weights.matmul(v)))
        assert output.shape == query.shape
        return output, weights


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048 * 2048
REFLECT_WEIGHT_BYTES_FLOAT32 = 4 * REFLECT_WEIGHT_ENTRIES_B32_H96_N2048
REFLECT_PARAMETERS_E512 = 4 * (512 * 512 + 512)
