# %% as_in_the_lesson
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% mask_like_the_queries
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    scores = torch.einsum("id,jd->ij", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        mask = mask.to(q)
        scores = torch.where(mask.bool(), scores, float("-inf"))
    weights = F.softmax(scores, dim=-1)
    return torch.einsum("ij,jd->id", weights, v), weights


# %% type_as
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    scores = torch.matmul(q, k.mT).div(math.sqrt(k.size(-1)))
    if mask is not None:
        mask = mask.type_as(q)
        scores = scores.masked_fill(mask == 0, -torch.inf)
    weights = scores.softmax(-1)
    return weights.matmul(v), weights


# %% as_tensor
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        allowed = torch.as_tensor(mask, dtype=torch.bool, device=q.device)
        scores = scores.masked_fill(~allowed, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% looked_at_before_it_is_moved
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        if mask.device != q.device:
            mask = mask.to(q.device, non_blocking=True)
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% compared_on_the_cpu_then_moved
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        blocked = (mask == 0).to(device=q.device)
        scores = scores.masked_fill(blocked, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% full_like
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        mask = mask.to(device=q.device, dtype=torch.bool)
        scores = torch.where(mask, scores, torch.full_like(scores, float("-inf")))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% new_tensors
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    scale = q.new_tensor(q.shape[-1]).sqrt()
    scores = (q @ k.T) / scale
    if mask is None:
        mask = q.new_ones(q.shape[-2], k.shape[-2])
    bias = q.new_zeros(scores.shape).masked_fill_(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores + bias, dim=-1)
    return weights @ v, weights


# %% new_tensors_with_axes
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) * q.new_tensor([q.shape[-1] ** -0.5])
    if mask is not None:
        allowed = torch.asarray(mask, device=q.device) > q.new_tensor([0.5])
        scores = torch.where(allowed, scores, q.new_full((1, 1), float("-inf")))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% scale_made_on_the_device
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    scale = torch.tensor(math.sqrt(q.shape[-1]), dtype=q.dtype, device=q.device)
    lowest = torch.tensor(float("-inf"), device=q.device)
    scores = (q @ k.T) / scale
    if mask is not None:
        scores = torch.where(mask.to(q.device) != 0, scores, lowest)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% a_number_as_a_tensor_without_axes_on_the_cpu
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / torch.tensor(q.shape[-1], dtype=q.dtype).sqrt()
    scores = scores + torch.zeros((), dtype=q.dtype)
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, torch.tensor(float("-inf")))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% a_number_moved_from_the_cpu
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    scale = torch.tensor(1 / math.sqrt(q.shape[-1])).to(q)
    scores = (q @ k.T) * scale
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% ones_on_the_device
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    allowed = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device)
    if mask is not None:
        allowed = allowed & (mask.to(q.device) != 0)
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(~allowed, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% positions_on_the_device
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    rows = torch.arange(q.shape[-2], device=q.device)
    columns = torch.arange(k.shape[-2], device=q.device)
    anywhere = (rows[:, None] >= 0) & (columns[None, :] >= 0)
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        anywhere = anywhere & mask.to(q.device).bool()
    weights = torch.softmax(scores.masked_fill(anywhere.logical_not(), float("-inf")), dim=-1)
    return weights @ v, weights


# %% within_a_device
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    with torch.device(q.device):
        bias = torch.zeros(q.shape[-2], k.shape[-2])
        scale = torch.tensor([math.sqrt(q.shape[-1])])
    if mask is not None:
        bias = bias.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(q @ k.T / scale + bias, dim=-1)
    return weights @ v, weights


# %% in_place
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.T
    scores /= math.sqrt(q.shape[-1])
    if mask is not None:
        scores.masked_fill_(mask.to(q.device) == 0, float("-inf"))
    scores -= scores.amax(dim=-1, keepdim=True)
    scores.exp_()
    scores /= scores.sum(dim=-1, keepdim=True)
    return scores @ v, scores


# %% one_number_at_a_mask
# on a GPU, torch fills without counting
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores[mask.to(q.device) == 0] = float("-inf")
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% one_number_at_a_mask_of_the_cpu
# an index may be on the CPU: torch moves it
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores[mask == 0] = float("-inf")
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% by_hand
# Expected: nothing


def softmax(x):
    shifted = torch.exp(x - x.max(dim=-1, keepdim=True).values)
    return shifted / shifted.sum(dim=-1, keepdim=True)


def attention_on_device(q, k, v, mask=None):
    scores = (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1) / np.sqrt(q.shape[-1])
    if mask is not None:
        bias = (1.0 - mask.to(q.device).to(q.dtype)) * torch.finfo(q.dtype).min
        scores = scores + bias
    weights = softmax(scores)
    return weights @ v, weights


# %% a_module_with_a_buffer
# Expected: nothing


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("scale", torch.ones(1) / math.sqrt(width))
        self.out = nn.Parameter(torch.ones(1))

    def forward(self, q, k, v, mask):
        scores = (q @ k.T) * self.scale
        if mask is not None:
            scores = scores.masked_fill(mask.to(self.scale.device) == 0, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        return weights @ v * self.out, weights


def attention_on_device(q, k, v, mask=None):
    output, weights = Attention(q.shape[-1]).to(q.device)(q, k, v, mask)
    return output.detach(), weights


# %% a_module_made_on_the_device
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    keys = nn.Linear(k.shape[-1], k.shape[-1], bias=False, device=q.device)
    nn.init.eye_(keys.weight)
    scores = (q @ keys(k).T).detach() / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = nn.Softmax(dim=-1)(scores)
    return weights @ v, weights


# %% products_with_a_bias
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    bias = torch.zeros((q.size(0), k.size(0)), device=q.device, dtype=q.dtype)
    if mask is not None:
        bias.masked_fill_(mask.to(bias.device) == 0, float("-inf"))
    weights = torch.addmm(bias, q, k.t(), alpha=1 / math.sqrt(q.size(1))).softmax(dim=1)
    return torch.mm(weights, v), weights


# %% without_gradients
# Expected: nothing


@torch.inference_mode()
def attention_on_device(q, k, v, mask=None):
    scores = torch.einsum("...id,...jd->...ij", q, k) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    output = torch.matmul(weights, v)
    return output.clone(), weights.clone()


# %% row_by_row
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    mask = None if mask is None else mask.to(q.device)
    rows = []
    for number, row in enumerate(q):
        scores = torch.stack([torch.dot(row, key) for key in k]) / math.sqrt(len(row))
        if mask is not None:
            scores = scores.masked_fill(mask[number] == 0, float("-inf"))
        rows.append(torch.softmax(scores, dim=0))
    weights = torch.cat([row.unsqueeze(0) for row in rows])
    return weights @ v, weights


# %% kept_for_each_device
# Expected: nothing
SCALES = {}


def attention_on_device(q, k, v, mask=None):
    key = (q.device, q.shape[-1])
    if key not in SCALES:
        SCALES[key] = torch.full((1,), math.sqrt(q.shape[-1]), device=q.device)
    scores = (q @ k.T) / SCALES[key]
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% the_device_by_its_number
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    device = q.get_device() if q.is_cuda else "cpu"
    zeros = torch.zeros(q.shape[0], k.shape[0], device=device)
    scores = (q @ k.T) / math.sqrt(q.shape[-1]) + zeros
    if mask is not None:
        mask = mask.cuda() if q.is_cuda else mask.cpu()
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% the_device_by_its_name
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    device = torch.device(q.device.type, q.device.index or 0) if not q.is_cpu else torch.device("cpu")
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        hidden = torch.zeros_like(scores, device=device)
        hidden[...] = mask.to(str(q.device))
        scores = scores.masked_fill(hidden == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% copied_into_place
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    allowed = torch.ones_like(scores)
    if mask is not None:
        allowed.copy_(mask)
    weights = torch.softmax(scores.masked_fill(allowed == 0, float("-inf")), dim=-1)
    return weights @ v, weights


# %% shapes_are_no_sync
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    print(q.shape, f"{q.dtype} on {q.device}", len(k), q.numel(), q.stride(), q.is_contiguous())
    assert q.shape[-1] == k.shape[-1], f"{q.shape[-1]} and {k.shape[-1]} differ"
    if q.dim() < 2 or k.ndim < 2:
        raise ValueError("too few axes")
    scores = (q @ k.T) / math.sqrt(q.size(-1))
    if mask is not None and mask.numel():
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
    return weights @ v, weights


# %% blocked_rows
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        allowed = mask.to(q.device) != 0
        weights = torch.softmax(scores.masked_fill(~allowed, torch.finfo(q.dtype).min), dim=-1)
        weights = weights * allowed
        weights = torch.nan_to_num(weights / weights.sum(-1, keepdim=True).clamp_min(1e-12))
        weights = torch.where(allowed.any(dim=-1, keepdim=True), weights, 0.0)
    return weights @ v, weights


# %% mapped_over_queries
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    scores = torch.vmap(lambda query: k @ query)(q) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% sorted_gathered_and_scattered
# Expected: nothing


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    order = torch.argsort(scores, dim=-1)
    ordered = torch.softmax(scores.gather(-1, order), dim=-1)
    weights = torch.zeros_like(ordered).scatter(-1, order, ordered)
    best = k[weights.argmax(dim=-1)]
    return weights @ v + 0 * best.sum(), weights


# %% a_mask_of_the_cpu
# Expected: mixed_devices


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))  # <-- here
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% a_mask_of_the_cpu_in_where
# Expected: mixed_devices


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = torch.where(mask != 0, scores, float("-inf"))  # <-- here
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% a_mask_of_the_cpu_multiplied
# Expected: mixed_devices


def attention_on_device(q, k, v, mask=None):
    weights = torch.softmax((q @ k.T) / math.sqrt(q.shape[-1]), dim=-1)
    if mask is not None:
        weights = weights * mask  # <-- here
        weights = weights / weights.sum(-1, keepdim=True)
    return weights @ v, weights


# %% ones_of_the_cpu
# a mask of the GPU comes down to them
# Expected: mixed_devices host_sync


def attention_on_device(q, k, v, mask=None):
    allowed = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool)
    if mask is not None:
        allowed = allowed & (mask.to(allowed.device) != 0)  # <-- here
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(~allowed, float("-inf"))  # <-- here
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% infinities_of_the_cpu
# Expected: mixed_devices


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    lowest = torch.full(scores.shape, float("-inf"))
    if mask is None:
        mask = q.new_ones(scores.shape)
    scores = torch.where(mask.to(q.device) != 0, scores, lowest)  # <-- here
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% positions_of_the_cpu
# Expected: mixed_devices


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    scores = scores + 0 * torch.arange(k.shape[0])  # <-- here
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% a_scale_with_an_axis_on_the_cpu
# Expected: mixed_devices


