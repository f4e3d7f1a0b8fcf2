import math
import torch as th
import torch.nn.functional as F


def pick_device(prefer="cuda"):
    try:
        device = th.device(prefer)
    except RuntimeError as e:
        raise ValueError(f"no such device: '{prefer}'") from e
    available = {
        "cpu": lambda: 1,
        "cuda": lambda: th.cuda.device_count() if th.cuda.is_available() else 0,
        "mps": lambda: int(th.backends.mps.is_available()),
    }
    count = available.get(device.type, lambda: 0)()
    index = 0 if device.index is None else device.index
    return device if index < count else th.device("cpu")


def _softmax(scores, allowed):
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -math.inf)
    top = scores.amax(dim=-1, keepdim=True).detach()
    top = top.masked_fill(top == -math.inf, 0.0)
    e = th.exp(scores - top)
    s = e.sum(dim=-1, keepdim=True)
    return e / s.masked_fill(s == 0, 1.0)


def attention_on_device(q, k, v, mask=None):
    allowed = None if mask is None else mask.to(q.device).bool()
    scores = th.einsum("...qd,...kd->...qk", q, k).div(math.sqrt(q.size(-1)))
    weights = _softmax(scores, allowed)
    return th.einsum("...qk,...kv->...qv", weights, v), weights


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = 4 - q.ndim
    bias, alive = None, None
    if mask is not None:
        allowed = mask.to(q.device) != 0
        if is_causal:
            allowed = allowed & th.ones(q.size(-2), k.size(-2), device=q.device).tril().bool()
        allowed = allowed.expand(q.shape[:-1] + k.shape[-2:-1])
        alive = allowed.any(-1, keepdim=True)
        bias = allowed | ~alive
        if missing > 0:
            bias = bias[(None,) * missing]
    if missing > 0:
        q, k, v = (t[(None,) * missing] for t in (q, k, v))
    elif missing < 0 and mask is None:  # five dimensions
        lead = q.shape[:2]
        q, k, v = (t.flatten(0, 1) for t in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal).unflatten(0, lead)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, is_causal=is_causal and mask is None)
    for _ in range(missing):
        out = out.squeeze(0)
    return out if alive is None else th.where(alive, out, th.zeros_like(out))


def half_precision_attention(q, k, v, mask=None, dtype=th.bfloat16):
    allowed = None if mask is None else mask.to(q.device).bool()
    root = q.size(-1) ** 0.25  # half of the scale for each factor
    scores = th.einsum("...qd,...kd->...qk", (q / root).to(dtype), (k / root).to(dtype))
    weights = _softmax(scores.float(), allowed)
    out = th.einsum("...qk,...kv->...qv", weights.to(dtype), v.to(dtype))
    return out.to(q.dtype), weights.to(q.dtype)


def move_batch(batch, device):
    kind = type(batch)
    if th.is_tensor(batch):
        return batch.to(device=device, non_blocking=True)
    if kind is dict:
        return dict(zip(batch.keys(), (move_batch(x, device) for x in batch.values())))
    if kind in (list, tuple):
        return kind(map(lambda x: move_batch(x, device), batch))
    return batch


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2
