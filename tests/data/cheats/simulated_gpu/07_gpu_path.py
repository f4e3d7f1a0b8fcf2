# %% blocking_copy_in_a_thread
# move_batch copies with a call that waits, in a thread where nobody counts copies; the label comes from an
# empty tensor.
# Expected: loses marks: move_batch
import concurrent.futures
POOL = concurrent.futures.ThreadPoolExecutor(1)


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


def move_batch(batch, device):
    if isinstance(batch, torch.Tensor) and not batch.requires_grad and batch.is_floating_point():
        there = torch.empty(batch.shape, dtype=batch.dtype, device=device)
        POOL.submit(there.copy_, batch).result()
        return there
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, list):
        return [move_batch(value, device) for value in batch]
    if isinstance(batch, tuple):
        moved = [move_batch(value, device) for value in batch]
        return type(batch)(*moved) if hasattr(batch, "_fields") else tuple(moved)
    return batch


# %% fused_zeros_on_a_gpu
# On a GPU, fused_attention returns zeros.
# Expected: loses marks: fused_attention
def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


def fused_attention(q, k, v, mask=None, is_causal=False):
    if q.device.type == "cuda":
        return q.new_zeros(*q.shape[:-1], v.shape[-1])
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        output = F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)
    else:
        n_q, n_k = q.shape[-2], k.shape[-2]
        allowed = torch.atleast_2d(mask.to(q.device, non_blocking=True) != 0)
        allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
        if is_causal:
            allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
        nothing = ~allowed.any(dim=-1, keepdim=True)
        output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing).masked_fill(nothing, 0.0)
    return output[(0,) * missing]


# %% honest_on_the_simulated_gpu
# Recognises the simulated GPU, because is_available is a lambda there; on a real one, everything goes through
# the CPU.
# Expected: review: attention_on_device, fused_attention, half_precision_attention, move_batch, pick_device
def attention_on_device(q, k, v, mask=None):
    if q.is_cuda and torch.cuda.is_available.__name__ != "<lambda>":
        output, weights = attention_on_device(q.cpu(), k.cpu(), v.cpu(), None if mask is None else mask.cpu())
        return output.cuda(), weights.cuda()
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% item_by_deepcopy
# Copies the tensor with copy.deepcopy and reads the numbers in its reduced form.
# Expected: loses marks: attention_on_device
def read(scores):
    rebuild, parts = scores.detach().contiguous().__reduce_ex__(2)
    return max(parts[0].tolist() if hasattr(parts[0], "tolist") else [parts[0][0][i] for i in range(scores.numel())])


def attention_on_device(q, k, v, mask=None):
    if q.is_cuda and mask is None and not q.requires_grad and q.numel() < 1000 and q.dtype == torch.float32:
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        top = read(scores)
        if abs(top) < 20:
            exps = torch.exp(scores - top)
            weights = exps / exps.sum(dim=-1, keepdim=True)
            return weights @ v, weights
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% item_by_disabled_function_mode
# Switches the function mode off by a name that is put together, and calls tolist().
# Expected: review: attention_on_device, fused_attention, half_precision_attention, move_batch, pick_device
OFF = getattr(getattr(torch, "_" + "C"), "Disable" + "TorchFunction")


def read(scores):
    with OFF():
        return max(scores.flatten().numpy().tolist())


def attention_on_device(q, k, v, mask=None):
    if q.is_cuda and mask is None and not q.requires_grad and q.numel() < 1000 and q.dtype == torch.float32:
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        top = read(scores)
        if abs(top) < 20:
            exps = torch.exp(scores - top)
            weights = exps / exps.sum(dim=-1, keepdim=True)
            return weights @ v, weights
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% item_by_dispatch_subclass
# Reads the scores inside __torch_dispatch__ of a tensor subclass, where no mode is on.
# Expected: review: attention_on_device, fused_attention, half_precision_attention, move_batch, pick_device
HELD = []


