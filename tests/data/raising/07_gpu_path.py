"""Right code with one slip that raises."""

# %% misspelt_torch
# A misspelt function.
# Expected: no name; has no device_counts
def pick_device(prefer='cuda'):
    try:
        device = torch.device(prefer)
    except RuntimeError as error:
        raise ValueError(f'{prefer!r} is not a device name') from error
    counts = {'cpu': 1, 'cuda': torch.cuda.device_counts(), 'mps': int(torch.backends.mps.is_available())}
    return device if (device.index or 0) < counts.get(device.type, 0) else torch.device('cpu')


# %% dtype_of_a_mask
# A mask of numbers for masked_fill.
# Expected: no name; this needs booleans
def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) 
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return (weights @ v, weights)


# %% product_of_dtypes
# Two dtypes in one product.
# Expected: no name; dtype
def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = low @ k.to(dtype).transpose(-1, -2)
    scores = scores.float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights @ v.to(dtype)
    return (output.to(q.dtype), weights.to(q.dtype))


# %% list_has_no_to
# A method that a list does not have.
# Expected: no name; a list has no to
def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, list):
        return batch.to(device)
    if isinstance(batch, tuple):
        moved = batch.to(device)
        return type(batch)(*moved) if hasattr(batch, '_fields') else tuple(moved)
    return batch
