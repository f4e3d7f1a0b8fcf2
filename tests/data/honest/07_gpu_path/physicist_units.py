import torch
from math import inf, sqrt
from torch.nn.functional import scaled_dot_product_attention as sdpa

π_dtype = {torch.bfloat16: torch.float32, torch.float16: torch.float32}


def pick_device(prefer="cuda"):
    try:
        Ω = torch.device(prefer)
    except RuntimeError:
        raise ValueError("unknown apparatus: %r" % (prefer,)) from None
    N = {"cpu": 1, "mps": int(torch.backends.mps.is_available())}.get(Ω.type, 0)
    if Ω.type == "cuda" and torch.cuda.is_available():
        N = torch.cuda.device_count()
    return Ω if (Ω.index or 0) < N else torch.device("cpu")


def ρ(S, χ):
    """Density of states: e^S / Z over the states that χ allows, 0 if there are none."""
    if χ is None:
        return S.softmax(-1)
    Z0 = ~χ.any(-1, keepdim=True)
    return S.masked_fill(~χ, -inf).masked_fill(Z0, 0).softmax(-1).masked_fill(Z0, 0)


def χ_of(mask, q):
    return mask if mask is None else (mask.to(q.device) != 0)


def attention_on_device(q, k, v, mask=None):
    β = 1 / sqrt(q.shape[-1])
    W = ρ(β * (q @ k.mT), χ_of(mask, q))
    return W @ v, W


def fused_attention(q, k, v, mask=None, is_causal=False):
    *Λ, n, _ = q.shape
    m, d = v.shape[-2:]
    q, k, v = (ψ.reshape(1, -1, *ψ.shape[-2:]) for ψ in (q, k, v))
    if (χ := χ_of(mask, q)) is None:
        return sdpa(q, k, v, is_causal=is_causal).reshape(*Λ, n, d)
    if is_causal:
        t = torch.arange(n, device=q.device)
        τ = torch.arange(m, device=q.device)
        χ = χ & (τ <= t[:, None])
    χ = χ.expand(*Λ, n, m).reshape(1, -1, n, m)
    Z0 = ~χ.any(-1, keepdim=True)
    return sdpa(q, k, v, attn_mask=χ | Z0).masked_fill(Z0, 0).reshape(*Λ, n, d)


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    β = 1 / sqrt(q.shape[-1])
    S = (β * q).to(dtype) @ k.to(dtype).mT
    W = ρ(S.to(π_dtype.get(dtype, dtype)), χ_of(mask, q)).to(dtype)
    O = W @ v.to(dtype)
    return O.to(q.dtype), W.to(q.dtype)


def move_batch(batch, device):
    # a category with three functors
    Φ = lambda x: move_batch(x, device)
    return (
        batch.to(device, non_blocking=True) if isinstance(batch, torch.Tensor)
        else {κ: Φ(x) for κ, x in batch.items()} if isinstance(batch, dict)
        else [Φ(x) for x in batch] if isinstance(batch, list)
        else tuple(Φ(x) for x in batch) if isinstance(batch, tuple)
        else batch
    )


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2
