# %% [markdown]
# # 07 · The GPU path
#
# my solution. i kept it short: one helper for the mask, one for the softmax.

# %%
import math

import torch
import torch.nn.functional as F


# %%
def pick_device(prefer="cuda"):
    cpu = torch.device("cpu")
    try:
        wanted = torch.device(prefer)
    except (RuntimeError, TypeError) as problem:
        raise ValueError(f"{prefer!r} is no device name") from problem

    if wanted.type == "cuda":
        if not torch.cuda.is_available():
            return cpu
        if wanted.index is not None and wanted.index >= torch.cuda.device_count():
            return cpu
        return wanted
    if wanted.type == "mps" and torch.backends.mps.is_available():
        return wanted
    return cpu  # asked for the cpu, or for something this machine does not have


# %%
if __name__ == "__main__":
    for name in ("cuda", "cuda:5", "mps", "cpu"):
        print(name, "->", pick_device(name))


# %%
def _blocked(mask, q):
    """True where a key must not be seen. Lives where q lives."""
    return mask.to(q.device) == 0


def _softmax(scores, mask, q):
    if mask is None:
        return scores.softmax(dim=-1)
    blocked = _blocked(mask, q)
    weights = torch.where(blocked, -math.inf, scores).softmax(dim=-1)
    # a row without any key is NaN now, and every entry of it is blocked
    return torch.where(blocked, 0.0, weights)


def attention_on_device(q, k, v, mask=None):
    scores = torch.matmul(q, k.mT) / math.sqrt(q.size(-1))
    weights = _softmax(scores, mask, q)
    return torch.matmul(weights, v), weights


# %%
if __name__ == "__main__":
    Q = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    K = torch.tensor([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    V = torch.tensor([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
    causal = torch.ones(5, 5).tril()
    print(attention_on_device(Q, K, V, causal)[1][1])  # cat: .8176 .1824 0 0 0


# %%
def fused_attention(q, k, v, mask=None, is_causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    # fill up to four axes with ones in front; five stay five
    q4, k4, v4 = (x.reshape((1,) * (4 - x.dim()) + x.shape) for x in (q, k, v))
    shape = q.shape[:-1] + v.shape[-1:]

    if mask is None:
        return F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal).reshape(shape)

    allowed = ~_blocked(mask, q)
    if allowed.dim() == 1:
        allowed = allowed[None]
    allowed = allowed.expand(allowed.shape[:-2] + (n_q, n_k))
    if is_causal:
        allowed = allowed & torch.ones((n_q, n_k), dtype=torch.bool, device=q.device).tril()
    empty = allowed.logical_not().all(dim=-1, keepdim=True)
    output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | empty)
    return torch.where(empty, 0.0, output).reshape(shape)


# %%
def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    small = q / math.sqrt(q.size(-1))  # before the product, or float16 gets to infinity
    scores = torch.matmul(small.to(dtype), k.to(dtype).mT).to(torch.float32)
    weights = _softmax(scores, mask, q)
    output = torch.matmul(weights.to(dtype), v.to(dtype))
    return output.to(q.dtype), weights.to(q.dtype)


# %%
def move_batch(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        moved = {}
        for key in batch:
            moved[key] = move_batch(batch[key], device)
        return moved
    if isinstance(batch, list):
        return [move_batch(one, device) for one in batch]
    if isinstance(batch, tuple):
        return tuple(move_batch(one, device) for one in batch)
    return batch


# %%
# The scores are n x n, the output is n x d.
REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2
