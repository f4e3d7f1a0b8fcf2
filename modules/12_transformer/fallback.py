"""Stands in for 06_multi_head_attention: the same interface, built on the attention that PyTorch has already.

It is here so that this module can be finished without module 06. It would not pass there: it calls what 06 forbids, and
it splits heads token by token.
"""

import torch
from torch import nn
from torch.nn import functional as F

NAMES = ("q_proj", "k_proj", "v_proj", "out_proj")


def split_heads(x, num_heads):
    """Return (B, N, E) as (B, H, N, E / H)."""
    _require_even(x.shape[-1], num_heads)
    tokens = [token.unflatten(-1, (num_heads, -1)) for token in x.unbind(1)]  # each (B, H, E / H)
    return torch.stack(tokens, dim=2)


def merge_heads(x):
    """Return (B, H, N, D) as (B, N, H * D)."""
    return torch.stack([token.flatten(start_dim=1) for token in x.unbind(2)], dim=1)


class MultiHeadAttention(nn.Module):
    """Multi-head attention with the parameters and the masks of module 06."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        _require_even(embed_dim, num_heads)
        self.heads = num_heads
        for name in NAMES:
            setattr(self, name, nn.Linear(embed_dim, embed_dim))

    def forward(self, query, key=None, value=None, mask=None):
        """Return (output, weights) for queries (B, N_q, E): (B, N_q, E) and (B, H, N_q, N_k)."""
        given = [query, query if key is None else key]
        given.append(given[1] if value is None else value)
        (batch, n_q, width), n_k, n_v = query.shape, given[1].shape[1], given[2].shape[1]
        if n_k != n_v:
            raise ValueError(f"{n_k} keys and {n_v} values")
        shut = empty = None
        if mask is not None:
            allowed = (mask[:, None] if mask.dim() == 3 else mask) != 0
            allowed = allowed.expand(batch, self.heads, n_q, n_k)
            empty = ~allowed.any(dim=-1, keepdim=True)  # (B, H, N_q, 1)
            # PyTorch's True is blocked, and a row without keys would be NaN: such a row is opened, and removed below.
            shut = ~(allowed | empty).reshape(batch * self.heads, n_q, n_k)
        projections = [getattr(self, name) for name in NAMES[:3]]
        mixed, shares = F.multi_head_attention_forward(
            *(x.transpose(0, 1) for x in given),
            width,
            self.heads,
            None,
            torch.cat([one.bias for one in projections]),
            None,
            None,
            False,
            0.0,
            torch.eye(width, dtype=query.dtype, device=query.device),  # out_proj comes after the empty rows
            None,
            training=False,
            attn_mask=shut,
            use_separate_proj_weight=True,
            **{f"{name}_weight": one.weight for name, one in zip(NAMES, projections, strict=False)},
            average_attn_weights=False,
        )
        mixed = mixed.transpose(0, 1)  # (B, N_q, E)
        if empty is not None:
            shares = shares.masked_fill(empty, 0.0)
            mixed = mixed.unflatten(-1, (self.heads, -1)).masked_fill(empty.transpose(1, 2), 0.0).flatten(start_dim=2)
        return self.out_proj(mixed), shares


def _require_even(width, num_heads):
    if width % num_heads:
        raise ValueError(f"{width} features are not {num_heads} heads of the same width")
