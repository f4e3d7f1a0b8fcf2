import math

import torch
import torch.nn.functional as F
from torch import nn

# %% merge_view_after_transpose
# .view on the result of transpose, without contiguous: PyTorch refuses.
# Expected: merge_view_after_transpose


def merge_heads(x):
    b, h, n, d = x.shape
    return x.transpose(1, 2).view(b, n, h * d)


# %% merge_view_minus_one
# permute, then .view(..., -1), from memory of a GPT.
# Expected: merge_view_after_transpose


def merge_heads(x):
    x = x.permute(0, 2, 1, 3)
    return x.view(x.size(0), x.size(1), -1)


# %% merge_reshape_alone
# One reshape, as if heads and tokens stood in the right order.
# Expected: merge_without_transposing


def merge_heads(x):
    B, H, N, D = x.size()
    return x.contiguous().view(B, N, H * D)


# %% merge_permute_wrong
# permute(0, 2, 3, 1): the features of the heads alternate.
# Expected: merge_interleaved


def merge_heads(x):
    b, h, n, d = x.shape
    x = x.permute(0, 2, 3, 1).contiguous()
    return x.view(b, n, d * h)


# %% split_view_at_once
# .view(B, H, N, D) at once: tokens and heads are mixed up.
# Expected: split_without_transpose


def split_heads(x, num_heads):
    B, N, E = x.shape
    if E % num_heads:
        raise ValueError(f"embed_dim {E} is not divisible by num_heads {num_heads}")
    return x.view(B, num_heads, N, E // num_heads)


# %% split_left_to_torch
# No check: .view complains about an invalid shape.
# Expected: split_left_to_torch


def split_heads(x, num_heads):
    batch_size, seq_len, d_model = x.size()
    d_k = d_model // num_heads
    return x.view(batch_size, seq_len, num_heads, d_k).transpose(1, 2)


# %% split_permute_only
# The heads stay behind the tokens: transpose forgotten.
# Expected: split_left_by_token


def split_heads(x, num_heads):
    B, N, E = x.shape
    if E % num_heads != 0:
        raise ValueError(f"{E} features do not divide into {num_heads} heads")
    return x.view(B, N, num_heads, E // num_heads)


# %% split_chunks_catted
# torch.chunk and torch.cat along dim 1: the heads follow each other as tokens.
# Expected: split_chunks_joined


def split_heads(x, num_heads):
    if x.shape[-1] % num_heads:
        raise ValueError(f"{x.shape[-1]} and {num_heads}")
    return torch.cat(torch.chunk(x, num_heads, dim=-1), dim=1)


# %% view_after_matmul_transpose
# The merge is inside of forward with .view after transpose, and merge_heads is right.
# Expected: context_viewed_after_transpose


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim} % {num_heads} != 0")
        self.h, self.d_k = num_heads, embed_dim // num_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(embed_dim, embed_dim) for _ in range(4))

    def forward(self, query, key=None, value=None, mask=None):
        if key is None:
            key = query
        if value is None:
            value = key
        if key.size(1) != value.size(1):
            raise ValueError(f"{key.size(1)} keys and {value.size(1)} values")
        B = query.size(0)
        q = self.q_proj(query).view(B, -1, self.h, self.d_k).transpose(1, 2)
        k = self.k_proj(key).view(B, -1, self.h, self.d_k).transpose(1, 2)
        v = self.v_proj(value).view(B, -1, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)
        if mask is not None:
            mask = mask.unsqueeze(1) if mask.dim() == 3 else mask
            dead = (mask == 0).all(-1, keepdim=True)
            scores = scores.masked_fill(mask == 0, -math.inf).masked_fill(dead, 0.0)
        attn = scores.softmax(-1)
        if mask is not None:
            attn = attn.masked_fill(mask == 0, 0.0)
        x = torch.matmul(attn, v).transpose(1, 2).view(B, -1, self.h * self.d_k)
        return self.out_proj(x), attn


# %% blog_minus_1e9
# The layer of a well-known blog: -1e9, a mask for all heads, nothing checked.
# Expected: fills_minus_1e9


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError(f"embed_dim {embed_dim} must be divisible by num_heads {num_heads}")
        self.d_k = embed_dim // num_heads
        self.num_heads = num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"{key.shape[1]} keys, {value.shape[1]} values")
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)
        nbatches = query.size(0)
        q, k, v = [
            lin(x).view(nbatches, -1, self.num_heads, self.d_k).transpose(1, 2)
            for lin, x in zip((self.q_proj, self.k_proj, self.v_proj), (query, key, value))
        ]
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        p_attn = F.softmax(scores, dim=-1)
        x = torch.matmul(p_attn, v)
        x = x.transpose(1, 2).contiguous().view(nbatches, -1, self.num_heads * self.d_k)
        return self.out_proj(x), p_attn


# %% finfo_min
# The smallest number of the dtype for blocked scores.
# Expected: fills_finite_minimum


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim} is no multiple of {num_heads}")
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key=None, value=None, mask=None):
        key = key if key is not None else query
        value = value if value is not None else key
        if key.shape[-2] != value.shape[-2]:
            raise ValueError(f"{key.shape[-2]} {value.shape[-2]}")
        q = split_heads(self.q_proj(query), self.num_heads)
        k = split_heads(self.k_proj(key), self.num_heads)
        v = split_heads(self.v_proj(value), self.num_heads)
        dots = torch.einsum("bhid,bhjd->bhij", q, k) * self.head_dim**-0.5
        if mask is not None:
            if mask.ndim == 3:
                mask = mask[:, None]
            dots = dots.masked_fill(mask == 0, torch.finfo(dots.dtype).min)
        attn = dots.softmax(dim=-1)
        out = torch.einsum("bhij,bhjd->bhid", attn, v)
        return self.out_proj(merge_heads(out)), attn


# %% tilde_mask
# masked_fill(~mask, -inf): an error for masks of numbers.
# Expected: mask_must_be_bool


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim} is no multiple of {num_heads}")
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"keys {key.shape[1]}, values {value.shape[1]}")
        q = split_heads(self.q_proj(query), self.num_heads)
        k = split_heads(self.k_proj(key), self.num_heads)
        v = split_heads(self.v_proj(value), self.num_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)
            nothing = ~mask.any(dim=-1, keepdim=True)
            scores = scores.masked_fill(~mask, -math.inf).masked_fill(nothing, 0.0)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights * mask
        return self.out_proj(merge_heads(weights @ v)), weights


# %% mask_not_unsqueezed
# A mask of three dimensions is used as it is.
# Expected: mask_over_the_wrong_axis


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim} is no multiple of {num_heads}")
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"keys {key.shape[1]}, values {value.shape[1]}")
        Q, K, V = (split_heads(p(x), self.num_heads) for p, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value)))
        logits = Q @ K.mT / self.head_dim**0.5
        if mask is None:
            A = logits.softmax(-1)
        else:
            A = logits.masked_fill(mask == 0, -torch.inf).softmax(-1).masked_fill(mask == 0, 0)
        return self.out_proj(merge_heads(A @ V)), A


# %% nan_rows
# -inf and a softmax, and nothing for a row that is all blocked.
# Expected: nan_where_all_is_blocked


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim} is no multiple of {num_heads}")
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"keys {key.shape[1]}, values {value.shape[1]}")
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        q, k, v = (split_heads(t, self.num_heads) for t in (q, k, v))
        attn_scores = q @ k.transpose(2, 3)
        if mask is not None:
            mask = mask.bool()
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)
            attn_scores = attn_scores.masked_fill(~mask, -torch.inf)
        attn_weights = torch.softmax(attn_scores / k.shape[-1] ** 0.5, dim=-1)
        context = merge_heads(attn_weights @ v)
        return self.out_proj(context), attn_weights


