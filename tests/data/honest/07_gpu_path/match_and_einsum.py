# %% [markdown]
# # 07 · The GPU path
#
# With `match`, `einsum`, and no minus infinity at all.

# %%
import torch
import torch.nn.functional as F


# %%
def pick_device(prefer="cuda"):
    try:
        device = torch.device(prefer)
    except RuntimeError as error:
        raise ValueError(f"expected a device name such as cuda:0, not {prefer!r}") from error
    match (device.type, device.index):
        case ("cpu", _):
            return device
        case ("cuda", None) if torch.cuda.is_available():
            return device
        case ("cuda", int(number)) if number < torch.cuda.device_count():
            return device
        case ("mps", _) if torch.backends.mps.is_available():
            return device
        case _:
            return torch.device("cpu")


# %%
def masked_softmax(scores, allowed):
    """Softmax over the last axis. Blocked scores become the smallest number there is, and their weights 0.

    A row that is blocked everywhere has equal weights after the softmax, which are then multiplied by 0.
    """
    if allowed is None:
        return torch.softmax(scores, dim=-1)
    lowest = torch.finfo(scores.dtype).min
    return torch.softmax(scores.masked_fill(~allowed, lowest), dim=-1) * allowed


def attention_on_device(q, k, v, mask=None):
    allowed = mask if mask is None else mask.to(device=q.device, non_blocking=True).ne(0)
    scores = torch.einsum("...qd,...kd->...qk", q, k).div(q.shape[-1] ** 0.5)
    weights = masked_softmax(scores, allowed)
    return torch.einsum("...qk,...kd->...qd", weights, v), weights


# %%
if __name__ == "__main__":
    x = torch.randn(2, 5, 8, device=pick_device())
    out, w = attention_on_device(x, x, x, torch.ones(5, 5).tril())
    print(out.shape, w.sum(-1))


# %%
def fused_attention(q, k, v, mask=None, is_causal=False):
    def four(x):
        match x.dim():
            case 2:
                return x[None, None]
            case 3:
                return x[None]
            case _:
                return x

    def back(x):
        match q.dim():
            case 2:
                return x[0, 0]
            case 3:
                return x[0]
            case _:
                return x

    if mask is None:
        return back(F.scaled_dot_product_attention(four(q), four(k), four(v), is_causal=is_causal))

    rows = torch.arange(n_q := q.shape[-2], device=q.device)[:, None]
    columns = torch.arange(n_k := k.shape[-2], device=q.device)
    allowed = mask.to(device=q.device, non_blocking=True).ne(0)
    if allowed.dim() < 2:
        allowed = allowed.unsqueeze(0)
    allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
    if is_causal:
        allowed = torch.logical_and(allowed, columns <= rows)
    some = allowed.any(-1, keepdim=True)
    result = F.scaled_dot_product_attention(four(q), four(k), four(v), attn_mask=torch.logical_or(allowed, ~some))
    return back(result * some)


# %%
def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    allowed = mask if mask is None else mask.to(device=q.device, non_blocking=True).ne(0)
    low_q, low_k, low_v = q.div(q.shape[-1] ** 0.5).to(dtype), k.to(dtype), v.to(dtype)
    scores = torch.einsum("...qd,...kd->...qk", low_q, low_k)
    weights = masked_softmax(scores.float(), allowed)
    output = torch.einsum("...qk,...kd->...qd", weights.to(dtype), low_v)
    return output.to(q.dtype), weights.to(q.dtype)


# %%
def move_batch(batch, device):
    match batch:
        case torch.Tensor():
            return batch.to(device=device, non_blocking=True)
        case dict():
            return {key: move_batch(value, device) for key, value in batch.items()}
        case tuple() if hasattr(batch, "_make"):  # a namedtuple
            return batch._make(move_batch(value, device) for value in batch)
        case list() | tuple():
            return type(batch)(move_batch(value, device) for value in batch)
        case _:
            return batch


# %%
if __name__ == "__main__":
    print(move_batch({"a": (torch.ones(1), None), "b": [2, "x"]}, "cpu"))

# %%
REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4  # 8 -> 32 -> 128 MiB
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2  # 0.5 -> 1 -> 2 MiB
