import math

import torch
from torch import nn

# %% split_without_transpose view


def split_heads(x, num_heads):
    b, n, e = x.size()
    if e % num_heads:
        raise ValueError(f"{e} % {num_heads}")
    return x.contiguous().view(b, num_heads, n, e // num_heads)


# %% split_without_transpose unflatten


def split_heads(x, num_heads):
    if x.shape[-1] % num_heads != 0:
        raise ValueError(f"cannot divide {x.shape[-1]} by {num_heads}")
    flat = x.flatten(1)
    return flat.unflatten(1, (num_heads, x.shape[1], -1))


# %% split_without_transpose lists


def split_heads(x, num_heads):
    b, n, e = x.shape
    if e % num_heads != 0:
        raise ValueError(f"{e} and {num_heads}")
    return torch.stack([one.reshape(num_heads, n, e // num_heads) for one in x])


# %% split_interleaved strided


def split_heads(x, num_heads):
    if x.shape[-1] % num_heads:
        raise ValueError(f"{x.shape[-1]} features and {num_heads} heads")
    return torch.stack([x[..., h::num_heads] for h in range(num_heads)], dim=1)


# %% split_interleaved einsum


def split_heads(x, num_heads):
    if x.shape[-1] % num_heads:
        raise ValueError(f"{x.shape[-1]} features and {num_heads} heads")
    return torch.einsum("bndh->bhnd", x.unflatten(-1, (-1, num_heads)))


# %% merge_without_transposing view


def merge_heads(x):
    return x.contiguous().view(x.size(0), x.size(2), -1)


# %% merge_without_transposing flatten


def merge_heads(x):
    return x.flatten(1).unflatten(1, (x.shape[2], x.shape[1] * x.shape[3]))


# %% merge_averages looped


def merge_heads(x):
    total = x[:, 0]
    for h in range(1, x.shape[1]):
        total = total + x[:, h]
    return total / x.shape[1]


# %% scale_of_the_whole_width kept


class MultiHeadAttention(MultiHeadAttention):
    def __init__(self, embed_dim, num_heads):
        super().__init__(embed_dim, num_heads)
        self.head_dim = embed_dim  # what forward divides by the root of


# %% scale_of_the_whole_width prescaled


def attend(q, k, v, mask):
    scores = q @ k.mT
    if mask is not None:
        mask = (mask[:, None] if mask.dim() == 3 else mask).bool()
        scores = torch.where(mask, scores, -math.inf)
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = torch.where(mask, weights, 0.0)
    return weights @ v, weights


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} and {value.shape[1]}")
        q = split_heads(self.q_proj(query) / query.shape[-1] ** 0.5, self.num_heads)
        k, v = split_heads(self.k_proj(key), self.num_heads), split_heads(self.v_proj(value), self.num_heads)
        mixed, weights = attend(q, k, v, mask)
        return self.out_proj(merge_heads(mixed)), weights


# %% no_scaling looped


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} and {value.shape[1]}")
        parts = [x.chunk(self.num_heads, dim=-1) for x in (self.q_proj(query), self.k_proj(key), self.v_proj(value))]
        outputs, shares = [], []
        for h, (q, k, v) in enumerate(zip(*parts, strict=True)):
            scores = torch.bmm(q, k.mT)
            if mask is not None:
                blocked = mask == 0
                if mask.dim() == 4:
                    blocked = blocked.expand(-1, self.num_heads, -1, -1)[:, h]
                scores = scores.masked_fill(blocked, -math.inf)
            weights = torch.nan_to_num(torch.softmax(scores, dim=-1))
            shares.append(weights)
            outputs.append(torch.bmm(weights, v))
        return self.out_proj(torch.cat(outputs, dim=-1)), torch.stack(shares, dim=1)


# %% no_scaling einsum


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
        scores = torch.einsum("bhid,bhjd->bhij", q, k)
        if mask is not None:
            keep = (mask.unsqueeze(1) if mask.dim() == 3 else mask) != 0
            scores = scores.masked_fill(~keep, -math.inf)
        weights = torch.softmax(scores, -1)
        if mask is not None:
            weights = weights.masked_fill(~keep, 0)
        return self.out_proj(torch.einsum("bhij,bhjd->bihd", weights, v).flatten(2)), weights


# %% no_scaling kept


class MultiHeadAttention(MultiHeadAttention):
    def __init__(self, embed_dim, num_heads):
        super().__init__(embed_dim, num_heads)
        self.head_dim = 1


# %% output_projection_missing super


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        last, self.out_proj = self.out_proj, nn.Identity()
        try:
            return super().forward(query, key, value, mask)
        finally:
            self.out_proj = last


# %% output_projection_missing einsum


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        _, weights = super().forward(query, key, value, mask)
        value = value if value is not None else key if key is not None else query
        mixed = torch.einsum("bhij,bhjd->bihd", weights, split_heads(self.v_proj(value), self.num_heads))
        return mixed.reshape(query.shape), weights


# %% mask_inverted super


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        return super().forward(query, key, value, None if mask is None else mask == 0)


# %% mask_inverted where


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
        scores = q @ k.mT / self.head_dim**0.5
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            blocked = mask.bool() if mask.dim() != 3 else mask.bool()[:, None]
            weights = torch.softmax(torch.where(blocked, -math.inf, scores), dim=-1)
            weights = torch.where(blocked, 0.0, weights)
        return self.out_proj(merge_heads(weights @ v)), weights


# %% mask_ignored super


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):  # noqa: ARG002
        return super().forward(query, key, value)


# %% weights_first named


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        result = super().forward(query, key, value, mask)
        return tuple(reversed(result))


# %% weights_averaged summed


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        output, weights = super().forward(query, key, value, mask)
        return output, weights.sum(dim=1) / self.num_heads


# %% value_defaults_to_query super


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        if value is None:
            value = query
        return super().forward(query, key, value, mask)


# %% query_projection_for_keys super


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        modules = self._modules
        kept, modules["k_proj"] = modules["k_proj"], modules["q_proj"]
        try:
            return super().forward(query, key, value, mask)
        finally:
            modules["k_proj"] = kept


# %% weights_detached super


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        with torch.no_grad():
            weights = super().forward(query, key, value, mask)[1]
        value = value if value is not None else key if key is not None else query
        return self.out_proj(merge_heads(weights @ split_heads(self.v_proj(value), self.num_heads))), weights


# %% projections_are_no_parameters tuple


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim} % {num_heads}")
        self.num_heads = num_heads
        self.layers = tuple(nn.Linear(embed_dim, embed_dim) for _ in range(4))

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} and {value.shape[1]}")
        q, k, v = (split_heads(p(x), self.num_heads) for p, x in zip(self.layers, (query, key, value), strict=False))
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill((mask[:, None] if mask.dim() == 3 else mask) == 0, -math.inf)
        weights = torch.nan_to_num(torch.softmax(scores, dim=-1))
        return self.layers[3](merge_heads(weights @ v)), weights


# %% projections_frozen one_by_one


class MultiHeadAttention(MultiHeadAttention):
    def __init__(self, embed_dim, num_heads):
        super().__init__(embed_dim, num_heads)
        self.requires_grad_(False)


# %% nan_where_all_is_blocked super


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        output, weights = super().forward(query, key, value, mask)
        bad = weights.sum(dim=-1, keepdim=True) == 0
        weights = weights.masked_fill(bad, math.nan)
        value = value if value is not None else key if key is not None else query
        if bad.any():
            output = self.out_proj(merge_heads(weights @ split_heads(self.v_proj(value), self.num_heads)))
        return output, weights
