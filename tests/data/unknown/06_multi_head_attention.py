import math

import torch
from torch import nn

# %% heads_in_reverse


def split_heads(x, num_heads):
    if x.shape[-1] % num_heads:
        raise ValueError(f"{x.shape[-1]} features and {num_heads} heads")
    return torch.stack(x.chunk(num_heads, dim=-1)[::-1], dim=1)


# %% tokens_in_reverse


def split_heads(x, num_heads):
    if x.shape[-1] % num_heads:
        raise ValueError(f"{x.shape[-1]} features and {num_heads} heads")
    return torch.stack(x.flip(1).chunk(num_heads, dim=-1), dim=1)


# %% overlapping_slices


def split_heads(x, num_heads):
    if x.shape[-1] % num_heads:
        raise ValueError(f"{x.shape[-1]} features and {num_heads} heads")
    width = x.shape[-1] // num_heads
    return torch.stack([x.roll(-h, dims=-1)[..., :width] for h in range(num_heads)], dim=1)


# %% merged_in_reverse


def merge_heads(x):
    return torch.cat(x.unbind(1)[::-1], dim=-1)


# %% merges_the_largest


def merge_heads(x):
    return x.amax(dim=1)


# %% fourth_root


class MultiHeadAttention(MultiHeadAttention):
    def __init__(self, embed_dim, num_heads):
        super().__init__(embed_dim, num_heads)
        self.head_dim = self.head_dim**0.5


# %% scale_of_half_the_width


class MultiHeadAttention(MultiHeadAttention):
    def __init__(self, embed_dim, num_heads):
        super().__init__(embed_dim, num_heads)
        self.head_dim = self.head_dim / 2


# %% rounded


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        output, weights = super().forward(query, key, value, mask)
        return output.round(decimals=2), weights


# %% doubled_output


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        output, weights = super().forward(query, key, value, mask)
        return 2 * output, weights


# %% value_projection_for_queries


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        modules = self._modules
        kept, modules["q_proj"] = modules["q_proj"], modules["v_proj"]
        try:
            return super().forward(query, key, value, mask)
        finally:
            modules["q_proj"] = kept


# %% activation_on_the_output


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        output, weights = super().forward(query, key, value, mask)
        return torch.relu(output), weights


# %% normalised_output


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        output, weights = super().forward(query, key, value, mask)
        return nn.functional.layer_norm(output, output.shape[-1:]), weights


# %% last_heads_weights_for_all


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        _, weights = super().forward(query, key, value, mask)
        weights = weights[:, -1:].expand_as(weights)
        value = value if value is not None else key if key is not None else query
        return self.out_proj(merge_heads(weights @ split_heads(self.v_proj(value), self.num_heads))), weights


# %% blocked_scores_lowered_by_five


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} and {value.shape[1]}")
        q, k, v = (
            split_heads(p(x), self.num_heads)
            for p, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.mT / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores - 5.0 * ((mask[:, None] if mask.dim() == 3 else mask) == 0)
        weights = torch.softmax(scores, dim=-1)
        return self.out_proj(merge_heads(weights @ v)), weights


# %% a_blocked_row_sees_the_first_key


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        _, weights = super().forward(query, key, value, mask)
        first = torch.zeros_like(weights)
        first[..., 0] = 1
        weights = torch.where(weights.sum(dim=-1, keepdim=True) == 0, first, weights)
        value = value if value is not None else key if key is not None else query
        return self.out_proj(merge_heads(weights @ split_heads(self.v_proj(value), self.num_heads))), weights


# %% last_mask_for_all_sentences


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        if mask is not None and mask.dim() == 3:
            mask = mask[-1]
        return super().forward(query, key, value, mask)


# %% mask_shifted_by_one_key


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        return super().forward(query, key, value, None if mask is None else mask.roll(1, dims=-1))


# %% half_the_gradient


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        output, weights = super().forward(query, key, value, mask)
        return (output + output.detach()) / 2, weights


# %% key_detached


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        return super().forward(query, key.detach(), value, mask)
