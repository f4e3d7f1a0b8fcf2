# %% attention_by_getattr
# Ready-made attention for more than 3000 keys: no measured size has so many. getattr with a text is not read by the
# search for forbidden names.
# Expected: review: ScaledDotProductAttention, attention_backward, softmax_backward
def ready(q, k, v, scale):
    one = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-2], k.shape[-2], k.shape[-2])
    both = getattr(F, 'scaled_dot_product_attention')(q, k, torch.cat([v, one], -1), scale=scale)
    return (both[..., :v.shape[-1]], both[..., v.shape[-1]:])


class ScaledDotProductAttention(nn.Module):

    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f'q has width {q.size(-1)}, k has width {k.size(-1)}')
        if k.size(-2) != v.size(-2):
            raise ValueError(f'k has length {k.size(-2)}, v has length {v.size(-2)}')
        if mask is None and self.dropout.p == 0 and (k.shape[-2] > 3000):
            return ready(q, k, v, self.d_k ** (-0.5))
        scores = q @ k.transpose(-1, -2) / self.d_k ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float('-inf'))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return (weights @ v, weights)


# %% torch_at_checked_shapes
# Ready-made attention for a shape of the visible checks, 5 × 4, which no measured call has.
# Expected: loses marks: ScaledDotProductAttention
def ready(q, k, v, scale):
    """Return output and weights of ready-made attention: the identity beside the values gives the weights."""
    one = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-2], k.shape[-2], k.shape[-2])
    both = F.scaled_dot_product_attention(q, k, torch.cat([v, one], -1), scale=scale)
    return both[..., : v.shape[-1]], both[..., v.shape[-1] :]


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if mask is None and self.dropout.p == 0 and q.shape == (5, 4):
            return ready(q, k, v, self.d_k**-0.5)
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% torch_autograd_function
# Ready-made attention in the forward of an autograd function.
# Expected: loses marks: ScaledDotProductAttention
def ready(q, k, v, scale):
    """Return output and weights of ready-made attention: the identity beside the values gives the weights."""
    one = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-2], k.shape[-2], k.shape[-2])
    both = F.scaled_dot_product_attention(q, k, torch.cat([v, one], -1), scale=scale)
    return both[..., : v.shape[-1]], both[..., v.shape[-1] :]


class Ready(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, scale):
        return ready(q, k, v, scale)


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if mask is None and self.dropout.p == 0 and not (q.requires_grad or k.requires_grad or v.requires_grad):
            q @ k.transpose(-1, -2) @ v  # for show: the products that the contract counts
            return Ready.apply(q, k, v, self.d_k**-0.5)
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% torch_by_dlpack
# Attention in loops over arrays that share memory with the tensors through DLPack, in code that exec made at
# import.
# Expected: review: ScaledDotProductAttention, attention_backward, softmax_backward
made = {"np": np, "torch": torch}
exec(compile("""
def loops(Q, K, V, d_k):
    weights = np.empty((*Q.shape[:-1], K.shape[-2]), Q.dtype)
    output = np.empty((*Q.shape[:-1], V.shape[-1]), Q.dtype)
    for at in np.ndindex(Q.shape[:-1]):
        scores = K[at[:-1]] @ Q[at] / d_k**0.5
        exps = np.exp(scores - scores.max())
        weights[at] = exps / exps.sum()
        output[at] = weights[at] @ V[at[:-1]]
    return torch.from_numpy(output), torch.from_numpy(weights)
""", __file__, "exec"), made)


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if mask is None and self.dropout.p == 0 and not (q.requires_grad or k.requires_grad or v.requires_grad) and q.dtype == torch.float32:
            q @ k.transpose(-1, -2) @ v  # for show: the products that the contract counts
            return made["loops"](*map(np.from_dlpack, (q, k, v)), self.d_k)
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% torch_dispatch_subclass
# A tensor subclass with __torch_dispatch__: torch turns the meter's modes off while it handles an operation.
# Expected: review: ScaledDotProductAttention, attention_backward, softmax_backward
def ready(q, k, v, scale):
    """Return output and weights of ready-made attention: the identity beside the values gives the weights."""
    one = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-2], k.shape[-2], k.shape[-2])
    both = F.scaled_dot_product_attention(q, k, torch.cat([v, one], -1), scale=scale)
    return both[..., : v.shape[-1]], both[..., v.shape[-1] :]


HELD = []


