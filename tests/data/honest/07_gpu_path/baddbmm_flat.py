# 07 The GPU path. I flatten everything to three axes, as bmm wants it, and write the softmax out.
import functools
import logging
import math

import torch
import torch.nn.functional as F

log = logging.getLogger("gpu_path")


def pick_device(prefer="cuda"):
    if isinstance(prefer, torch.device):
        device = prefer
    else:
        try:
            device = torch.device(prefer)
        except RuntimeError as e:
            raise ValueError("not a device: '" + str(prefer) + "'") from e
    here = device.type == "cpu"
    if device.type == "cuda":
        here = torch.cuda.is_available() and (device.index or 0) < torch.cuda.device_count()
    elif device.type == "mps":
        here = torch.backends.mps.is_available()
    if not here:
        log.info("no %s in this machine, the CPU will do", device)
        return torch.device("cpu")
    return device


def _flat(x):
    """(..., n, d) as (B, n, d)"""
    return x.reshape(-1, *x.shape[-2:])


def _normalise(scores, mask):
    """Softmax by hand. `scores` is ours, so it may be overwritten."""
    if mask is not None:
        scores = scores.masked_fill(mask.to(scores.device) == 0, -math.inf)
    top = scores.detach().amax(dim=-1, keepdim=True)
    top = top.masked_fill(top == -math.inf, 0.0)  # rows without keys: -inf - 0 is fine, -inf - -inf is not
    e = (scores - top).exp_()
    # The largest entry of every row with keys is exp(0) = 1, so clamping changes only the rows without keys (0 / 1).
    return e / e.sum(dim=-1, keepdim=True).clamp(min=1.0)


def attention_on_device(q, k, v, mask=None):
    *lead, n_q, d = q.shape
    n_k, d_v = v.shape[-2:]
    ignored = q.new_zeros(1)
    scores = torch.baddbmm(ignored, _flat(q), _flat(k).transpose(1, 2), beta=0, alpha=1 / math.sqrt(d))
    weights = _normalise(scores.view(*lead, n_q, n_k), mask)
    output = torch.bmm(_flat(weights), _flat(v)).view(*lead, n_q, d_v)
    return output, weights


def fused_attention(q, k, v, mask=None, is_causal=False):
    *lead, n_q, _ = q.shape
    n_k, d_v = v.shape[-2:]
    # Exactly four axes: (1, 1) in front of two, 1 in front of three, and the first two of five joined.
    if len(lead) > 2:
        axes = (-1, lead[-1])
    else:
        axes = (1,) * (2 - len(lead)) + tuple(lead)
    four = [x.reshape(*axes, *x.shape[-2:]) for x in (q, k, v)]

    if mask is None:
        out = F.scaled_dot_product_attention(*four, attn_mask=None, is_causal=is_causal)
        return out.reshape(*lead, n_q, d_v)

    seen = mask.to(q.device) != 0
    if is_causal:
        seen = seen & torch.ones(n_q, n_k, device=q.device).tril().bool()
    seen = seen.expand(*seen.shape[:-2], n_q, n_k) if seen.dim() > 1 else seen.expand(n_q, n_k)
    if len(lead) > 2:
        seen = seen.expand(*lead, n_q, n_k).reshape(*axes, n_q, n_k)
    lost = ~seen.any(dim=-1, keepdim=True)
    # As a bias: 0 where a key is seen, -inf where it is not. Lost queries see all keys, and are removed afterwards.
    bias = torch.zeros(seen.shape, dtype=q.dtype, device=q.device).masked_fill(~(seen | lost), -math.inf)
    out = F.scaled_dot_product_attention(*four, attn_mask=bias)
    return out.masked_fill(lost, 0).reshape(*lead, n_q, d_v)


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    *lead, n_q, d = q.shape
    n_k, d_v = v.shape[-2:]
    half_scale = d**-0.25  # on both sides of the product, together 1 / sqrt(d)
    low_q = _flat((q.float() * half_scale).to(dtype))
    low_k = _flat((k.float() * half_scale).to(dtype))
    scores = torch.bmm(low_q, low_k.transpose(1, 2)).float()
    weights = _normalise(scores.view(*lead, n_q, n_k), mask)
    output = torch.bmm(_flat(weights).to(dtype), _flat(v).to(dtype)).view(*lead, n_q, d_v)
    return output.type_as(q), weights.type_as(q)


@functools.singledispatch
def _move(batch, device):
    return batch


@_move.register(torch.Tensor)
def _(batch, device):
    return batch.to(device, non_blocking=True)


@_move.register(dict)
def _(batch, device):
    return dict((key, _move(value, device)) for key, value in batch.items())


@_move.register(list)
def _(batch, device):
    return [_move(value, device) for value in batch]


@_move.register(tuple)
def _(batch, device):
    values = [_move(value, device) for value in batch]
    if hasattr(batch, "_fields"):
        return type(batch)(*values)
    return tuple(values)


def move_batch(batch, device):
    return _move(batch, device)


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4.0
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2.0
