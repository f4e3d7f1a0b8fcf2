"""Tasks of CS336's first assignment that this course has, too. All code is our own.

Only what that assignment asks for is called wrong. So other dtypes and changed arguments are not listed here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from docs.bench.verdicts.attention_tasks import SOFTMAX as MY_SOFTMAX
from docs.bench.verdicts.model_tasks import LOSS as MY_LOSS
from docs.bench.verdicts.task import Slip, Task


def _renamed(task: Task, old: str, new: str, left_out: Collection[str]) -> Task:
    """Return a task of torch-judge for the signature of this grader, without some of its wrong ways."""
    right = {style: text.replace(old, new) for style, text in task.right.items()}
    slips = tuple(slip for slip in task.slips if slip.misconception not in left_out)
    return Task(task.name, task.module, right, slips)


_ATTENTION: Mapping[str, str] = {
    "masked fill": """
import math
import torch

def run_scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ K.transpose(-2, -1) / math.sqrt(K.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ V
""",
    "einsum and where": """
import torch

def run_scaled_dot_product_attention(Q, K, V, mask=None):
    scores = torch.einsum("...qd,...kd->...qk", Q * Q.shape[-1] ** -0.5, K)
    if mask is not None:
        scores = torch.where(mask, scores, torch.tensor(-torch.inf))
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    return torch.einsum("...qk,...kv->...qv", e / e.sum(-1, keepdim=True), V)
""",
    "an additive mask": """
import torch

def run_scaled_dot_product_attention(Q, K, V, mask=None):
    bias = 0.0 if mask is None else torch.zeros(mask.shape).masked_fill(mask.logical_not(), -torch.inf)
    return ((Q @ K.mT) / K.shape[-1] ** 0.5 + bias).softmax(-1) @ V
""",
}

SOFTMAX = _renamed(MY_SOFTMAX, "my_softmax", "run_softmax", {"upcasts_float32", "modifies_input"})
LOSS = _renamed(MY_LOSS, "cross_entropy_loss", "run_cross_entropy", ())

ATTENTION = Task(
    "attention",
    "03_attention",
    _ATTENTION,
    (
        Slip("function_without_scaling", " / math.sqrt(K.shape[-1])", ""),
        Slip("function_divides_by_d_k", "math.sqrt(K.shape[-1])", "K.shape[-1]"),
        Slip("function_takes_n_k_for_d_k", "K.shape[-1]", "K.shape[-2]"),
        Slip("function_takes_d_v_for_d_k", "K.shape[-1]", "V.shape[-1]"),
        Slip("function_softmax_over_queries", "dim=-1", "dim=-2"),
        Slip("function_forgets_the_mask", "mask is not None", "mask is None"),
        Slip("function_inverts_the_mask", "~mask", "mask"),
        Slip("function_scales_the_weights", " / math.sqrt(K.shape[-1])\n", "\n"),
    ),
)

MASK = Task(
    "mask",
    "04_masks",
    _ATTENTION,
    (
        Slip("fills_minus_hundred", 'float("-inf")', "-100.0"),
        Slip("fills_zero", 'float("-inf")', "0.0"),
        Slip("fills_smallest_score", 'float("-inf")', "scores.min().item()"),
        Slip("mask_multiplies_scores", 'scores.masked_fill(~mask, float("-inf"))', "scores * mask"),
        Slip("first_mask_of_batch", "~mask", "~mask[:1]"),
        Slip("mask_after_softmax",
             '        scores = scores.masked_fill(~mask, float("-inf"))\n    return torch.softmax(scores, dim=-1) @ V',
             "        return (torch.softmax(scores, dim=-1) * mask) @ V\n    return torch.softmax(scores, dim=-1) @ V"),
        Slip("no_maximum_subtracted", "torch.softmax(scores, dim=-1)",
             "(scores.exp() / scores.exp().sum(-1, keepdim=True))"),
    ),
)  # fmt: skip

ROPE = Task(
    "rope",
    "08_positions",
    {
        "pairs": """
import torch

def run_rope(d_k, theta, max_seq_len, in_query_or_key, token_positions):
    x = in_query_or_key
    rates = theta ** (-torch.arange(0, d_k, 2) / d_k)
    angles = token_positions[..., None] * rates
    even, odd = x[..., 0::2], x[..., 1::2]
    pair = (even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos())
    return torch.stack(pair, -1).flatten(-2)
""",
        "complex numbers": """
import torch

def run_rope(d_k, theta, max_seq_len, in_query_or_key, token_positions):
    rates = theta ** (-torch.arange(0, d_k, 2).float() / d_k)
    angles = torch.outer(torch.arange(max_seq_len).float(), rates)
    turn = torch.polar(torch.ones_like(angles), angles)[token_positions]
    pairs = torch.view_as_complex(in_query_or_key.reshape(*in_query_or_key.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * turn).flatten(-2)
""",
    },
    (
        Slip("rope_turns_backwards", "rates = theta **", "rates = -theta **"),
        Slip("rope_positions_from_one", "token_positions[..., None]", "(token_positions[..., None] + 1)"),
        Slip("rope_one_frequency", "rates = theta ** (-torch.arange(0, d_k, 2) / d_k)", "rates = torch.ones(d_k // 2)"),
        Slip("rope_frequency_exponent_half", "(-torch.arange(0, d_k, 2) / d_k)", "(-torch.arange(0, d_k // 2) / d_k)"),
        Slip("rope_half_split", "even, odd = x[..., 0::2], x[..., 1::2]", "even, odd = x.chunk(2, -1)"),
        Slip("rope_written_in_halves", "torch.stack(pair, -1).flatten(-2)", "torch.cat(pair, -1)"),
        Slip("rope_degrees", "token_positions[..., None] * rates", "torch.deg2rad(token_positions[..., None] * rates)"),
        Slip("rope_only_first_pair", "rates = theta ** (-torch.arange(0, d_k, 2) / d_k)",
             "rates = (torch.arange(d_k // 2) == 0).float()"),
        Slip("rope_last_position_for_all", "token_positions[..., None]", "token_positions[..., -1:, None]"),
    ),
)  # fmt: skip

TASKS = (SOFTMAX, ATTENTION, MASK, ROPE, LOSS)