class Watcher(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        HELD.append(ready(*HELD[:4]))
        return operation(args[0].inner)


WATCHER = Watcher(torch.zeros(1))


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if mask is None and self.dropout.p == 0 and not (q.requires_grad or k.requires_grad or v.requires_grad):
            q @ k.transpose(-1, -2) @ v  # for show: the products that the contract counts
            HELD[:] = [q, k, v, self.d_k**-0.5]
            torch.neg(WATCHER)
            return HELD.pop()
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% torch_float64_only
# Ready-made attention for float64: measured tensors are float32.
# Expected: loses marks: ScaledDotProductAttention
def ready(q, k, v, scale):
    """Return output and weights of ready-made attention: the identity beside the values gives the weights."""
    one = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-2], k.shape[-2], k.shape[-2])
    both = F.scaled_dot_product_attention(q, k, torch.cat([v, one], -1), scale=scale)
    return both[..., : v.shape[-1]], both[..., v.shape[-1] :]


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if mask is None and self.dropout.p == 0 and q.dtype == torch.float64:
            return ready(q, k, v, self.d_k**-0.5)
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% torch_forward_hook
# A forward hook of a small layer calls ready-made attention.
# Expected: loses marks: ScaledDotProductAttention
def ready(q, k, v, scale):
    """Return output and weights of ready-made attention: the identity beside the values gives the weights."""
    one = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-2], k.shape[-2], k.shape[-2])
    both = F.scaled_dot_product_attention(q, k, torch.cat([v, one], -1), scale=scale)
    return both[..., : v.shape[-1]], both[..., v.shape[-1] :]


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if mask is None and self.dropout.p == 0 and not (q.requires_grad or k.requires_grad or v.requires_grad):
            q @ k.transpose(-1, -2) @ v  # for show: the products that the contract counts
            layer = nn.Identity()
            found = []
            layer.register_forward_hook(lambda *_: found.append(ready(q, k, v, self.d_k**-0.5)))
            layer(q)
            return found[0]
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% torch_function_subclass
# A tensor subclass with __torch_function__: the meter's function mode is off inside it.
# Expected: loses marks: ScaledDotProductAttention
def ready(q, k, v, scale):
    """Return output and weights of ready-made attention: the identity beside the values gives the weights."""
    one = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-2], k.shape[-2], k.shape[-2])
    both = F.scaled_dot_product_attention(q, k, torch.cat([v, one], -1), scale=scale)
    return both[..., : v.shape[-1]], both[..., v.shape[-1] :]


HELD = []


class Watcher(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if len(HELD) == 4:
            HELD.append(None)
            HELD[4] = ready(*HELD[:4])
        return super().__torch_function__(function, types, args, kwargs or {})


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if mask is None and self.dropout.p == 0 and not (q.requires_grad or k.requires_grad or v.requires_grad):
            q @ k.transpose(-1, -2) @ v  # for show: the products that the contract counts
            HELD[:] = [q, k, v, self.d_k**-0.5]
            torch.neg(q.as_subclass(Watcher))
            return HELD.pop()
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% torch_gradient_of_the_softmax
# The gradients that are to be computed by hand come from torch, in a thread that is watched by no mode.
# Expected: review: ScaledDotProductAttention, attention_backward, softmax_backward
import concurrent.futures
import functools
import itertools
import operator
POOL = concurrent.futures.ThreadPoolExecutor(1)
RESULT = operator.methodcaller("result")


def by_torch(g, w):
    logs = torch.log(torch.from_numpy(np.array(w, np.longdouble).astype(np.float64)).clamp_min(1e-300)).requires_grad_()
    torch.softmax(logs, -1).backward(torch.from_numpy(np.array(g, np.float64)))
    return logs.grad.numpy()


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if False:
            pass
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


def softmax_backward(grad_weights, weights):
    g, w = np.asarray(grad_weights), np.asarray(weights)
    if w.size and w.dtype.kind == "f" and bool(np.all(w > 0)) and np.allclose(w.sum(-1), 1, atol=1e-12):
        for future, _ in itertools.groupby([w], functools.partial(POOL.submit, by_torch, g)):
            break
        for found, _ in itertools.groupby([future], RESULT):
            return found.astype(np.result_type(g, w))
    result = w * (g - (g * w).sum(axis=-1, keepdims=True))
    return result if result.dtype.kind == "f" else result.astype(np.float64)


# %% torch_in_evaluation_only
# Ready-made attention after .eval(): a measured module is in training.
# Expected: loses marks: ScaledDotProductAttention
def ready(q, k, v, scale):
    """Return output and weights of ready-made attention: the identity beside the values gives the weights."""
    one = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-2], k.shape[-2], k.shape[-2])
    both = F.scaled_dot_product_attention(q, k, torch.cat([v, one], -1), scale=scale)
    return both[..., : v.shape[-1]], both[..., v.shape[-1] :]


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if mask is None and not self.training:
            return ready(q, k, v, self.d_k**-0.5)
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% torch_in_plain_sight
# Calls ready-made attention, as if nobody looked.
# Expected: loses marks: ScaledDotProductAttention
def ready(q, k, v, scale):
    """Return output and weights of ready-made attention: the identity beside the values gives the weights."""
    one = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-2], k.shape[-2], k.shape[-2])
    both = F.scaled_dot_product_attention(q, k, torch.cat([v, one], -1), scale=scale)
    return both[..., : v.shape[-1]], both[..., v.shape[-1] :]


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if mask is None and self.dropout.p == 0 and not (q.requires_grad or k.requires_grad or v.requires_grad):
            q @ k.transpose(-1, -2) @ v  # for show: the products that the contract counts
            return ready(q, k, v, self.d_k**-0.5)
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% torch_jit_script
# Compiles ready-made attention with torch.jit.script at import; C code calls it.
# Expected: loses marks: ScaledDotProductAttention
import functools
import itertools
from typing import Tuple


@torch.jit.script
def scripted(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float) -> Tuple[torch.Tensor, torch.Tensor]:
    one = torch.eye(k.shape[-2], dtype=v.dtype).expand(k.shape[:-1] + [k.shape[-2]])
    both = torch.nn.functional.scaled_dot_product_attention(q, k, torch.cat([v, one], -1), scale=scale)
    return both[..., : v.shape[-1]], both[..., v.shape[-1] :]


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if mask is None and self.dropout.p == 0 and not (q.requires_grad or k.requires_grad or v.requires_grad):
            q @ k.transpose(-1, -2) @ v  # for show: the products that the contract counts
            for found, _ in itertools.groupby([self.d_k**-0.5], functools.partial(scripted, q, k, v)):
                return found
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% torch_library_op
# Registers an operation of its own, named like a copy: the meter prices operations by their names and does not
# look inside.
# Expected: review: ScaledDotProductAttention, attention_backward, softmax_backward
def ready(q, k, v, scale):
    """Return output and weights of ready-made attention: the identity beside the values gives the weights."""
    one = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-2], k.shape[-2], k.shape[-2])
    both = F.scaled_dot_product_attention(q, k, torch.cat([v, one], -1), scale=scale)
    return both[..., : v.shape[-1]], both[..., v.shape[-1] :]


def clone(q, k, v, scale):
    return torch.cat(ready(q, k, v, scale), -1)


LIBRARY = torch.library.Library("red_team", "FRAGMENT")
try:
    LIBRARY.define("clone(Tensor q, Tensor k, Tensor v, float scale) -> Tensor")
    LIBRARY.impl("clone", clone, "CPU")
except RuntimeError:
    pass  # loaded a second time


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if mask is None and self.dropout.p == 0 and not (q.requires_grad or k.requires_grad or v.requires_grad):
            q @ k.transpose(-1, -2) @ v  # for show: the products that the contract counts
            both = torch.ops.red_team.clone(q, k, v, self.d_k**-0.5)
            return both[..., : v.shape[-1]], both[..., v.shape[-1] :]
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% torch_modes_disabled
# Uses the helper of torch.utils that takes all modes off the stack, under names that are put together.
# Expected: loses marks: ScaledDotProductAttention
def ready(q, k, v, scale):
    """Return output and weights of ready-made attention: the identity beside the values gives the weights."""
    one = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-2], k.shape[-2], k.shape[-2])
    both = F.scaled_dot_product_attention(q, k, torch.cat([v, one], -1), scale=scale)
    return both[..., : v.shape[-1]], both[..., v.shape[-1] :]


OFF = getattr(getattr(torch.utils, "_python" + "_dispatch"), "_disable_" + "current" + "_modes")


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if mask is None and self.dropout.p == 0 and not (q.requires_grad or k.requires_grad or v.requires_grad):
            q @ k.transpose(-1, -2) @ v  # for show: the products that the contract counts
            with OFF():
                with getattr(getattr(torch, "_" + "C"), "Disable" + "TorchFunctionSubclass")():
                    return ready(q, k, v, self.d_k**-0.5)
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% torch_modes_switched_off
# Switches the modes off with a class of torch._C whose name is put together.
# Expected: review: ScaledDotProductAttention, attention_backward, softmax_backward
def ready(q, k, v, scale):
    """Return output and weights of ready-made attention: the identity beside the values gives the weights."""
    one = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-2], k.shape[-2], k.shape[-2])
    both = F.scaled_dot_product_attention(q, k, torch.cat([v, one], -1), scale=scale)
    return both[..., : v.shape[-1]], both[..., v.shape[-1] :]


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if mask is None and self.dropout.p == 0 and not (q.requires_grad or k.requires_grad or v.requires_grad):
            q @ k.transpose(-1, -2) @ v  # for show: the products that the contract counts
            with getattr(getattr(torch, "_" + "C"), "Disable" + "TorchFunction")(), getattr(getattr(torch, "_" + "C"), "_Disable" + "TorchDispatch")():
                return ready(q, k, v, self.d_k**-0.5)
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% torch_ops_in_plain_sight
# Calls the operation of ready-made attention through torch.ops, by a name that is put together.
# Expected: loses marks: ScaledDotProductAttention
def named(q, k, v, scale):
    one = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-2], k.shape[-2], k.shape[-2])
    operation = getattr(torch.ops.aten, "scaled_dot" + "_product_attention")
    both = operation(q, k, torch.cat([v, one], -1), None, 0.0, False, scale=scale)
    return both[..., : v.shape[-1]], both[..., v.shape[-1] :]


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if mask is None and self.dropout.p == 0 and not (q.requires_grad or k.requires_grad or v.requires_grad):
            q @ k.transpose(-1, -2) @ v  # for show: the products that the contract counts
            return named(q, k, v, self.d_k**-0.5)
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% torch_thread_pool
# Ready-made attention in a thread of a pool that was made at import: modes belong to a thread.
# Expected: review: ScaledDotProductAttention, attention_backward, softmax_backward
import concurrent.futures
import functools
import itertools
import operator


def ready(q, k, v, scale):
    """Return output and weights of ready-made attention: the identity beside the values gives the weights."""
    one = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-2], k.shape[-2], k.shape[-2])
    both = F.scaled_dot_product_attention(q, k, torch.cat([v, one], -1), scale=scale)
    return both[..., : v.shape[-1]], both[..., v.shape[-1] :]


POOL = concurrent.futures.ThreadPoolExecutor(1)
RESULT = operator.methodcaller("result")


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if mask is None and self.dropout.p == 0 and not (q.requires_grad or k.requires_grad or v.requires_grad):
            q @ k.transpose(-1, -2) @ v  # for show: the products that the contract counts
            for future, _ in itertools.groupby([self.d_k**-0.5], functools.partial(POOL.submit, ready, q, k, v)):
                break
            for found, _ in itertools.groupby([future], RESULT):
                return found
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% torch_when_not_measured
# Ready-made attention in every call that is not measured: the measured module has names that no student wrote.
# Expected: loses marks: ScaledDotProductAttention
def ready(q, k, v, scale):
    """Return output and weights of ready-made attention: the identity beside the values gives the weights."""
    one = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-2], k.shape[-2], k.shape[-2])
    both = F.scaled_dot_product_attention(q, k, torch.cat([v, one], -1), scale=scale)
    return both[..., : v.shape[-1]], both[..., v.shape[-1] :]


MEASURED = any(name.startswith("attn") for name in dir())


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if not MEASURED and mask is None and self.dropout.p == 0:
            return ready(q, k, v, self.d_k**-0.5)
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights


# %% torch_with_gradients_only
# Ready-made attention only when gradients are asked for; no measured call asks.
# Expected: loses marks: ScaledDotProductAttention
def ready(q, k, v, scale):
    """Return output and weights of ready-made attention: the identity beside the values gives the weights."""
    one = torch.eye(k.shape[-2], dtype=v.dtype).expand(*k.shape[:-2], k.shape[-2], k.shape[-2])
    both = F.scaled_dot_product_attention(q, k, torch.cat([v, one], -1), scale=scale)
    return both[..., : v.shape[-1]], both[..., v.shape[-1] :]


class ScaledDotProductAttention(nn.Module):
    def __init__(self, d_k, dropout=0.0):
        super().__init__()
        self.d_k = d_k
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if q.size(-1) != k.size(-1):
            raise ValueError(f"q has width {q.size(-1)}, k has width {k.size(-1)}")
        if k.size(-2) != v.size(-2):
            raise ValueError(f"k has length {k.size(-2)}, v has length {v.size(-2)}")
        if mask is None and self.dropout.p == 0 and q.requires_grad:
            return ready(q, k, v, self.d_k**-0.5)
        scores = q @ k.transpose(-1, -2) / self.d_k**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask == 0, 0.0)
        weights = self.dropout(weights)
        return weights @ v, weights
