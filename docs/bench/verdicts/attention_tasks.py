"""Tasks of torch-judge about attention, heads, positions and caches. All code is our own."""

from __future__ import annotations

from docs.bench.verdicts.task import Slip, Task

SOFTMAX = Task(
    "softmax",
    "01_softmax",
    {
        "keepdim": """
import torch

def my_softmax(x, dim=-1):
    e = torch.exp(x - x.max(dim=dim, keepdim=True).values)
    return e / e.sum(dim=dim, keepdim=True)
""",
        "logsumexp": """
import torch

def my_softmax(x, dim=-1):
    return torch.exp(x - torch.logsumexp(x, dim=dim, keepdim=True))
""",
        "moved axis": """
import torch

def my_softmax(x, dim=-1):
    rows = x.movedim(dim, -1)
    rows = (rows - rows.amax(-1, keepdim=True)).exp()
    return (rows / rows.sum(-1, keepdim=True)).movedim(-1, dim)
""",
    },
    (
        Slip("no_max_subtraction", "x - x.max(dim=dim, keepdim=True).values", "x"),
        Slip("global_max", "x.max(dim=dim, keepdim=True).values", "x.max()"),
        Slip("ignores_axis", "dim=dim", "dim=-1"),
        Slip("axis_zero", "dim=dim", "dim=0"),
        Slip("whole_array", "e.sum(dim=dim, keepdim=True)", "e.sum()"),
        Slip("epsilon_in_the_sum", "e.sum(dim=dim, keepdim=True)", "(e.sum(dim=dim, keepdim=True) + 1e-6)"),
        Slip("upcasts_float32", "torch.exp(x", "torch.exp(x.double()"),
        Slip("modifies_input", "torch.exp(x - x.max(dim=dim, keepdim=True).values)",
             "x.sub_(x.max(dim=dim, keepdim=True).values).exp_()"),
    ),
)  # fmt: skip

ATTENTION = Task(
    "attention",
    "03_attention",
    {
        "matmul": """
import math
import torch

def scaled_dot_product_attention(Q, K, V):
    scores = Q @ K.transpose(-2, -1) / math.sqrt(K.shape[-1])
    return torch.softmax(scores, dim=-1) @ V
""",
        "einsum": """
import torch

def scaled_dot_product_attention(Q, K, V):
    scores = torch.einsum("bqd,bkd->bqk", Q * Q.shape[-1] ** -0.5, K)
    return torch.einsum("bqk,bkv->bqv", scores.softmax(-1), V)
""",
        "one query at a time": """
import torch

def scaled_dot_product_attention(Q, K, V):
    rows = []
    for i in range(Q.shape[1]):
        scores = (K * Q[:, i : i + 1]).sum(-1) / K.shape[-1] ** 0.5
        rows.append((torch.softmax(scores, -1)[..., None] * V).sum(1))
    return torch.stack(rows, 1)
""",
    },
    (
        Slip("function_without_scaling", " / math.sqrt(K.shape[-1])", ""),
        Slip("function_divides_by_d_k", "math.sqrt(K.shape[-1])", "K.shape[-1]"),
        Slip("function_softmax_over_queries", "dim=-1", "dim=-2"),
        Slip("function_takes_d_v_for_d_k", "K.shape[-1]", "V.shape[-1]"),
        Slip("function_takes_n_k_for_d_k", "K.shape[-1]", "K.shape[-2]"),
        Slip("function_scales_the_weights", " / math.sqrt(K.shape[-1])\n    return torch.softmax(scores, dim=-1)",
             "\n    return torch.softmax(scores, dim=-1) / math.sqrt(K.shape[-1])"),
        Slip("function_upcasts_float32", "scores = Q @", "Q, K, V = Q.double(), K.double(), V.double(); scores = Q @"),
        Slip("function_scales_queries_in_place", "scores = Q @ K.transpose(-2, -1) / math.sqrt(K.shape[-1])",
             "Q.data /= math.sqrt(K.shape[-1]); scores = Q @ K.transpose(-2, -1)"),
    ),
)  # fmt: skip