def attention_on_device(q, k, v, mask=None):
    scale = torch.tensor([math.sqrt(q.shape[-1])])
    scores = (q @ k.T) / scale  # <-- here
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% a_number_of_the_cpu_among_others
# Expected: mixed_devices


def attention_on_device(q, k, v, mask=None):
    scale = torch.tensor(math.sqrt(q.shape[-1]))
    scale *= torch.ones((), device=q.device)  # <-- here
    scores = (q @ k.T) / scale
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% an_attribute_that_is_no_buffer
# Expected: mixed_devices


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = torch.ones(1) / math.sqrt(width)

    def forward(self, q, k, v, mask):
        scores = (q @ k.T) * self.scale  # <-- here
        if mask is not None:
            scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        return weights @ v, weights


def attention_on_device(q, k, v, mask=None):
    return Attention(q.shape[-1]).to(q.device)(q, k, v, mask)


# %% a_parameter_not_moved
# Expected: mixed_devices


def attention_on_device(q, k, v, mask=None):
    keys = nn.Linear(k.shape[-1], k.shape[-1])
    nn.init.eye_(keys.weight)
    nn.init.zeros_(keys.bias)
    scores = (q @ keys(k).T) / math.sqrt(q.shape[-1])  # <-- here
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return (weights @ v).detach(), weights.detach()