# %% linear_made_in_forward
# nn.Linear made in forward: new random weights in every call.
# Expected: projections_are_no_parameters


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim} is no multiple of {num_heads}")
        self.embed_dim, self.num_heads = embed_dim, num_heads

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"keys {key.shape[1]}, values {value.shape[1]}")
        q = split_heads(nn.Linear(self.embed_dim, self.embed_dim)(query), self.num_heads)
        k = split_heads(nn.Linear(self.embed_dim, self.embed_dim)(key), self.num_heads)
        v = split_heads(nn.Linear(self.embed_dim, self.embed_dim)(value), self.num_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.embed_dim // self.num_heads)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            w = torch.softmax(scores.masked_fill(blocked, -math.inf), -1).masked_fill(blocked, 0.0)
        else:
            w = torch.softmax(scores, -1)
        return nn.Linear(self.embed_dim, self.embed_dim)(merge_heads(w @ v)), w


# %% qkv_in_one
# One nn.Linear(E, 3 E) for all three, as in many models.
# Expected: projections_in_one_layer


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim} is no multiple of {num_heads}")
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.qkv = nn.Linear(embed_dim, 3 * embed_dim)
        self.proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"keys {key.shape[1]}, values {value.shape[1]}")
        q, _, _ = self.qkv(query).chunk(3, dim=-1)
        _, k, _ = self.qkv(key).chunk(3, dim=-1)
        _, _, v = self.qkv(value).chunk(3, dim=-1)
        q, k, v = (split_heads(t, self.num_heads) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            w = torch.softmax(scores.masked_fill(blocked, -math.inf), -1).masked_fill(blocked, 0.0)
        else:
            w = torch.softmax(scores, -1)
        return self.proj(merge_heads(w @ v)), w


# %% qkv_without_bias
# bias=False for queries, keys and values; the output has one.
# Expected: query_key_value_without_bias


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, qkv_bias=False):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim} is no multiple of {num_heads}")
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=qkv_bias)
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=qkv_bias)
        self.v_proj = nn.Linear(embed_dim, embed_dim, bias=qkv_bias)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"keys {key.shape[1]}, values {value.shape[1]}")
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        q, k, v = (split_heads(t, self.num_heads) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            w = torch.softmax(scores.masked_fill(blocked, -math.inf), -1).masked_fill(blocked, 0.0)
        else:
            w = torch.softmax(scores, -1)
        return self.out_proj(merge_heads(w @ v)), w


# %% one_projection
# self.proj for queries, keys and values.
# Expected: one_projection_for_all


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim} is no multiple of {num_heads}")
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"keys {key.shape[1]}, values {value.shape[1]}")
        q, k, v = (split_heads(self.proj(t), self.num_heads) for t in (query, key, value))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            w = torch.softmax(scores.masked_fill(blocked, -math.inf), -1).masked_fill(blocked, 0.0)
        else:
            w = torch.softmax(scores, -1)
        return self.out_proj(merge_heads(w @ v)), w


# %% no_output_projection
# Three projections only: the merged heads are the output.
# Expected: output_projection_not_made


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim} is no multiple of {num_heads}")
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"keys {key.shape[1]}, values {value.shape[1]}")
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        q, k, v = (split_heads(t, self.num_heads) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            w = torch.softmax(scores.masked_fill(blocked, -math.inf), -1).masked_fill(blocked, 0.0)
        else:
            w = torch.softmax(scores, -1)
        return merge_heads(w @ v), w


# %% lengths_left_to_torch
# Different numbers of keys and values are left to the matrix product.
# Expected: lengths_left_to_torch


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim} is no multiple of {num_heads}")
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        q, k, v = (split_heads(t, self.num_heads) for t in (q, k, v))
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            w = torch.softmax(scores.masked_fill(blocked, -math.inf), -1).masked_fill(blocked, 0.0)
        else:
            w = torch.softmax(scores, -1)
        return self.out_proj(merge_heads(torch.matmul(w, v))), w


# %% key_or_query
# `key or query`: the truth of a tensor with many numbers.
# Expected: truth_of_a_tensor


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim} is no multiple of {num_heads}")
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key=None, value=None, mask=None):
        key = key or query
        value = value or key
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"keys {key.shape[1]}, values {value.shape[1]}")
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        q, k, v = (split_heads(t, self.num_heads) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            w = torch.softmax(scores.masked_fill(blocked, -math.inf), -1).masked_fill(blocked, 0.0)
        else:
            w = torch.softmax(scores, -1)
        return self.out_proj(merge_heads(w @ v)), w


# %% scale_of_embed_dim
# The square root of embed_dim, and NaN rows: two mistakes.
# Expected: scale_of_the_whole_width or nan_where_all_is_blocked


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim} is no multiple of {num_heads}")
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if key.shape[1] != value.shape[1]:
            raise ValueError(f"keys {key.shape[1]}, values {value.shape[1]}")
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        q, k, v = (split_heads(t, self.num_heads) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.embed_dim)
        if mask is not None:
            mask = mask.unsqueeze(1) if mask.dim() == 3 else mask
            scores = scores.masked_fill(mask == 0, -math.inf)
        w = torch.softmax(scores, -1)
        return self.out_proj(merge_heads(w @ v)), w


# %% scale_of_embed_dim_and_no_refusal
# The square root of embed_dim, all else right but for the refusal of other lengths, which PyTorch raises itself.
# Expected: scale_of_the_whole_width


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"{embed_dim} is no multiple of {num_heads}")
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        q, k, v = (split_heads(t, self.num_heads) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.embed_dim)
        if mask is None:
            w = torch.softmax(scores, -1)
        else:
            blocked = (mask.unsqueeze(1) if mask.dim() == 3 else mask) == 0
            w = torch.softmax(scores.masked_fill(blocked, -math.inf), -1).masked_fill(blocked, 0.0)
        return self.out_proj(merge_heads(w @ v)), w