CAUSAL = Task(
    "causal_attention",
    "04_masks",
    {
        "masked fill": """
import math
import torch

def causal_attention(Q, K, V):
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
    future = torch.ones(Q.shape[-2], K.shape[-2]).triu(1).bool()
    return torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1) @ V
""",
        "where": """
import torch

def causal_attention(Q, K, V):
    n = Q.shape[-2]
    here = torch.arange(n)
    scores = torch.einsum("bqd,bkd->bqk", Q, K) / Q.shape[-1] ** 0.5
    scores = torch.where(here[:, None] >= here, scores, torch.tensor(-torch.inf))
    return scores.softmax(-1) @ V
""",
    },
    (
        Slip("causal_diagonal_excluded", "triu(1)", "triu(0)"),
        Slip("causal_one_ahead", "triu(1)", "triu(2)"),
        Slip("causal_upper_triangle", "triu(1)", "tril(-1)"),
        Slip("causal_everything_allowed", "triu(1)", "triu(99)"),
        Slip("fills_minus_hundred", 'float("-inf")', "-100.0"),
        Slip("fills_zero", 'float("-inf")', "0.0"),
        Slip("mask_after_softmax", 'scores.masked_fill(future, float("-inf")), dim=-1)',
             "scores, dim=-1).masked_fill(future, 0.0)"),
    ),
)  # fmt: skip

HEADS = Task(
    "mha",
    "06_multi_head_attention",
    {
        "view and transpose": """
import math
import torch
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h, self.d = num_heads, d_model // num_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, Q, K, V):
        q, k, v = self.split(self.W_q(Q)), self.split(self.W_k(K)), self.split(self.W_v(V))
        weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(self.d), dim=-1)
        heads = (weights @ v).transpose(1, 2)
        return self.W_o(heads.reshape(Q.shape))

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.h, self.d).transpose(1, 2)
""",
        "chunks": """
import torch
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, Q, K, V):
        parts = zip(*(layer(x).chunk(self.num_heads, -1) for layer, x in ((self.W_q, Q), (self.W_k, K), (self.W_v, V))))
        heads = [(q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v for q, k, v in parts]
        return self.W_o(torch.cat(heads, -1))
""",
    },
    (
        Slip("no_scaling", " / math.sqrt(self.d)", ""),
        Slip("scale_of_the_whole_width", "math.sqrt(self.d)", "math.sqrt(self.d * self.h)"),
        Slip("output_projection_missing", "self.W_o(heads.reshape(Q.shape))", "heads.reshape(Q.shape)"),
        Slip("softmax_over_queries", "dim=-1", "dim=-2"),
        Slip("merge_without_transposing", "(weights @ v).transpose(1, 2)", "weights @ v"),
        Slip("split_without_transpose", "x.view(x.shape[0], x.shape[1], self.h, self.d).transpose(1, 2)",
             "x.reshape(x.shape[0], self.h, x.shape[1], self.d)"),
        Slip("query_detached", "self.W_q(Q)", "self.W_q(Q.detach())"),
        Slip("weights_detached", "(weights @ v)", "(weights.detach() @ v)"),
        Slip("key_projection_for_values", "self.W_v(V)", "self.W_k(V)"),
    ),
)  # fmt: skip

ROPE = Task(
    "rope",
    "08_positions",
    {
        "pairs": """
import torch

def apply_rope(q, k):
    return turned(q), turned(k)

def turned(x):
    n, d = x.shape[-2:]
    rates = 10000.0 ** (-torch.arange(0, d, 2) / d)
    angles = torch.arange(n)[:, None] * rates
    even, odd = x[..., 0::2], x[..., 1::2]
    pair = (even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos())
    return torch.stack(pair, -1).flatten(-2)
""",
        "complex numbers": """
import torch

def apply_rope(q, k):
    n, d = q.shape[-2:]
    angles = torch.outer(torch.arange(n).float(), 10000.0 ** (-torch.arange(0, d, 2).float() / d))
    turn = torch.polar(torch.ones_like(angles), angles)
    return tuple(
        torch.view_as_real(torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2)) * turn).flatten(-2) for x in (q, k)
    )
""",
    },
    (
        Slip("rope_turns_backwards", "rates = 10000.0 **", "rates = -10000.0 **"),
        Slip("rope_positions_from_one", "torch.arange(n)[:, None]", "torch.arange(1, n + 1)[:, None]"),
        Slip("rope_one_frequency", "rates = 10000.0 ** (-torch.arange(0, d, 2) / d)", "rates = torch.ones(d // 2)"),
        Slip("rope_frequency_exponent_half", "(-torch.arange(0, d, 2) / d)", "(-torch.arange(0, d // 2) / d)"),
        Slip("rope_half_split", "even, odd = x[..., 0::2], x[..., 1::2]", "even, odd = x.chunk(2, -1)"),
        Slip("rope_written_in_halves", "torch.stack(pair, -1).flatten(-2)", "torch.cat(pair, -1)"),
        Slip("rope_degrees", "angles = torch.arange(n)[:, None] * rates",
             "angles = torch.deg2rad(torch.arange(n)[:, None] * rates)"),
        Slip("rope_only_first_pair", "rates = 10000.0 ** (-torch.arange(0, d, 2) / d)",
             "rates = (torch.arange(d // 2) == 0).float()"),
        Slip("rope_last_position_for_all", "torch.arange(n)[:, None]", "torch.full((n, 1), n - 1)"),
    ),
)  # fmt: skip

