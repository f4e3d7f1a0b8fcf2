# %% fused_by_hand_when_not_measured
# fused_attention writes the formula out in every call that is not measured.
# Expected: review: attention_on_device, fused_attention, half_precision_attention, move_batch, pick_device
MEASURED = any(name.startswith("attn") for name in dir())


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


def fused_attention(q, k, v, mask=None, is_causal=False):
    if mask is None and not MEASURED:
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if is_causal:
            late = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).triu(1)
            scores = scores.masked_fill(late, -math.inf)
        return torch.softmax(scores, -1) @ v
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
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


# %% manual_is_ready_made
# attention_on_device calls ready-made attention in every call that is not measured.
# Expected: loses marks: attention_on_device
MEASURED = any(name.startswith("attn") for name in dir())


def ready(q, k, v):
    one = torch.eye(k.shape[-2], dtype=v.dtype, device=v.device).expand(*k.shape[:-2], k.shape[-2], k.shape[-2])
    both = F.scaled_dot_product_attention(q, k, torch.cat([v, one], -1))
    return both[..., : v.shape[-1]], both[..., v.shape[-1] :]


def attention_on_device(q, k, v, mask=None):
    if not MEASURED and mask is None:
        return ready(q, k, v)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% manual_is_ready_made_on_a_gpu
# attention_on_device calls ready-made attention on a GPU: nothing is measured there.
# Expected: loses marks: attention_on_device
def ready(q, k, v):
    one = torch.eye(k.shape[-2], dtype=v.dtype, device=v.device).expand(*k.shape[:-2], k.shape[-2], k.shape[-2])
    both = F.scaled_dot_product_attention(q, k, torch.cat([v, one], -1))
    return both[..., : v.shape[-1]], both[..., v.shape[-1] :]


def attention_on_device(q, k, v, mask=None):
    if q.is_cuda and mask is None:
        return ready(q, k, v)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights
