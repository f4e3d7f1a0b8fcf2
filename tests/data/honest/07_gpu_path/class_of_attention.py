import abc
import contextlib
import math

import torch
import torch.nn.functional as F


class Device:
    """A device that may or may not be here."""

    __slots__ = ("device",)

    def __init__(self, name):
        with contextlib.suppress(RuntimeError):
            self.device = torch.device(name)
            return
        raise ValueError(f"not a device name: {name!r}")

    @property
    def is_here(self):
        kind, index = self.device.type, self.device.index
        if kind == "cuda":
            return torch.cuda.is_available() and (index is None or index in range(torch.cuda.device_count()))
        return kind == "cpu" or (kind == "mps" and torch.backends.mps.is_available())

    def or_cpu(self):
        return self.device if self.is_here else torch.device("cpu")


def pick_device(prefer="cuda"):
    return Device(prefer).or_cpu()


class Mask:
    """A mask on the device of the scores. Rows without a key are treated separately."""

    def __init__(self, mask, device):
        self.allowed = mask.to(device) != 0
        self.dead = ~self.allowed.any(dim=-1, keepdim=True)

    def scores(self, scores):
        return scores.masked_fill(~self.allowed, -math.inf).masked_fill(self.dead, 0)

    def weights(self, weights):
        return weights.masked_fill(self.dead, 0)


class NoMask(Mask):
    def __init__(self):
        pass

    def scores(self, scores):
        return scores

    weights = scores


class Attention(abc.ABC):
    def __init__(self, q, mask):
        self.mask = NoMask() if mask is None else Mask(mask, q.device)
        self.scale = math.sqrt(q.shape[-1])

    @abc.abstractmethod
    def product(self, a, b): ...

    def __call__(self, q, k, v):
        scores = self.mask.scores(self.product(q / self.scale, k.transpose(-1, -2)))
        weights = self.mask.weights(torch.softmax(scores, dim=-1))
        return self.product(weights, v), weights


class Full(Attention):
    def product(self, a, b):
        return torch.matmul(a, b)


class Half(Attention):
    def __init__(self, q, mask, dtype):
        super().__init__(q, mask)
        self.dtype = dtype

    def product(self, a, b):
        return torch.matmul(a.to(self.dtype), b.to(self.dtype)).float()


def attention_on_device(q, k, v, mask=None):
    return Full(q, mask)(q, k, v)


def fused_attention(q, k, v, mask=None, is_causal=False):
    lead, n_q, n_k = q.shape[:-2], q.shape[-2], k.shape[-2]
    batch = lead.numel()
    q, k, v = q.reshape(batch, 1, n_q, -1), k.reshape(batch, 1, n_k, -1), v.reshape(batch, 1, n_k, -1)
    if mask is None:
        out = F.scaled_dot_product_attention(q, k, v, None, 0.0, is_causal)
        return out.reshape(*lead, n_q, out.shape[-1])
    if is_causal:
        causal = torch.tril(torch.ones((n_q, n_k), dtype=torch.bool, device=q.device))
        mask = causal & mask.to(q.device).bool()
    read = Mask(mask.to(q.device).broadcast_to(*lead, n_q, n_k).reshape(batch, 1, n_q, n_k), q.device)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=read.allowed | read.dead)
    return read.weights(out).reshape(*lead, n_q, out.shape[-1])


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    output, weights = Half(q, mask, dtype)(q, k, v)
    return output.to(q.dtype), weights.to(q.dtype)


class Mover:
    def __init__(self, device):
        self.device = device

    def __call__(self, thing):
        visit = getattr(self, "visit_" + type(thing).__name__, None)
        if isinstance(thing, torch.Tensor):
            visit = self.visit_Tensor
        return thing if visit is None else visit(thing)

    def visit_Tensor(self, thing):
        return thing.to(self.device, non_blocking=True)

    def visit_dict(self, thing):
        return {key: self(value) for key, value in thing.items()}

    def visit_list(self, thing):
        return [self(one) for one in thing]

    def visit_tuple(self, thing):
        return tuple(self(one) for one in thing)


def move_batch(batch, device):
    return Mover(device)(batch)


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2
