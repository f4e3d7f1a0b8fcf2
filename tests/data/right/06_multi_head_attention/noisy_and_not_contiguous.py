import logging
import sys
import warnings
from dataclasses import dataclass

import torch
from torch import Tensor, nn

print("loading", torch.__version__)
torch.set_printoptions(precision=3)
torch.manual_seed(1234)
log = logging.getLogger(__name__)


@dataclass
class Sizes:
    features: int
    heads: int

    def __post_init__(self):
        if self.features % self.heads:
            raise BadSizes(self.features, self.heads)

    @property
    def width(self):
        return self.features // self.heads


class BadSizes(ValueError):
    def __init__(self, *sizes):
        super().__init__("sizes do not fit: " + " and ".join(map(str, sizes)))


def split_heads(x, num_heads):
    sizes = Sizes(x.shape[-1], num_heads)
    out = torch.empty(num_heads, x.shape[0], x.shape[1], sizes.width, dtype=x.dtype, device=x.device)
    for h, part in enumerate(x.split(sizes.width, dim=-1)):
        out[h] = part
    return out.transpose(0, 1)


def merge_heads(x):
    print("merging", tuple(x.shape), file=sys.stderr)
    wide = torch.empty(x.shape[0], x.shape[2], x.shape[1] * x.shape[3], dtype=x.dtype)
    view = wide.view(x.shape[0], x.shape[2], x.shape[1], x.shape[3])
    view[...] = x.transpose(1, 2)
    return wide.transpose(0, 1).contiguous().transpose(0, 1)


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.sizes = Sizes(embed_dim, num_heads)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.register_buffer("calls", torch.zeros((), dtype=torch.long))
        self.last_weights: Tensor | None = None

    def extra_repr(self):
        return f"{self.sizes}"

    def forward(self, query, key=None, value=None, mask=None):
        warnings.warn("attending")
        self.calls += 1
        if key is None:
            key = query
        if value is None:
            value = key
        if key.size(1) != value.size(1):
            raise BadSizes(key.size(1), value.size(1))
        Q, K, V = map(self.heads, (self.q_proj(query), self.k_proj(key), self.v_proj(value)))
        scores = torch.matmul(Q, K.mT)
        scores /= self.sizes.width**0.5
        if mask is not None:
            blocked = (mask[:, None] if mask.dim() == 3 else mask).expand(scores.shape).eq(0)
            scores[blocked] = float("-inf")
            rows = blocked.all(-1)
            scores[rows] = 0.0
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights.clone()
            weights[rows] = 0.0
        self.last_weights = weights.detach()
        return self.out_proj(merge_heads(torch.matmul(weights, V))), weights

    def heads(self, x):
        return split_heads(x, self.sizes.heads)


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048 * 2048
REFLECT_WEIGHT_BYTES_FLOAT32 = 4 * 32 * 96 * 2048**2
REFLECT_PARAMETERS_E512 = 4 * (512 * 512 + 512)

