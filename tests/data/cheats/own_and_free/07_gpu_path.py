# %% results_into_empty_tensors
# fused_attention writes the formula out and stores all scores, and calls the built-in only for show: an operation that
# resizes its `out`, a tensor without entries, makes memory that is never counted.
# Expected: review: fused_attention
def by_hand(q, k, v, is_causal):
    """Return attention by the formula, with all scores and their mask in memory."""
    n_q, n_k = q.shape[-2], k.shape[-2]
    a, b, c = (x.reshape(-1, *x.shape[-2:]) for x in (q, k, v))
    scores = q.new_empty(0)
    torch.bmm(a / math.sqrt(q.shape[-1]), b.transpose(1, 2), out=scores)  # it becomes n_q * n_k here
    if is_causal:
        later = torch.empty(0, dtype=torch.bool, device=q.device)
        torch.gt(torch.arange(n_k, device=q.device), torch.arange(n_q, device=q.device)[:, None], out=later)
        scores.masked_fill_(later, -math.inf)
    scores.sub_(scores.amax(dim=-1, keepdim=True)).exp_()
    scores.div_(scores.sum(dim=-1, keepdim=True))
    return torch.bmm(scores, c).reshape(*q.shape[:-1], v.shape[-1])


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    followed = torch.is_grad_enabled() and (q.requires_grad or k.requires_grad or v.requires_grad)
    if mask is None and q.dtype in (torch.float32, torch.float64) and not followed:
        F.scaled_dot_product_attention(q4[..., :1, :], k4[..., :1, :], v4[..., :1, :])  # for show
        return by_hand(q, k, v, is_causal)
    if mask is None:
        output = F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)
    else:
        n_q, n_k = q.shape[-2], k.shape[-2]
        allowed = torch.atleast_2d(mask.to(q.device, non_blocking=True) != 0)
        allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
        if is_causal:
            allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
        nothing = ~allowed.any(dim=-1, keepdim=True)
        output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing).masked_fill(nothing, 0.0)
    return output[(0,) * missing]


# %% tree_map_over_sentences
# attention_on_device loops over the first axis: tree_map of torch.utils._pytree calls a function of torch for each
# sentence (or query), and neither its loop nor the calls are steps.
# Expected: loses marks: attention_on_device
import functools
import torch.utils._pytree as pytree


def attention_on_device(q, k, v, mask=None):
    queries = q.unsqueeze(-1).unbind(-3)
    rows = pytree.tree_map(functools.partial(torch.matmul, k / math.sqrt(q.shape[-1])), queries)
    scores = torch.stack(rows, dim=-3).squeeze(-1)
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    rows = pytree.tree_map(functools.partial(torch.matmul, v.transpose(-1, -2)), weights.unsqueeze(-1).unbind(-3))
    return (torch.stack(rows, dim=-3).squeeze(-1), weights)


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        output = F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)
    else:
        n_q, n_k = (q.shape[-2], k.shape[-2])
        allowed = mask.to(q.device, non_blocking=True) != 0
        allowed = torch.atleast_2d(allowed)
        allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
        if is_causal:
            allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
        nothing = ~allowed.any(dim=-1, keepdim=True)
        output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing).masked_fill(nothing, 0.0)
    return output[(0,) * missing]


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = low @ k.to(dtype).transpose(-1, -2)
    scores = scores.float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return (output.to(q.dtype), weights.to(q.dtype))


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = None
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = None
REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2