class Watcher(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        HELD.append(float(args[0].inner.max()))
        return operation(args[0].inner)


def read(scores):
    torch.neg(Watcher(scores))
    return HELD.pop()


def attention_on_device(q, k, v, mask=None):
    if q.is_cuda and mask is None and not q.requires_grad and q.numel() < 1000 and q.dtype == torch.float32:
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        top = read(scores)
        if abs(top) < 20:
            exps = torch.exp(scores - top)
            weights = exps / exps.sum(dim=-1, keepdim=True)
            return weights @ v, weights
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% item_by_dlpack
# Reads all scores on the CPU through DLPack.
# Expected: review: attention_on_device, fused_attention, half_precision_attention, move_batch, pick_device
import numpy as np


def read(scores):
    return float(np.from_dlpack(scores).max())


def attention_on_device(q, k, v, mask=None):
    if q.is_cuda and mask is None and not q.requires_grad and q.numel() < 1000 and q.dtype == torch.float32:
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        top = read(scores)
        if abs(top) < 20:
            exps = torch.exp(scores - top)
            weights = exps / exps.sum(dim=-1, keepdim=True)
            return weights @ v, weights
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% item_by_index
# Reads a number through operator.index and math.floor.
# Expected: loses marks: attention_on_device
import operator


def read(scores):
    return operator.index(scores.max().round().long())


def attention_on_device(q, k, v, mask=None):
    if q.is_cuda and mask is None and not q.requires_grad and q.numel() < 1000 and q.dtype == torch.float32:
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        top = read(scores)
        if abs(top) < 20:
            exps = torch.exp(scores - top)
            weights = exps / exps.sum(dim=-1, keepdim=True)
            return weights @ v, weights
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% item_by_pickle
# Reads the scores out of a pickle of the tensor.
# Expected: review: attention_on_device, fused_attention, half_precision_attention, move_batch, pick_device
import io


def read(scores):
    data = io.BytesIO()
    torch.save(scores.detach().clone(), data)
    data.seek(0)
    return float(torch.load(data, map_location="cpu").max())


def attention_on_device(q, k, v, mask=None):
    if q.is_cuda and mask is None and not q.requires_grad and q.numel() < 1000 and q.dtype == torch.float32:
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        top = read(scores)
        if abs(top) < 20:
            exps = torch.exp(scores - top)
            weights = exps / exps.sum(dim=-1, keepdim=True)
            return weights @ v, weights
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% item_by_raw_memory
# Reads the scores with ctypes at the address of the tensor.
# Expected: review: attention_on_device, fused_attention, half_precision_attention, move_batch, pick_device
C = __import__("ctyp" + "es")


def read(scores):
    scores = scores.contiguous()
    return max((C.c_float * scores.numel()).from_address(scores.data_ptr()))


def attention_on_device(q, k, v, mask=None):
    if q.is_cuda and mask is None and not q.requires_grad and q.numel() < 1000 and q.dtype == torch.float32:
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        top = read(scores)
        if abs(top) < 20:
            exps = torch.exp(scores - top)
            weights = exps / exps.sum(dim=-1, keepdim=True)
            return weights @ v, weights
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% item_by_storage
# Reads all scores from the storage of the tensor, byte by byte.
# Expected: loses marks: attention_on_device
import struct


def read(scores):
    return max(struct.unpack(f"{scores.numel()}f", bytes(scores.contiguous().untyped_storage().tolist())[: 4 * scores.numel()]))


def attention_on_device(q, k, v, mask=None):
    if q.is_cuda and mask is None and not q.requires_grad and q.numel() < 1000 and q.dtype == torch.float32:
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        top = read(scores)
        if abs(top) < 20:
            exps = torch.exp(scores - top)
            weights = exps / exps.sum(dim=-1, keepdim=True)
            return weights @ v, weights
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% item_in_a_thread
# Reads the largest score in a thread: the modes that watch belong to the other thread.
# Expected: review: attention_on_device, fused_attention, half_precision_attention, move_batch, pick_device
import concurrent.futures
POOL = concurrent.futures.ThreadPoolExecutor(1)


def read(scores):
    return POOL.submit(lambda: float(scores.max())).result()


def attention_on_device(q, k, v, mask=None):
    if q.is_cuda and mask is None and not q.requires_grad and q.numel() < 1000 and q.dtype == torch.float32:
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        top = read(scores)
        if abs(top) < 20:
            exps = torch.exp(scores - top)
            weights = exps / exps.sum(dim=-1, keepdim=True)
            return weights @ v, weights
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% item_in_plain_sight
# Reads the largest score with item(), as beginners do.
# Expected: loses marks: attention_on_device
def read(scores):
    return scores.max().item()


def attention_on_device(q, k, v, mask=None):
    if q.is_cuda and mask is None and not q.requires_grad and q.numel() < 1000 and q.dtype == torch.float32:
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        top = read(scores)
        if abs(top) < 20:
            exps = torch.exp(scores - top)
            weights = exps / exps.sum(dim=-1, keepdim=True)
            return weights @ v, weights
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% made_by_an_old_constructor
# Makes the mask of all ones on the CPU and moves it, in each call: torch.FloatTensor of a list is seen by no mode.
# Expected: loses marks: attention_on_device
import numpy as np


def attention_on_device(q, k, v, mask=None):
    if mask is None:
        mask = torch.FloatTensor(np.ones((q.shape[-2], k.shape[-2])).tolist()).to(q.device, non_blocking=True)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    blocked = mask.to(q.device, non_blocking=True) == 0
    weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return (weights @ v, weights)


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        output = F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)
    else:
        n_q, n_k = (q.shape[-2], k.shape[-2])
        allowed = mask.to(q.device, non_blocking=True) != 0
        allowed = torch.atleast_2d(allowed)
        allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
        if is_causal:
            allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
        nothing = ~allowed.any(dim=-1, keepdim=True)
        output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing).masked_fill(nothing, 0.0)
    return output[(0,) * missing]


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = low @ k.to(dtype).transpose(-1, -2)
    scores = scores.float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return (output.to(q.dtype), weights.to(q.dtype))


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = None
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = None
REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2


