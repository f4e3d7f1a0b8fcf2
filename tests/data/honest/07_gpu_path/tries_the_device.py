import math
import torch
from torch.nn.functional import scaled_dot_product_attention, softmax


def pick_device(prefer="cuda"):
    cpu = torch.device("cpu")
    try:
        device = torch.device(prefer)
    except RuntimeError as error:
        raise ValueError(f"{prefer!r}: {error}") from error
    if device.type == "cpu":
        return cpu
    # easier to ask for forgiveness than permission
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError):
        return cpu
    else:
        return device


def attention_on_device(q, k, v, mask=None):
    s = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
    if mask is not None:
        m = mask.to(device=q.device, dtype=torch.bool)
        s = s.masked_fill(m.logical_not(), float("-inf"))
        w = softmax(s, -1)
        w = torch.where(m, w, w.new_zeros(()))
    else:
        w = softmax(s, -1)
    return w @ v, w


def fused_attention(q, k, v, mask=None, is_causal=False):
    if q.dim() == 2:
        wrap, unwrap = (lambda x: x[None, None]), (lambda x: x[0, 0])
    elif q.dim() == 3:
        wrap, unwrap = (lambda x: x[None]), (lambda x: x[0])
    elif q.dim() == 4:
        wrap = unwrap = lambda x: x
    else:
        lead = q.shape[:-3]
        wrap, unwrap = (lambda x: x.flatten(0, -4)), (lambda x: x.unflatten(0, lead))
    if mask is None:
        return unwrap(scaled_dot_product_attention(wrap(q), wrap(k), wrap(v), is_causal=is_causal))
    m = mask.to(device=q.device, dtype=torch.bool).expand(*q.shape[:-1], k.size(-2))
    if is_causal:
        m = m & m.new_ones(q.size(-2), k.size(-2)).tril(0)
    blind = m.logical_not().all(-1, keepdim=True)
    out = unwrap(scaled_dot_product_attention(wrap(q), wrap(k), wrap(v), attn_mask=wrap(m | blind)))
    return torch.where(blind, out.new_zeros(()), out)


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    qh = q.mul(1 / math.sqrt(q.size(-1))).type(dtype)
    kh, vh = k.type(dtype), v.type(dtype)
    s = torch.matmul(qh, kh.transpose(-2, -1))
    if mask is not None:
        m = mask.to(device=q.device, dtype=torch.bool)
        s = s.masked_fill(m.logical_not(), torch.finfo(dtype).min)
        w = softmax(s, -1, dtype=torch.float32) * m
    else:
        w = softmax(s, -1, dtype=torch.float32)
    w = w.type(dtype)
    return torch.matmul(w, vh).type_as(q), w.type_as(q)


def move_batch(batch, device):
    """Without recursion: a stack of places that still have to be filled."""
    root = [None]
    todo = [(batch, root, 0)]
    tuples = []
    while todo:
        thing, parent, place = todo.pop()
        if isinstance(thing, torch.Tensor):
            parent[place] = thing.to(device, non_blocking=True)
        elif isinstance(thing, dict):
            parent[place] = new = dict.fromkeys(thing)
            todo.extend((value, new, key) for key, value in thing.items())
        elif isinstance(thing, (list, tuple)):
            parent[place] = new = [None] * len(thing)
            todo.extend((value, new, i) for i, value in enumerate(thing))
            if isinstance(thing, tuple):
                tuples.append((parent, place))
        else:
            parent[place] = thing
    # the innermost tuples were found last
    for parent, place in reversed(tuples):
        parent[place] = tuple(parent[place])
    return root[0]


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2
