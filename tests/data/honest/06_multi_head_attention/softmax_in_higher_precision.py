"""Like the implementations one finds in model code: scores in float32 at least, then back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Optional

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    embed_dim: int
    num_heads: int

    def __post_init__(self) -> None:
        if self.embed_dim % self.num_heads != 0:
            raise ValueError(
                f"embed_dim must be divisible by num_heads (got embed_dim: {self.embed_dim} and num_heads:"
                f" {self.num_heads})."
            )

    @property
    def head_dim(self) -> int:
        return self.embed_dim // self.num_heads


class Output(NamedTuple):
    hidden_states: Tensor
    attentions: Tensor


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    config = Config(x.shape[-1], num_heads)
    return x.view(*x.shape[:2], num_heads, config.head_dim).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    bsz, _, tgt_len, _ = x.size()
    return x.transpose(1, 2).reshape(bsz, tgt_len, -1)


def expand_mask(mask: Tensor) -> Tensor:
    if mask.dim() == 2:
        return mask[None, None, :, :].bool()
    if mask.dim() == 3:
        return mask[:, None, :, :].bool()
    return mask.bool()


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        self.config = Config(embed_dim, num_heads)
        self.scaling = 1 / math.sqrt(self.config.head_dim)
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self._reset_parameters()

    @torch.no_grad()
    def _reset_parameters(self) -> None:
        for projection in (self.q_proj, self.k_proj, self.v_proj):
            nn.init.normal_(projection.weight, std=self.config.embed_dim**-0.5)
            projection.bias.zero_()

    def forward(
        self,
        query: Tensor,
        key: Optional[Tensor] = None,
        value: Optional[Tensor] = None,
        mask: Optional[Tensor] = None,
    ) -> Output:
        key = query if key is None else key
        value = key if value is None else value
        if key.size(1) != value.size(1):
            raise ValueError(f"key and value should have the same length, but got {key.size(1)} and {value.size(1)}.")
        heads = self.config.num_heads
        query_states = split_heads(self.q_proj(query), heads) * self.scaling
        key_states = split_heads(self.k_proj(key), heads)
        value_states = split_heads(self.v_proj(value), heads)

        attn_weights = torch.matmul(query_states, key_states.transpose(2, 3))
        precise = torch.float32 if attn_weights.dtype in (torch.float16, torch.bfloat16) else attn_weights.dtype
        if mask is not None:
            allowed = expand_mask(mask)
            attn_weights = attn_weights.masked_fill(~allowed, torch.finfo(attn_weights.dtype).min)
        attn_weights = F.softmax(attn_weights, dim=-1, dtype=precise).to(query_states.dtype)
        if mask is not None:
            attn_weights = attn_weights.masked_fill(~allowed, 0.0)
        attn_output = merge_heads(torch.matmul(attn_weights, value_states))
        return Output(self.out_proj(attn_output), attn_weights)


REFLECT_WEIGHT_ENTRIES_B32_H96_N2048 = 32 * 96 * 2048 * 2048
REFLECT_WEIGHT_BYTES_FLOAT32 = 4 * REFLECT_WEIGHT_ENTRIES_B32_H96_N2048
REFLECT_PARAMETERS_E512 = 4 * (512 * 512 + 512)
