from functools import partial

import torch
from torch import nn
from torch.nn.functional import linear, log_softmax


def _divided(width, num_heads):
    quotient, remainder = divmod(width, num_heads)
    if remainder != 0:
        raise ValueError(f"width {width}, heads {num_heads}")
    return quotient


def split_heads(x, num_heads):
    d = _divided(x.shape[-1], num_heads)
    index = torch.arange(x.shape[-1]).reshape(num_heads, d)
    return x[..., index].permute(0, 2, 1, 3)


def merge_heads(x):
    return torch.cat(x.unbind(dim=1), dim=2)


def project(layer, num_heads, x):
    return split_heads(linear(x, layer.weight, layer.bias), num_heads)


def blocked_of(mask, shape):
    if mask.ndim == 3:
        mask = mask.view(mask.size(0), 1, mask.size(1), mask.size(2))
    return torch.broadcast_to(mask == 0, shape)


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        _divided(embed_dim, num_heads)
        super().__init__()
        self.add_module("q_proj", nn.Linear(embed_dim, embed_dim))
        self.add_module("k_proj", nn.Linear(embed_dim, embed_dim))
        self.add_module("v_proj", nn.Linear(embed_dim, embed_dim))
        self.add_module("out_proj", nn.Linear(embed_dim, embed_dim))
        self.to_heads = partial(project, num_heads=num_heads)

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[-2] != value.shape[-2]:
            raise ValueError(f"{key.shape[-2]} != {value.shape[-2]}")
        q, k, v = (
            self.to_heads(layer, x=x)
            for layer, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.mT * q.shape[-1] ** -0.5
        if mask is None:
            weights = log_softmax(scores, -1).exp()
        else:
            blocked = blocked_of(mask, scores.shape)
            empty = blocked.all(-1, keepdim=True)
            weights = log_softmax(scores.masked_fill(blocked & ~empty, -torch.inf), -1).exp()
            weights = weights.masked_fill(blocked, 0)
        return linear(merge_heads(weights @ v), self.out_proj.weight, self.out_proj.bias), weights


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048 * 2048
REFLECT_WEIGHT_BYTES_FLOAT32 = 4 * 32 * 96 * 2048**2
REFLECT_PARAMETERS_E512 = 4 * (512 * 512 + 512)

