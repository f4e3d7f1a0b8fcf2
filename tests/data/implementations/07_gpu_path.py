# %% einsum_and_where
# Expected: passes


def attention_on_device(q, k, v, mask=None):
    scores = torch.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = torch.where(mask.to(q.device) != 0, scores, -math.inf)
    weights = scores.softmax(-1).nan_to_num()
    return torch.einsum("...ij,...jc->...ic", weights, v), weights


# %% one_sentence_at_a_time
# Expected: attention_on_device: steps


def attention_on_device(q, k, v, mask=None):
    if q.dim() == 2 or mask is not None:
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(mask.to(q.device) == 0, -math.inf)
        weights = scores.softmax(-1)
        return weights @ v, weights
    pairs = [attention_on_device(*case) for case in zip(q, k, v)]  # <-- here
    return torch.stack([o for o, _ in pairs]), torch.stack([w for _, w in pairs])


# %% all_pairs_at_once
# Expected: attention_on_device: mem


def attention_on_device(q, k, v, mask=None):
    scores = (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1) / math.sqrt(q.shape[-1])  # <-- here
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, -math.inf)
    weights = torch.softmax(scores, -1)
    return weights @ v, weights


# %% product_made_twice
# Expected: attention_on_device: flops


def attention_on_device(q, k, v, mask=None):
    top = (q @ k.mT).amax(-1, keepdim=True)
    scores = (q @ k.mT - top) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, -math.inf)
    weights = torch.softmax(scores, -1)
    return weights @ v, weights


# %% built_in
# Expected: attention_on_device: forbidden


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, -math.inf)
    seen = None if mask is None else mask.to(q.device) != 0
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen), torch.softmax(scores, -1)  # <-- here


# %% built_in_by_another_function
# Expected: attention_on_device: forbidden


def output_of(q, k, v, mask):
    seen = None if mask is None else mask.to(q.device) != 0
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen)  # <-- here


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, -math.inf)
    return output_of(q, k, v, mask), torch.softmax(scores, -1)


# %% fused_with_attn_weights_in_a_name
# Expected: passes


def fused_attention(q, k, v, mask=None, is_causal=False):
    attn_bias = None if mask is None else torch.where(mask.to(q.device) != 0, 0.0, -math.inf).to(q.dtype)
    added = (None,) * max(0, 4 - q.dim())
    attn_output = F.scaled_dot_product_attention(q[added], k[added], v[added], attn_mask=attn_bias, is_causal=is_causal)
    return attn_output.reshape(*q.shape[:-1], v.shape[-1])


# %% fused_in_one_axis_of_batch
# Expected: passes


def fused_attention(q, k, v, mask=None, is_causal=False):
    flat = [x.reshape(-1, 1, *x.shape[-2:]) for x in (q, k, v)]
    if mask is not None:
        mask = (mask != 0).expand(*q.shape[:-1], k.shape[-2]).reshape(-1, 1, q.shape[-2], k.shape[-2])
    output = F.scaled_dot_product_attention(*flat, attn_mask=mask, is_causal=is_causal)
    return output.reshape(*q.shape[:-1], v.shape[-1])


# %% fused_as_it_comes
# Expected: fused_attention: mem


def fused_attention(q, k, v, mask=None, is_causal=False):
    seen = None if mask is None else mask.to(q.device) != 0
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen, is_causal=is_causal)


# %% formula_in_place_of_fused
# Expected: fused_attention: mem


def fused_attention(q, k, v, mask=None, is_causal=False):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if is_causal:
        scores = scores.masked_fill(torch.ones_like(scores).tril() == 0, -math.inf)
    return torch.softmax(scores, dim=-1) @ v


# %% a_mask_of_ones_for_none
# Expected: fused_attention: mem


def fused_attention(q, k, v, mask=None, is_causal=False):
    allowed = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device)
    allowed = allowed.tril() if is_causal else allowed
    return F.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=allowed)[0]


# %% query_after_query_in_fused
# Expected: fused_attention: steps


def fused_attention(q, k, v, mask=None, is_causal=False):
    rows = []
    for i in range(q.shape[-2]):
        seen = i + 1 if is_causal else k.shape[-2]
        one = (q[None, ..., i : i + 1, :], k[None, ..., :seen, :], v[None, ..., :seen, :])
        rows.append(F.scaled_dot_product_attention(*one)[0])
    return torch.cat(rows, dim=-2)


# %% half_with_two_roots
# Expected: passes


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    scale = q.shape[-1] ** -0.25
    scores = ((q * scale).to(dtype) @ (k * scale).to(dtype).mT).float()
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, -math.inf)
    weights = scores.softmax(-1)
    return (weights.to(dtype) @ v.to(dtype)).to(q.dtype), weights.to(q.dtype)


# %% half_by_autocast
# Expected: passes


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    with torch.autocast(q.device.type, dtype=dtype):
        scores = (q / math.sqrt(q.shape[-1])) @ k.mT
    scores = scores.float()
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, -math.inf)
    weights = scores.softmax(-1)
    with torch.autocast(q.device.type, dtype=dtype):
        output = weights @ v
    return output.to(q.dtype), weights.to(q.dtype)


# %% half_by_the_built_in
# Expected: half_precision_attention: forbidden


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = [x.to(dtype) for x in (q, k, v)]
    weights = attention_on_device(q, k, v, mask)[1]
    seen = None if mask is None else mask.to(q.device) != 0
    return F.scaled_dot_product_attention(*low, attn_mask=seen).to(q.dtype), weights  # <-- here


# %% half_query_after_query
# Expected: half_precision_attention: steps


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    scale = math.sqrt(q.shape[-1])
    low = k.to(dtype).mT
    scores = torch.cat([(q[..., i : i + 1, :] / scale).to(dtype) @ low for i in range(q.shape[-2])], dim=-2)  # <-- here
    scores = scores.float()
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, -math.inf)
    weights = scores.softmax(-1)
    return (weights.to(dtype) @ v.to(dtype)).to(q.dtype), weights


# %% the_formula_with_a_mask
# Expected: fused_attention: mem


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    if mask is None:
        q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing]
    allowed = mask.to(q.device) != 0
    if is_causal:
        allowed = allowed & torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).tril()
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    w = torch.softmax(scores.masked_fill(~allowed, -math.inf), -1).masked_fill(~allowed, 0)
    return w @ v


# %% a_triangle_without_a_mask
# Expected: fused_attention: mem


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    n_q, n_k = q.shape[-2], k.shape[-2]
    if mask is None and not is_causal:
        return F.scaled_dot_product_attention(q4, k4, v4)[(0,) * missing]
    if mask is None:
        allowed = torch.ones(n_q, n_k, dtype=torch.bool, device=q.device)
    else:
        allowed = torch.atleast_2d(mask.to(q.device) != 0)
        allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    if is_causal:
        allowed = allowed.tril()
    nothing = ~allowed.any(dim=-1, keepdim=True)
    return F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing).masked_fill(nothing, 0.0)[(0,) * missing]


# %% the_built_in_query_by_query_with_a_mask
# Expected: fused_attention: steps


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)[(0,) * missing]
    allowed = (mask.to(q.device) != 0).expand(*q4.shape[:-1], k.shape[-2])
    if is_causal:
        allowed = allowed.tril()
    nothing = ~allowed.any(dim=-1, keepdim=True)
    rows = []
    for i in range(q.shape[-2]):
        rows.append(F.scaled_dot_product_attention(q4[..., i:i+1, :], k4, v4, attn_mask=(allowed | nothing)[..., i:i+1, :]))
    return torch.cat(rows, dim=-2).masked_fill(nothing, 0.0)[(0,) * missing]


# %% a_softmax_query_by_query_with_a_mask
# Expected: attention_on_device: steps


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = (mask.to(q.device) == 0).expand(scores.shape)
        rows = []
        for i in range(q.shape[-2]):
            rows.append(torch.softmax(scores[..., i, :].masked_fill(blocked[..., i, :], -math.inf), dim=-1))
        weights = torch.stack(rows, dim=-2).masked_fill(blocked, 0.0)
    return weights @ v, weights