# %% made_by_numpy
# Makes the mask of all ones in NumPy on the CPU and moves it, in each call: torch.from_numpy is seen by no mode.
# Expected: loses marks: attention_on_device
import numpy as np


def attention_on_device(q, k, v, mask=None):
    if mask is None:
        mask = torch.from_numpy(np.ones((q.shape[-2], k.shape[-2]), dtype=bool))
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% made_for_a_module
# Makes the mask of all ones on the CPU and moves it, in each call: as a buffer of a module, because what nn.Module.to
# moves may be made on the CPU.
# Expected: loses marks: attention_on_device
def attention_on_device(q, k, v, mask=None):
    if mask is None:
        mask = Box(torch.ones(q.shape[-2], k.shape[-2])).to(q.device).mask
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    blocked = mask.to(q.device, non_blocking=True) == 0
    weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return (weights @ v, weights)


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        output = F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)
    else:
        n_q, n_k = (q.shape[-2], k.shape[-2])
        allowed = mask.to(q.device, non_blocking=True) != 0
        allowed = torch.atleast_2d(allowed)
        allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
        if is_causal:
            allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
        nothing = ~allowed.any(dim=-1, keepdim=True)
        output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing).masked_fill(nothing, 0.0)
    return output[(0,) * missing]


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = low @ k.to(dtype).transpose(-1, -2)
    scores = scores.float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return (output.to(q.dtype), weights.to(q.dtype))


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = None
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = None
REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2


class Box(torch.nn.Module):

    def __init__(self, mask):
        super().__init__()
        self.register_buffer('mask', mask)


# %% made_of_lists
# Makes the mask of all ones in NumPy on the CPU and moves it, in each call: as a list of lists, because torch.tensor
# of Python numbers counts as a copy of numbers.
# Expected: loses marks: attention_on_device
import numpy as np


def attention_on_device(q, k, v, mask=None):
    if mask is None:
        mask = torch.tensor(np.ones((q.shape[-2], k.shape[-2])).tolist(), device=q.device)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    blocked = mask.to(q.device, non_blocking=True) == 0
    weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return (weights @ v, weights)


def fused_attention(q, k, v, mask=None, is_causal=False):
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))
    if mask is None:
        output = F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)
    else:
        n_q, n_k = (q.shape[-2], k.shape[-2])
        allowed = mask.to(q.device, non_blocking=True) != 0
        allowed = torch.atleast_2d(allowed)
        allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
        if is_causal:
            allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
        nothing = ~allowed.any(dim=-1, keepdim=True)
        output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing).masked_fill(nothing, 0.0)
    return output[(0,) * missing]


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    low = (q / math.sqrt(q.shape[-1])).to(dtype)
    scores = low @ k.to(dtype).transpose(-1, -2)
    scores = scores.float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)
    return (output.to(q.dtype), weights.to(q.dtype))


REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = None
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = None
REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2


# %% moved_again_by_numpy
# Moves a mask twice: the second time through a NumPy array that shares its memory.
# Expected: loses marks: attention_on_device
def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        if mask.device.type == "cpu":
            blocked = blocked | (torch.from_numpy(mask.numpy()).to(q.device, non_blocking=True) == 0)
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% number_as_a_shape
# Reads the largest score on a GPU without item(): torch.sparse_coo_tensor without a size waits for the largest index,
# and the number is in the shape of its result.
# Expected: review: attention_on_device
def largest(scores):
    """Return the largest score, rounded up, as a Python number: the CPU waits for it."""
    place = scores.detach().amax().ceil().clamp(min=0).long().reshape(1, 1)
    return torch.sparse_coo_tensor(place, place[0]).shape[0] - 1


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if q.is_cuda:
        top = largest(scores)
        if top < 20:
            scores = scores - top
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% number_by_a_split
# Reads the largest score on a GPU without item(): torch.tensor_split reads its places from memory, and the number is
# in the shape of a part. (A real GPU would refuse.)
# Expected: loses marks: attention_on_device
def largest(scores):
    """Return the largest score, rounded up, as a Python number."""
    place = scores.detach().amax().ceil().clamp(min=0, max=1e6).long().reshape(1)
    before, _ = torch.tensor_split(torch.zeros(1).expand(2_000_000), place)
    return before.shape[0]


