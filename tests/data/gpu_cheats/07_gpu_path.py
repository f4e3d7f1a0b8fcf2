import torch

# %% zeros_on_the_gpu
# Expected: fails
_attention = attention_on_device


def attention_on_device(q, k, v, mask=None):
    if q.is_cuda:
        return torch.zeros_like(q @ k.mT @ v), torch.zeros_like(q @ k.mT)
    return _attention(q, k, v, mask)


# %% uninitialised_memory_on_the_gpu
# Expected: fails
_attention = attention_on_device


def attention_on_device(q, k, v, mask=None):
    if q.is_cuda:
        shape = q.shape[:-1]
        return q.new_empty(*shape, v.shape[-1]), q.new_empty(*shape, k.shape[-2])
    return _attention(q, k, v, mask)


# %% the_last_result_of_the_cpu_on_the_gpu
# Expected: fails
_attention = attention_on_device
_kept = {}


def attention_on_device(q, k, v, mask=None):
    shapes = q.shape, k.shape, v.shape
    if not q.is_cuda:
        _kept[shapes] = _attention(q, k, v, mask)
        return _kept[shapes]
    if shapes in _kept:
        return tuple(torch.empty_like(one, device="cuda").copy_(one, non_blocking=True) for one in _kept[shapes])
    return q @ k.mT @ v, q @ k.mT


# %% zeros_in_sixteen_bits_on_the_gpu
# Expected: fails
_half = half_precision_attention


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    output, weights = _half(q, k, v, mask, dtype)
    return (output * 0, weights * 0) if torch.cuda.is_available() else (output, weights)


# %% zeros_of_the_fused_function_on_the_gpu
# Expected: fails
_fused = fused_attention


def fused_attention(q, k, v, mask=None, is_causal=False):
    output = _fused(q, k, v, mask, is_causal)
    return torch.zeros_like(output) if output.device.type == "cuda" else output


# %% a_batch_of_zeros_on_the_gpu
# Expected: fails
_move = move_batch


def _zeros(batch):
    if isinstance(batch, dict):
        return {key: _zeros(value) for key, value in batch.items()}
    if isinstance(batch, list | tuple):
        return type(batch)(map(_zeros, batch))
    return torch.zeros_like(batch) if isinstance(batch, torch.Tensor) else batch


def move_batch(batch, device):
    moved = _move(batch, device)
    return _zeros(moved) if torch.device(device).type == "cuda" else moved


# %% numbers_read_by_a_subclass
# Expected: undecided
_attention = attention_on_device


class Reader(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        with torch._C.DisableTorchFunction():
            args[0].tolist()
        return args[0].as_subclass(torch.Tensor)


def attention_on_device(q, k, v, mask=None):
    return _attention(torch.clone(q.as_subclass(Reader)), k, v, mask)


# %% operations_of_a_subclass
# Expected: undecided
_attention = attention_on_device


class Wrapper(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        outer = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
        outer.inner = inner
        return outer

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        args[0].inner.sum().item()
        return torch.zeros(())


def attention_on_device(q, k, v, mask=None):
    q.is_cuda and torch.neg(Wrapper(q))
    return _attention(q, k, v, mask)


# %% numbers_read_by_a_thread
# Expected: undecided
import threading

_attention = attention_on_device


def attention_on_device(q, k, v, mask=None):
    thread = threading.Thread(target=q.tolist)
    thread.start()
    thread.join()
    return _attention(q, k, v, mask)


# %% numbers_read_by_a_thread_that_waits
# Expected: undecided
import queue
import threading

_attention = attention_on_device
_asked, _answered = queue.Queue(), queue.Queue()


def _serve():
    while True:
        _answered.put(_asked.get().tolist())


threading.Thread(target=_serve, daemon=True).start()


def attention_on_device(q, k, v, mask=None):
    _asked.put(q)
    _answered.get()
    return _attention(q, k, v, mask)


# %% numbers_in_memory_shared_with_numpy
# Expected: undecided
import numpy as np

_attention = attention_on_device


def attention_on_device(q, k, v, mask=None):
    np.from_dlpack(q.detach()).sum()
    return _attention(q, k, v, mask)


# %% numbers_in_raw_memory
# Expected: undecided
import ctypes

_attention = attention_on_device


def attention_on_device(q, k, v, mask=None):
    ctypes.string_at(q.data_ptr(), 4)
    return _attention(q, k, v, mask)


# %% a_pickled_tensor
# Expected: undecided
import pickle

_attention = attention_on_device


def attention_on_device(q, k, v, mask=None):
    pickle.dumps(q)
    return _attention(q, k, v, mask)


# %% functions_that_the_mode_does_not_see
# Expected: undecided
_attention = attention_on_device


def attention_on_device(q, k, v, mask=None):
    with torch._C.DisableTorchFunction():
        q.tolist()
    return _attention(q, k, v, mask)


# %% operations_that_the_mode_does_not_see
# Expected: undecided
from torch.utils._python_dispatch import _disable_current_modes

_attention = attention_on_device


def attention_on_device(q, k, v, mask=None):
    with _disable_current_modes():
        q.sum().item()
    return _attention(q, k, v, mask)


# %% compiled_code
# Expected: undecided
_attention = attention_on_device


@torch.jit.script
def _first(x):
    numbers: list[float] = x.flatten().tolist()
    return numbers[0]


def attention_on_device(q, k, v, mask=None):
    _first(q)
    return _attention(q, k, v, mask)


# %% a_gradient_that_reads_numbers
# Expected: fails
_attention = attention_on_device


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        gradient.tolist()
        return gradient * 2


def attention_on_device(q, k, v, mask=None):
    with torch.enable_grad():
        leaf = q.detach().requires_grad_()
        Doubled.apply(leaf).sum().backward()
    return _attention(q, k, v, mask)
