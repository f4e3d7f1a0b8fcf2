"""Stands in for 06_multi_head_attention: the same interface, built on the attention that PyTorch has already.

It is here so that this module can be finished without module 06. It would not pass there: it calls what 06 forbids, and
it splits heads token by token.
"""

import torch
from torch import nn
from torch.nn import functional as F


def split_heads(x, num_heads):
    """Return (B, N, E) as (B, H, N, E / H)."""
    _refuse(x.shape[-1], num_heads)
    tokens = [token.unflatten(-1, (num_heads, -1)) for token in x.unbind(1)]  # each (B, H, E / H)
    return torch.stack(tokens, dim=2)


def merge_heads(x):
    """Return (B, H, N, D) as (B, N, H * D)."""
    return torch.stack([token.flatten(start_dim=1) for token in x.unbind(2)], dim=1)


class MultiHeadAttention(nn.Module):
    """Multi-head attention with the parameters and the masks of module 06."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        _refuse(embed_dim, num_heads)
        self.num_heads = num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key=None, value=None, mask=None):
        """Return (output, weights) for queries (B, N_q, E): (B, N_q, E) and (B, H, N_q, N_k)."""
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"there are {key.shape[1]} keys but {value.shape[1]} values")
        (batch, n_q, width), n_k, heads = query.shape, key.shape[1], self.num_heads
        blocked = empty = None
        if mask is not None:
            allowed = mask.unsqueeze(1) if mask.dim() == 3 else mask
            allowed = (allowed != 0).expand(batch, heads, n_q, n_k)
            empty = ~allowed.any(dim=-1, keepdim=True)  # (B, H, N_q, 1)
            # PyTorch's True is blocked, and a row without keys would be NaN: such a row is opened, and removed below.
            blocked = ~(allowed | empty).reshape(batch * heads, n_q, n_k)
        mixed, weights = F.multi_head_attention_forward(
            *(x.transpose(0, 1) for x in (query, key, value)),
            width,
            heads,
            None,
            torch.cat([self.q_proj.bias, self.k_proj.bias, self.v_proj.bias]),
            None,
            None,
            False,
            0.0,
            torch.eye(width, dtype=query.dtype, device=query.device),  # out_proj comes after the empty rows
            None,
            training=False,
            attn_mask=blocked,
            use_separate_proj_weight=True,
            q_proj_weight=self.q_proj.weight,
            k_proj_weight=self.k_proj.weight,
            v_proj_weight=self.v_proj.weight,
            average_attn_weights=False,
        )
        mixed = mixed.transpose(0, 1)  # (B, N_q, E)
        if empty is not None:
            weights = weights.masked_fill(empty, 0.0)
            mixed = mixed.unflatten(-1, (heads, -1)).masked_fill(empty.transpose(1, 2), 0.0).flatten(start_dim=2)
        return self.out_proj(mixed), weights


def _refuse(embed_dim, num_heads):
    if embed_dim % num_heads != 0:
        raise ValueError(f"{embed_dim} features cannot be cut into {num_heads} heads of the same width")