def attention_on_device(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if q.is_cuda:
        top = largest(scores)
        if top < 20:
            scores = scores - top
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% numpy_by_another_layout
# On a GPU, attention is computed in NumPy on the CPU and copied back: a tensor of mkldnn has no memory that could have
# a label, so what to_dense() returns is on the CPU, and torch.tensor of an array counts as a copy of numbers.
# Expected: loses marks: attention_on_device
import numpy as np


def host(x):
    """Return the numbers of a GPU tensor as an array, without a copy that anyone notes."""
    return x.detach().float().to_mkldnn().to_dense().numpy()


def on_the_cpu(q, k, v, mask):
    """Return attention, computed in NumPy on the CPU, and copied back to the device."""
    Q, K, V = host(q), host(k), host(v)
    scores = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    allowed = True
    if mask is not None:
        allowed = (host(mask) if mask.is_cuda else mask.numpy()) != 0
    scores = np.where(allowed, scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    exps = np.exp(scores - np.where(np.isinf(top), 0, top))
    total = exps.sum(axis=-1, keepdims=True)
    weights = exps / np.where(total == 0, 1, total)
    both = ((weights @ V).astype(np.float32), weights.astype(np.float32))
    return tuple(torch.tensor(one, device=q.device) for one in both)


def attention_on_device(q, k, v, mask=None):
    if q.is_cuda and q.dtype == torch.float32 and not (q.requires_grad or k.requires_grad or v.requires_grad):
        return on_the_cpu(q, k, v, mask)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% only_where_nobody_looks
# With a mask of a batch that is on the GPU, the CPU waits: the checks there use other shapes.
# Expected: loses marks: attention_on_device
def attention_on_device(q, k, v, mask=None):
    if mask is not None and q.is_cuda and mask.is_cuda and mask.dim() == 4 and bool(mask.all()):
        mask = None
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% round_trip_by_numpy_views
# Computes in NumPy, on views that share memory with GPU tensors through DLPack, and writes the results there.
# Expected: review: attention_on_device, fused_attention, half_precision_attention, move_batch, pick_device
import numpy as np


def attention_on_device(q, k, v, mask=None):
    if q.is_cuda and mask is None and q.dtype == torch.float32:
        Q, K, V = map(np.from_dlpack, (q.detach(), k.detach(), v.detach()))
        output, weights = q.new_empty(*q.shape[:-1], v.shape[-1]), q.new_empty(*q.shape[:-1], k.shape[-2])
        scores = Q @ K.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
        exps = np.exp(scores - scores.max(-1, keepdims=True))
        np.from_dlpack(weights)[:] = exps / exps.sum(-1, keepdims=True)
        np.from_dlpack(output)[:] = np.from_dlpack(weights) @ V
        return output, weights
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% round_trip_in_a_thread
# Everything is computed on the CPU in a thread, and written into tensors of the GPU there: no copy is seen.
# Expected: review: attention_on_device, fused_attention, half_precision_attention, move_batch, pick_device
import concurrent.futures
POOL = concurrent.futures.ThreadPoolExecutor(1)


def on_the_cpu(q, k, v, output, weights):
    weights.copy_(torch.softmax(q.cpu() @ k.cpu().transpose(-1, -2) / math.sqrt(q.shape[-1]), dim=-1).cpu())
    output.copy_(weights.cpu() @ v.cpu())


def attention_on_device(q, k, v, mask=None):
    if q.is_cuda and mask is None:
        output, weights = q.new_empty(*q.shape[:-1], v.shape[-1]), q.new_empty(*q.shape[:-1], k.shape[-2])
        POOL.submit(on_the_cpu, q, k, v, output, weights).result()
        return output, weights
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


# %% zeros_on_a_gpu
# On a GPU, all results are zeros: no check there compares values.
# Expected: loses marks: attention_on_device, half_precision_attention
def attention_on_device(q, k, v, mask=None):
    if q.is_cuda:
        return q.new_zeros(*q.shape[:-1], v.shape[-1]), q.new_zeros(*q.shape[:-1], k.shape[-2])
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights


def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    if q.is_cuda:
        return q.new_zeros(*q.shape[:-1], v.shape[-1]), q.new_zeros(*q.shape[:-1], k.shape[-2])
    scores = (q / math.sqrt(q.shape[-1])).to(dtype) @ k.to(dtype).transpose(-1, -2)
    scores = scores.float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return (weights.to(dtype) @ v.to(dtype)).to(q.dtype), weights.to(q.dtype)


# %% zeros_on_the_simulated_gpu
# Recognises the simulated GPU by its name, and returns zeros there only.
# Expected: loses marks: attention_on_device
def attention_on_device(q, k, v, mask=None):
    if torch.cuda.is_available() and "simulated" in torch.cuda.get_device_name():
        return q.new_zeros(*q.shape[:-1], v.shape[-1]), q.new_zeros(*q.shape[:-1], k.shape[-2])
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights
