"""First drafts of 06_multi_head_attention: what is not in a cell is as in the stub."""

import math

import torch
from torch import nn

# %% view_without_transpose
# The heads are cut with a single view, which mixes tokens and features; no refusal
# Expected: split_heads: value


def split_heads(x, num_heads):
    B, N, E = x.shape
    return x.view(B, num_heads, N, E // num_heads)


# %% merge_with_view
# `view` after `transpose` raises an error
# Expected: merge_heads: raises


def split_heads(x, num_heads):
    B, N, E = x.shape
    if E % num_heads:
        raise ValueError(f"{E} is not a multiple of {num_heads}")
    return x.reshape(B, N, num_heads, E // num_heads).transpose(1, 2)


def merge_heads(x):
    B, H, N, D = x.shape
    return x.transpose(1, 2).view(B, N, H * D)


# %% merge_in_the_wrong_order
# merge_heads forgets the transpose; the class is not begun
# Expected: merge_heads: value


def split_heads(x, num_heads):
    B, N, E = x.shape
    if E % num_heads != 0:
        raise ValueError(f"embed dim {E} must be divisible by {num_heads}")
    return x.view(B, N, num_heads, E // num_heads).transpose(1, 2)


def merge_heads(x):
    B, H, N, D = x.shape
    return x.reshape(B, N, H * D)
