import torch
import torch.nn.functional as F
from torch import nn


def split_heads(x, num_heads):
    B, N, E = x.shape
    if E % num_heads != 0:
        raise ValueError(f"E = {E} is no multiple of H = {num_heads}")
    return x.reshape(B, N, num_heads, E // num_heads).swapaxes(1, 2)


def merge_heads(x):
    B, H, N, D = x.shape
    return x.swapaxes(1, 2).reshape(B, N, H * D)


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f"E = {embed_dim} is no multiple of H = {num_heads}")
        self.E, self.H, self.D = embed_dim, num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def _fused(self, x, *layers):
        weight = torch.cat([layer.weight for layer in layers], dim=0)
        bias = torch.cat([layer.bias for layer in layers], dim=0)
        B, N, _ = x.shape
        out = F.linear(x, weight, bias).reshape(B, N, len(layers), self.H, self.D)
        return out.permute(2, 0, 3, 1, 4).unbind(0)

    def _project(self, query, key, value):
        if key is None and value is None:
            return self._fused(query, self.q_proj, self.k_proj, self.v_proj)
        if value is None:
            return *self._fused(query, self.q_proj), *self._fused(key, self.k_proj, self.v_proj)
        key = query if key is None else key
        return *self._fused(query, self.q_proj), *self._fused(key, self.k_proj), *self._fused(value, self.v_proj)

    def forward(self, query, key=None, value=None, mask=None):
        if value is not None and key is not None and key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys and {value.shape[1]} values")
        q, k, v = self._project(query, key, value)
        scores = (q * self.D**-0.5) @ k.mT
        if mask is not None:
            keep = mask.to(torch.bool)
            keep = keep.unsqueeze(-3) if keep.dim() == 3 else keep
            low = torch.finfo(scores.dtype).min
            weights = torch.softmax(scores.masked_fill(keep.logical_not(), low), dim=-1) * keep
        else:
            weights = torch.softmax(scores, dim=-1)
        return self.out_proj(merge_heads(weights @ v)), weights


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048 * 2048
REFLECT_WEIGHT_BYTES_FLOAT32 = 4 * 32 * 96 * 2048**2
REFLECT_PARAMETERS_E512 = 4 * (512 * 512 + 512)