GROUPS = Task(
    "gqa",
    "09_kv_cache",
    {
        "repeat interleave": """
import math
import torch
from torch import nn

class GroupQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x):
        b, n, e = x.shape
        q = self.W_q(x).view(b, n, self.h, self.d).transpose(1, 2)
        k = self.W_k(x).view(b, n, self.g, self.d).transpose(1, 2).repeat_interleave(self.h // self.g, dim=1)
        v = self.W_v(x).view(b, n, self.g, self.d).transpose(1, 2).repeat_interleave(self.h // self.g, dim=1)
        weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(self.d), dim=-1)
        return self.W_o((weights @ v).transpose(1, 2).reshape(b, n, e))
""",
    },
    (
        Slip("repeats_in_turn", ".repeat_interleave(self.h // self.g, dim=1)", ".repeat(1, self.h // self.g, 1, 1)"),
        Slip("repeats_the_first_head", ".transpose(1, 2).repeat_interleave(self.h // self.g, dim=1)",
             ".transpose(1, 2)[:, :1].expand(-1, self.h, -1, -1)"),
        Slip("no_scaling", " / math.sqrt(self.d)", ""),
        Slip("scale_of_the_whole_width", "math.sqrt(self.d)", "math.sqrt(e)"),
        Slip("softmax_over_the_queries", "dim=-1", "dim=-2"),
        Slip("output_not_projected", "self.W_o((weights @ v).transpose(1, 2).reshape(b, n, e))",
             "(weights @ v).transpose(1, 2).reshape(b, n, e)"),
        Slip("merged_without_transpose", "(weights @ v).transpose(1, 2)", "(weights @ v)"),
        Slip("values_from_the_keys", "self.W_v(x)", "self.W_k(x)"),
    ),
)  # fmt: skip

CACHE = Task(
    "kv_cache",
    "09_kv_cache",
    {
        "concatenated": """
import math
import torch
from torch import nn

class KVCacheAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h, self.d = num_heads, d_model // num_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, cache=None):
        b, m, e = x.shape
        q, k, v = (one(x).view(b, m, self.h, self.d).transpose(1, 2) for one in (self.q, self.k, self.v))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        n = k.shape[2]
        future = torch.ones(m, n).triu(n - m + 1).bool()
        scores = (q @ k.transpose(-2, -1) / math.sqrt(self.d)).masked_fill(future, float("-inf"))
        y = torch.softmax(scores, dim=-1) @ v
        return self.o(y.transpose(1, 2).reshape(b, m, e)), (k, v)
""",
    },
    (
        Slip("mask_from_the_top_left", "triu(n - m + 1)", "triu(1 if m > 1 else n)"),
        Slip("no_mask_with_a_cache", "triu(n - m + 1)", "triu(1 if cache is None else n)"),
        Slip("no_scaling", " / math.sqrt(self.d)", ""),
        Slip("scale_of_the_whole_width", "math.sqrt(self.d)", "math.sqrt(e)"),
        Slip("newest_first", "torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)",
             "torch.cat([k, cache[0]], 2), torch.cat([v, cache[1]], 2)"),
        Slip("cut_without_transpose", "one(x).view(b, m, self.h, self.d).transpose(1, 2)",
             "one(x).view(b, self.h, m, self.d)"),
    ),
)  # fmt: skip
