# %% fused_by_hand_beside_a_constant
# fused_attention writes the formula out and stores all scores; a dropped tensor of 40 MB is the peak at every
# size. The built-in is called once, for show.
# Expected: review: fused_attention
def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


def fused_attention(q, k, v, mask=None, is_causal=False):
    if mask is None:
        torch.empty(10_000_000)
        F.scaled_dot_product_attention(q[..., None, :1, :], k[..., None, :1, :], v[..., None, :1, :])
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


# %% half_is_single_above_measured_sizes
# half_precision_attention is ready-made attention for more than 200 keys: no measured size has so many.
# Expected: loses marks: half_precision_attention
def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    if k.shape[-2] > 200 and mask is None:
        return F.scaled_dot_product_attention(q, k, v), attention_on_device(q, k, v)[1]
    scores = (q / math.sqrt(q.shape[-1])).to(dtype) @ k.to(dtype).transpose(-1, -2)
    scores = scores.float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return (weights.to(dtype) @ v.to(dtype)).to(q.dtype), weights.to(q.dtype)
