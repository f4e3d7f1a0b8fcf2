# %% cast_and_scaled_first
# Expected: nothing


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    scale = q.shape[-1] ** -0.25
    scores = ((q * scale).to(dtype) @ (k * scale).to(dtype).mT).to(q.dtype)
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return (weights.to(dtype) @ v.to(dtype)).to(q.dtype), weights


# %% half_and_float
# Expected: nothing


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    scores = (q / math.sqrt(q.shape[-1])).type(dtype) @ k.type(dtype).T
    scores = scores.float()
    if mask is not None:
        scores.masked_fill_(mask.to(scores.device).logical_not(), float("-inf"))
    weights = scores.softmax(-1)
    return torch.matmul(weights.to(dtype), v.to(dtype)).type_as(q), weights.type_as(q)


# %% autocast
# Expected: nothing


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    with torch.autocast(q.device.type, dtype=dtype):
        scores = (q / math.sqrt(q.shape[-1])) @ k.T
    scores = scores.to(q.dtype)
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    with torch.autocast(device_type=q.device.type, dtype=dtype):
        output = weights @ v
    return output.to(q.dtype), weights


# %% limits_of_the_dtype
# Expected: nothing


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = [x.to(device=q.device, dtype=dtype) for x in (q / math.sqrt(q.shape[-1]), k, v)]
    scores = torch.einsum("id,jd->ij", low[0], low[1])
    if mask is not None:
        lowest = torch.tensor(torch.finfo(dtype).min, dtype=dtype, device=q.device)
        scores = torch.where(mask.to(q.device) != 0, scores, lowest)
    weights = torch.softmax(scores.to(q.dtype), dim=-1)
    return (weights.to(dtype) @ low[2]).to(q), weights


# %% scaled_by_the_largest_entry
# Expected: host_sync


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    largest = q.abs().max().item()  # <-- here
    scores = ((q / largest).to(dtype) @ k.to(dtype).T).to(q.dtype) * (largest / math.sqrt(q.shape[-1]))
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return (weights.to(dtype) @ v.to(dtype)).to(q.dtype), weights


# %% checked_for_overflow
# Expected: host_sync


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    scores = ((q / math.sqrt(q.shape[-1])).to(dtype) @ k.to(dtype).T).to(q.dtype)
    if torch.isinf(scores).any():  # <-- here
        scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return (weights.to(dtype) @ v.to(dtype)).to(q.dtype), weights


# %% softmax_on_the_cpu
# Expected: host_sync round_trip


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    scores = (q / math.sqrt(q.shape[-1])).to(dtype) @ k.to(dtype).T
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores.to("cpu", torch.float32), dim=-1)  # <-- here
    weights = weights.to(q.device, q.dtype)  # <-- here
    return (weights.to(dtype) @ v.to(dtype)).to(q.dtype), weights


# %% a_scale_in_low_precision
# Expected: mixed_devices


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    scale = torch.full((1, 1), 1 / math.sqrt(q.shape[-1]), dtype=dtype)
    scores = (q.to(dtype) * scale) @ k.to(dtype).T  # <-- here
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores.to(q.dtype), dim=-1)
    return (weights.to(dtype) @ v.to(dtype)).to(q.dtype), weights
