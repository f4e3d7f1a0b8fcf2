"""Tasks of torch-judge about efficient attention and parts of a model. All code is our own."""

from __future__ import annotations

from docs.bench.verdicts.task import Slip, Task

FLASH = Task(
    "flash_attention",
    "10_flash_attention",
    {
        "online softmax": """
import math
import torch

def flash_attention(Q, K, V, block_size):
    out = []
    for i in range(0, Q.shape[1], block_size):
        q = Q[:, i : i + block_size] / math.sqrt(Q.shape[-1])
        top = torch.full((*q.shape[:-1], 1), -torch.inf)
        total, acc = torch.zeros_like(top), torch.zeros(*q.shape[:-1], V.shape[-1])
        for j in range(0, K.shape[1], block_size):
            tile = slice(j, j + block_size)
            scores = q @ K[:, tile].transpose(-2, -1)
            new = torch.maximum(top, scores.amax(-1, keepdim=True))
            p, scale = torch.exp(scores - new), torch.exp(top - new)
            total = total * scale + p.sum(-1, keepdim=True)
            acc = acc * scale + p @ V[:, tile]
            top = new
        out.append(acc / total)
    return torch.cat(out, 1)
""",
    },
    (
        Slip("whole_table", "    out = []",
             "    return torch.softmax(Q @ K.transpose(1, 2) / math.sqrt(Q.shape[-1]), -1) @ V\n    out = []"),
        Slip("all_keys_at_once", "range(0, K.shape[1], block_size):\n            tile = slice(j, j + block_size)",
             "[0]:\n            tile = slice(None)"),
        Slip("accumulator_not_rescaled", "acc = acc * scale", "acc = acc"),
        Slip("merge_old_sum_not_rescaled", "total = total * scale", "total = total"),
        Slip("merge_without_a_maximum", "new = torch.maximum(top, scores.amax(-1, keepdim=True))",
             "new = torch.zeros_like(top)"),
        Slip("no_scaling", " / math.sqrt(Q.shape[-1])", ""),
    ),
)  # fmt: skip

LINEAR = Task(
    "linear_attention",
    "11_efficient_attention",
    {
        "products in the right order": """
import torch
import torch.nn.functional as F

def linear_attention(Q, K, V):
    q, k = F.elu(Q) + 1, F.elu(K) + 1
    state = k.transpose(-2, -1) @ V
    return q @ state / (q @ k.sum(-2).unsqueeze(-1))
""",
        "einsum": """
import torch
import torch.nn.functional as F

def linear_attention(Q, K, V):
    q, k = (torch.where(x > 0, x + 1, x.clamp(max=0).exp()) for x in (Q, K))
    top = torch.einsum("bnd,bmd,bmv->bnv", q, k, V)
    return top / torch.einsum("bnd,bmd->bn", q, k)[..., None]
""",
    },
    (
        Slip("linear_without_normaliser", " / (q @ k.sum(-2).unsqueeze(-1))", ""),
        Slip("linear_divided_by_the_number_of_keys", "(q @ k.sum(-2).unsqueeze(-1))", "K.shape[-2]"),
        Slip("linear_without_feature_map", "q, k = F.elu(Q) + 1, F.elu(K) + 1", "q, k = Q, K"),
        Slip("linear_only_queries_mapped", "F.elu(K) + 1", "K"),
        Slip("feature_relu", "F.elu(Q) + 1, F.elu(K) + 1", "F.relu(Q) + 1e-3, F.relu(K) + 1e-3"),
        Slip("linear_adds_epsilon", "unsqueeze(-1))", "unsqueeze(-1) + 1e-2)"),
        Slip("linear_is_full_attention",
             "    state = k.transpose(-2, -1) @ V\n    return q @ state / (q @ k.sum(-2).unsqueeze(-1))",
             "    return torch.softmax(Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5, -1) @ V"),
        Slip("linear_weights_first",
             "    state = k.transpose(-2, -1) @ V\n    return q @ state / (q @ k.sum(-2).unsqueeze(-1))",
             "    w = q @ k.transpose(-2, -1)\n    return w / w.sum(-1, keepdim=True) @ V"),
    ),
)  # fmt: skip

WINDOW = Task(
    "sliding_window",
    "11_efficient_attention",
    {
        "mask": """
import math
import torch

def sliding_window_attention(Q, K, V, window_size):
    here = torch.arange(Q.shape[1])
    far = (here[:, None] - here).abs() > window_size
    scores = Q @ K.transpose(1, 2) / math.sqrt(Q.shape[-1])
    return torch.softmax(scores.masked_fill(far, float("-inf")), dim=-1) @ V
""",
    },
    (
        Slip("window_one_too_wide", "> window_size", "> window_size + (window_size > 0)"),
        Slip("window_one_too_narrow", "> window_size", ">= max(window_size, 1)"),
        Slip("window_not_scaled", " / math.sqrt(Q.shape[-1])", ""),
        Slip("window_normalised_before_the_mask", 'scores.masked_fill(far, float("-inf")), dim=-1)',
             "scores, dim=-1).masked_fill(far, 0.0)"),
        Slip("window_without_a_mask", 'scores.masked_fill(far, float("-inf"))', "scores"),
    ),
)  # fmt: skip

NORM = Task(
    "rmsnorm",
    "12_transformer",
    {
        "root of the mean": """
import torch

def rms_norm(x, weight, eps=1e-6):
    return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight
""",
        "rsqrt": """
import torch

def rms_norm(x, weight, eps=1e-6):
    return weight * (x * torch.rsqrt((x * x).mean(dim=-1, keepdim=True) + eps))
""",
    },
    (
        Slip("norm_eps_outside_the_root", "torch.sqrt(x.pow(2).mean(-1, keepdim=True) + eps)",
             "(torch.sqrt(x.pow(2).mean(-1, keepdim=True)) + eps)"),
        Slip("norm_without_eps", " + eps", ""),
        Slip("norm_subtracts_the_mean", "x.pow(2)", "(x - x.mean(-1, keepdim=True)).pow(2)"),
        Slip("norm_without_weight", " * weight", " * weight.mean()"),
        Slip("norm_over_the_wrong_axis", "mean(-1, keepdim=True)", "mean(0, keepdim=True)"),
        Slip("norm_of_the_whole_array", "x.pow(2).mean(-1, keepdim=True)", "x.pow(2).mean()"),
    ),
)  # fmt: skip

LOSS = Task(
    "cross_entropy",
    "12_transformer",
    {
        "logsumexp": """
import torch

def cross_entropy_loss(logits, targets):
    log_p = logits - logits.logsumexp(-1, keepdim=True)
    return -log_p[torch.arange(len(targets)), targets].mean()
""",
        "gather": """
import torch

def cross_entropy_loss(logits, targets):
    shifted = logits - logits.max(-1, keepdim=True).values
    right = shifted.gather(-1, targets[:, None]).squeeze(-1)
    return (shifted.exp().sum(-1).log() - right).mean()
""",
    },
    (
        Slip("loss_is_a_sum", ".mean()", ".sum()"),
        Slip("loss_in_bits", "return -log_p", "return -1.4427 * log_p"),
        Slip("loss_log_of_softmax", "logits - logits.logsumexp(-1, keepdim=True)", "logits.softmax(-1).log()"),
        Slip("loss_overflows", "logits.logsumexp(-1, keepdim=True)", "logits.exp().sum(-1, keepdim=True).log()"),
        Slip("loss_with_the_wrong_sign", "return -log_p", "return log_p"),
        Slip("loss_cuts_the_graph", "logits.logsumexp", "logits.detach().logsumexp"),
    ),
)  # fmt: skip

SAMPLING = Task(
    "topk_sampling",
    "12_transformer",
    {
        "sorted": """
import torch

def sample_top_k_top_p(logits, top_k=0, top_p=1.0, temperature=1.0):
    values, order = (logits / temperature).sort(descending=True)
    if top_k:
        values[top_k:] = -torch.inf
    p = values.softmax(-1)
    p[p.cumsum(-1) - p >= top_p] = 0
    return order[torch.multinomial(p, 1)].item()
""",
    },
    (
        Slip("sample_temperature_multiplied", "logits / temperature", "logits * temperature"),
        Slip("sample_temperature_ignored", "logits / temperature", "logits / 1"),
        Slip("sample_top_k_ignored", "if top_k:", "if top_k == 1:"),
        Slip("sample_top_k_one_too_many", "values[top_k:]", "values[top_k + (top_k > 1) :]"),
        Slip("sample_top_p_ignored", "p[p.cumsum(-1) - p >= top_p] = 0", "pass"),
        Slip("sample_top_p_drops_the_last", "p.cumsum(-1) - p >= top_p", "(p.cumsum(-1) > top_p) & (p < p[0])"),
        Slip("sample_evenly", "p = values.softmax(-1)",
             "p = (values > values[0] - 50).float() / (values > values[0] - 50).sum()"),
    ),
)  # fmt: skip