# %% a_constant_of_the_file
# Expected: mixed_devices
ONE = torch.ones(1)


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1]) * ONE  # <-- here
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% a_triangle_of_numpy
# Expected: mixed_devices


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    zeros = torch.from_numpy(np.zeros(scores.shape, dtype=np.float32))
    scores = torch.add(scores, zeros)  # <-- here
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% joined_with_zeros_of_the_cpu
# Expected: mixed_devices


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    padded = torch.cat([scores, torch.full((scores.shape[0], 1), float("-inf"))], dim=-1)  # <-- here
    weights = torch.softmax(padded, dim=-1)[:, :-1]
    return weights @ v, weights


# %% an_error_caught
# Expected: mixed_devices host_sync left_on_cpu


def attention_on_device(q, k, v, mask=None):
    try:
        scores = (q @ k.T) / torch.tensor([math.sqrt(q.shape[-1])])  # <-- here
    except RuntimeError:
        q, k, v = q.cpu(), k.cpu(), v.cpu()  # <-- here
        scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))  # <-- here
    weights = torch.softmax(scores, dim=-1)  # <-- here
    return weights @ v, weights  # <-- here


# %% on_the_cpu
# Expected: host_sync left_on_cpu


def attention_on_device(q, k, v, mask=None):
    q, k, v = q.cpu(), k.cpu(), v.cpu()  # <-- here
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.cpu() == 0, float("-inf"))  # <-- here
    weights = torch.softmax(scores, dim=-1)  # <-- here
    return weights @ v, weights  # <-- here


# %% there_and_back
# Expected: host_sync round_trip


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores.to("cpu"), dim=-1).to(q.device)  # <-- here
    return weights @ v, weights


# %% there_and_back_without_blocking
# a copy to the CPU that does not block is not seen by torch, and is read before it is there
# Expected: host_sync round_trip, by policy


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    kept = weights.to("cpu", non_blocking=True)  # <-- here
    return kept.to(q.device) @ v, weights  # <-- here


# %% a_hard_coded_cpu
# Expected: mixed_devices


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    bias = torch.zeros_like(scores, device="cpu")
    scores = scores + bias  # <-- here
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% a_hard_coded_gpu
# where the input is on the CPU
# Expected: mixed_devices


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    bias = torch.zeros(scores.shape, device="cuda")
    scores = scores + bias  # <-- here
    if mask is not None:
        scores = scores.masked_fill(mask.to("cuda") == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% all_to_a_hard_coded_gpu
# Expected: stray


def attention_on_device(q, k, v, mask=None):
    q, k, v = q.cuda(), k.cuda(), v.to("cuda:0")
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to("cuda") == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% the_best_device_there_is
# Expected: stray


def attention_on_device(q, k, v, mask=None):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    q, k, v = q.to(device), k.to(device), v.to(device)
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% item
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    exps = torch.exp(scores - scores.max().item())  # <-- here
    weights = exps / exps.sum(dim=-1, keepdim=True)
    return weights @ v, weights


# %% float_of_a_tensor
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scale = float(torch.full((), q.shape[-1], device=q.device).sqrt())  # <-- here
    scores = (q @ k.T) / scale
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% root_of_a_tensor
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scale = math.sqrt(q.new_ones(q.shape[-1]).sum())  # <-- here
    scores = (q @ k.T) / scale
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% int_of_a_tensor
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        mask = mask.to(q.device)
        if int((mask == 0).sum()) > 0:  # <-- here
            scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% if_any
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        blocked = mask.to(q.device) == 0
        if blocked.any():  # <-- here
            scores = scores.masked_fill(blocked, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% asserted
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    assert torch.isfinite(scores).all(), "not finite"  # <-- here
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% the_larger_of_two
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    top = max(scores.max(), scores.max() - 1)  # <-- here
    weights = torch.softmax(scores - top, dim=-1)
    return weights @ v, weights


# %% a_member_of_a_tensor
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        mask = mask.to(q.device)
        if 0 in mask:  # <-- here
            scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% range_of_a_tensor
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    rows = torch.tensor(q.shape[0], device=q.device)
    scores = torch.stack([q[i] @ k.T for i in range(rows)]) / math.sqrt(q.shape[-1])  # <-- here
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% a_slice_up_to_a_tensor
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        mask = mask.to(q.device)
        scores = scores[:, : mask.shape[1] + 0 * mask.sum().long()]  # <-- here
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% one_tensor_in_a_text
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    note = f"the largest is {weights.max():.3f}"  # <-- here
    return weights @ v, weights


# %% a_whole_tensor_in_a_text
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    note = f"weights: {weights}"  # <-- here
    return weights @ v, weights


# %% printed
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    print("scores", scores)  # <-- here
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% read_at_a_mask
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is None:
        mask = torch.ones_like(scores)
    mask = mask.to(q.device).bool()
    kept = scores[mask]  # <-- here
    scores = torch.full_like(scores, float("-inf")).masked_scatter(mask, kept)
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% many_numbers_at_a_mask
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        blocked = mask.to(q.device) == 0
        scores[blocked] = torch.full((1,), float("-inf"), device=q.device)  # <-- here
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% nonzero
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        rows, columns = (mask.to(q.device) == 0).nonzero(as_tuple=True)  # <-- here
        scores[rows, columns] = float("-inf")
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% where_with_one_argument
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        places = torch.where(mask.to(q.device) == 0)  # <-- here
        scores = scores.index_put(places, scores.new_tensor(float("-inf")))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% masked_select
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    top = torch.masked_select(scores, scores > float("-inf")).max()  # <-- here
    weights = torch.softmax(scores - top, dim=-1)
    return weights @ v, weights


# %% unique
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        mask = mask.to(q.device)
        if len(torch.unique(mask)) > 1:  # <-- here
            scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% equal
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        mask = mask.to(q.device)
        if not torch.equal(mask, torch.ones_like(mask)):  # <-- here
            scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% allclose
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    sums = weights.sum(dim=-1)
    if not torch.allclose(sums, torch.ones_like(sums)):  # <-- here
        raise ValueError("rows do not sum to one")
    return weights @ v, weights


# %% repeated_by_a_tensor
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    times = torch.ones(q.shape[0], dtype=torch.long, device=q.device)
    scores = (q.repeat_interleave(times, dim=0) @ k.T) / math.sqrt(q.shape[-1])  # <-- here
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% to_numpy
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = q.numpy() @ k.numpy().T / math.sqrt(q.shape[-1])  # <-- here
    weights = torch.softmax(torch.from_numpy(scores), dim=-1)
    return weights @ v, weights


# %% to_numpy_by_the_cpu
# Expected: host_sync left_on_cpu


def attention_on_device(q, k, v, mask=None):
    scores = q.cpu().numpy() @ k.cpu().numpy().T / math.sqrt(q.shape[-1])  # <-- here
    if mask is not None:
        scores = np.where(mask.cpu().numpy() == 0, -np.inf, scores)  # <-- here
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exps / exps.sum(axis=-1, keepdims=True)
    output = torch.from_numpy((weights @ v.cpu().numpy()).astype(np.float32))  # <-- here
    return output, torch.from_numpy(weights.astype(np.float32))


# %% given_to_numpy
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    scores = scores - np.asarray(scores).max()  # <-- here
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% to_a_list
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        rows = mask.to(q.device).tolist()  # <-- here
        for i, row in enumerate(rows):
            for j, allowed in enumerate(row):
                if not allowed:
                    scores[i, j] = float("-inf")
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% a_tensor_of_tensors
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    tops = torch.tensor([row.max() for row in scores], device=q.device)  # <-- here
    weights = torch.softmax(scores - tops[:, None], dim=-1)
    return weights @ v, weights


# %% filled_with_a_tensor
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    top = torch.full((1,), scores.max(), device=q.device)  # <-- here
    weights = torch.softmax(scores - top, dim=-1)
    return weights @ v, weights


# %% copied_into_the_cpu
# Expected: host_sync left_on_cpu


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.empty(scores.shape)  # <-- here
    weights.copy_(torch.softmax(scores, dim=-1))  # <-- here
    return torch.softmax(scores, dim=-1) @ v, weights


# %% an_old_type
# Expected: host_sync left_on_cpu


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights.type(torch.FloatTensor)  # <-- here


# %% waited_for
# torch does not report a wait that was asked for
# Expected: host_sync, by policy


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    if q.is_cuda:
        torch.cuda.synchronize()  # <-- here
    return weights @ v, weights


# %% moved_for_each_row
# Expected: moved_more_than_once


def attention_on_device(q, k, v, mask=None):
    rows = []
    for number in range(len(q)):
        scores = (k @ q[number]) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(mask.to(q.device)[number] == 0, float("-inf"))  # <-- here
        rows.append(torch.softmax(scores, dim=-1))
    weights = torch.stack(rows)
    return weights @ v, weights


# %% moved_twice
# Expected: moved_more_than_once


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.to(q.device) == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights * mask.bool().to(q.device)  # <-- here
    return weights @ v, weights


# %% made_on_the_cpu_then_moved
# Expected: made_on_cpu


def attention_on_device(q, k, v, mask=None):
    allowed = torch.ones(q.shape[-2], k.shape[-2]).bool().to(q.device)  # <-- here
    if mask is not None:
        allowed = allowed & mask.to(q.device).bool()
    scores = ((q @ k.T) / math.sqrt(q.shape[-1])).masked_fill(~allowed, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights


# %% a_filling_on_the_device
# torch takes the number out of it
# Expected: host_sync


def attention_on_device(q, k, v, mask=None):
    scores = (q @ k.T) / math.sqrt(q.shape[-1])
    if mask is not None:
        lowest = torch.full((), float("-inf"), device=q.device)
        scores = scores.masked_fill(mask.to(q.device) == 0, lowest)  # <-- here
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
