import torch
from torch import nn
from torch.nn import functional as F


def split_heads(x, num_heads):
    width, rest = divmod(x.shape[2], num_heads)
    if rest:
        raise ValueError(f"{num_heads} heads do not fit {x.shape[2]} features")
    return torch.stack(torch.split(x, width, dim=2), dim=1)


def merge_heads(x):
    return torch.cat([x[:, h] for h in range(x.shape[1])], dim=-1)


def masks_of_heads(mask, num_heads):
    if mask is None:
        return [None] * num_heads
    mask = mask != 0
    if mask.dim() < 4:
        return [mask] * num_heads
    return [mask[:, h if mask.shape[1] > 1 else 0] for h in range(num_heads)]


def attend(q, k, v, mask):
    scores = q @ k.transpose(1, 2) / (q.shape[-1] ** 0.5)
    if mask is None:
        weights = F.softmax(scores, dim=-1)
    else:
        scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.nan_to_num(F.softmax(scores, dim=-1), nan=0.0)
    return weights @ v, weights


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f"{num_heads} heads do not fit {embed_dim} features")
        self.num_heads = num_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = [nn.Linear(embed_dim, embed_dim) for _ in range(4)]

    def forward(self, query, key=None, value=None, mask=None):
        key = key if key is not None else query
        value = value if value is not None else key
        if len(key[0]) != len(value[0]):
            raise ValueError(f"key and value have different lengths: {len(key[0])} != {len(value[0])}")
        qs = torch.chunk(self.q_proj(query), self.num_heads, dim=-1)
        ks = torch.chunk(self.k_proj(key), self.num_heads, dim=-1)
        vs = torch.chunk(self.v_proj(value), self.num_heads, dim=-1)
        outputs, all_weights = [], []
        for q, k, v, m in zip(qs, ks, vs, masks_of_heads(mask, self.num_heads)):
            o, w = attend(q, k, v, m)
            outputs.append(o)
            all_weights.append(w)
        return self.out_proj(torch.cat(outputs, -1)), torch.stack(all_weights, 1)


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048 * 2048
REFLECT_WEIGHT_BYTES_FLOAT32 = 4 * 32 * 96 * 2048**2
REFLECT_PARAMETERS_E512 = 4 * (512 * 512 + 512)

