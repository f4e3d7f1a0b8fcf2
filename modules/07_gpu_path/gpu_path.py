# %% [markdown]
# # 07 · The GPU path
#
# The formula stays the same. New is *where* you compute it and in which precision: on a second device that works in
# parallel with the CPU and has its own memory. Good code for it follows its input from device to device, never makes
# the CPU wait, stores no more than it needs, and stays right in 16 bits.
#
# You do not need a GPU. `attn test gpu_path` uses a simulated GPU. It computes on the CPU, records on which device each
# tensor would be, and says in which line a real GPU would raise an error or make the CPU wait.
#
# Use the built-in, `F.scaled_dot_product_attention`, in `fused_attention` only. In `attention_on_device` and
# `half_precision_attention` it is not allowed.
#
# After each step there is a cell that tries it. Run it in a notebook, or run all cells up to the first missing step
# with `python gpu_path.py`. `attn test gpu_path` runs the visible checks. The lesson is in `README.md` next to this
# file.

# %%
import math

import torch
import torch.nn.functional as F

# %% [markdown]
# ## Build 1: which device?
#
# A program should run on every machine: on the GPU if there is one, otherwise on the CPU. It asks once, at its start,
# and passes the answer on.


# %%
def pick_device(prefer="cuda"):
    """Return the requested device, a torch.device, if this machine has it; otherwise torch.device("cpu").

    prefer: a name, such as "cuda", "cuda:0", "mps" or "cpu", or a torch.device.

    - "cuda" gives a device of type cuda, with its number ("cuda:0") or without. "cpu" gives the CPU, with or without a
      GPU in the machine.
    - If this machine does not have the kind of device ("mps" on most machines) or the number ("cuda:5" with one GPU),
      the result is the CPU, without an error. The function checks in each call, not when the file is loaded.
    - A text that is not a device name, such as "gpu", "cuda0" or "", raises ValueError on every machine. The message
      contains the text. Everything that torch.device() accepts is a device name.
    """
    raise NotImplementedError


# %%
# Try it: which devices does this machine have?
if __name__ == "__main__":
    for name in ("cuda", "mps", "cpu"):
        print(f"asked for {name}, got {pick_device(name)!r}")
    assert pick_device("cpu") == torch.device("cpu"), 'pick_device("cpu") should return the CPU'
    refused = ""
    try:
        pick_device("gpu")
    except ValueError as error:
        refused = str(error)
    print("refused:", refused)
    assert "gpu" in refused, "gpu is not a device name: raise a ValueError that contains it"

# %% [markdown]
# ## Build 2: attention on the device of its input
#
# This is the formula of module 05 without its layer. On a CPU, nearly every way to write it is right. On a GPU, a
# tensor that was created on the CPU raises an error, and reading a number makes the CPU wait.


# %%
def attention_on_device(q, k, v, mask=None):
    """Return (output, weights), a tuple: attention by the formula, on the device of q.

    q: (..., n_q, d_k), k: (..., n_k, d_k), v: (..., n_k, d_v), all on one device, with the same leading axes, if any.
    output: (..., n_q, d_v), weights: (..., n_q, n_k).

    mask: None, or a tensor of bool, int or float that broadcasts to the weights, on any device. 1 or True means that
    the query may look at this key; 0 or False means that the key is blocked.

    - Scores are divided by the square root of d_k, and the softmax is over the keys. A blocked key has the weight 0,
      and the weights of the other keys sum to 1. Scores of any size work, such as 5000 or -1e10.
    - A query whose keys are all blocked has weights of 0 and an output of 0. There is never a NaN, neither in the
      results nor in any gradient.
    - Every new tensor is created on the device of q, a GPU or the CPU. No device is named in the code. (A CPU tensor
      without axes, a single number, may be used with tensors on a GPU.) Both results are on the device of q.
    - The CPU never waits for the GPU: no number is read from a tensor, and nothing is copied to the CPU.
    - A mask on another device is moved once.
    - Gradients flow to q, k and v, through the output and through the weights. The dtype is that of q, for every mask.
      Arguments are not modified.
    - No Python loop over tokens, features or the batch. No product is computed twice, and no tensor is larger than the
      weights and the arguments. F.scaled_dot_product_attention and nn.MultiheadAttention are not allowed here.
    """
    raise NotImplementedError


# %%
# The sentence of the lesson for the cells below: a query, a key and a value for each token
if __name__ == "__main__":
    tokens = ["The", "cat", "sat", "on", "mat"]
    Q = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    K = torch.tensor([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    V = torch.tensor([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
    causal = torch.ones(5, 5).tril()  # stays on the CPU

# %%
# Try it on the best device of this machine, with a mask on the CPU
if __name__ == "__main__":
    device = pick_device()
    result = attention_on_device(Q.to(device), K.to(device), V.to(device), mask=causal)
    assert len(result) == 2, "return the pair (output, weights)"
    print("causal weights of cat:", [round(w, 4) for w in result[1][1].tolist()], "on", result[1].device)
    assert torch.allclose(result[1][1].cpu(), torch.tensor([0.8176, 0.1824, 0, 0, 0]), atol=1e-4), "as in module 04"
    assert all(one.device.type == device.type for one in result), f"both results should be on {device}"
    blocked, _ = attention_on_device(Q, K, V, mask=torch.zeros(5, 5))
    assert torch.equal(blocked, torch.zeros(5, 4)), "with every key blocked, the output is 0"

# %% [markdown]
# ## Build 3: the built-in
#
# PyTorch has a built-in attention. It is faster than the formula. More important, it never stores the weights. But it
# reads masks differently from this course.


# %%
def fused_attention(q, k, v, mask=None, is_causal=False):
    """Return the output of attention, (..., n_q, d_v), computed by F.scaled_dot_product_attention, without weights.

    q: (..., n_q, d_k), k: (..., n_k, d_k), v: (..., n_k, d_v), of two to five dimensions, all on one device.

    mask: as in attention_on_device: None, or bool, int or float, 1 or True where the query may look at the key; any
    shape that broadcasts to (..., n_q, n_k), such as (n_k,), (n_q, 1) or (batch, 1, 1, n_k); on any device.
    is_causal: query i may look at the keys j <= i, counted from the top left, also if n_q and n_k differ. With a mask
    and is_causal, a key must be allowed by both.

    - The same numbers as attention_on_device, up to rounding, in float64, float32, bfloat16 and float16.
    - A query whose keys are all blocked has an output of 0. There is never a NaN, neither in the output nor in a
      gradient.
    - The rules of attention_on_device for devices, waiting, gradients, dtype and arguments apply here, too.
    - No Python loop. Without a mask, nothing of size n_q * n_k is ever stored: memory grows like the arguments. The
      built-in can do this only for inputs of four dimensions, so inputs of two or three need axes of size 1 in front.
      (The memory is measured for three dimensions and d_v = d_k.)
    """
    raise NotImplementedError


# %%
# Try it: both functions give the same numbers, for every kind of mask
if __name__ == "__main__":
    for kind in (torch.bool, torch.int64, torch.float32):
        fused = fused_attention(Q, K, V, mask=causal.to(kind))
        assert fused.shape == (5, 4), f"return only the output: (5, 4), not {tuple(fused.shape)}"
        manual, _ = attention_on_device(Q, K, V, mask=causal)
        assert torch.allclose(fused, manual, atol=1e-6), f"a mask of {kind} should block where it is 0"
    assert torch.allclose(fused_attention(Q, K, V, is_causal=True), manual, atol=1e-6), "is_causal equals that mask"
    padding = torch.tensor([1, 1, 1, 0, 0])
    both = fused_attention(Q, K, V, mask=padding, is_causal=True)
    assert torch.allclose(both, attention_on_device(Q, K, V, causal * padding)[0], atol=1e-6), "both should apply"
    print("output of cat, causal:", [round(x, 4) for x in fused[1].tolist()])

# %% [markdown]
# ## Build 4: sixteen bits
#
# The matrix units of a GPU are many times as fast in bfloat16 and float16 as in float32. This has a price: bfloat16
# keeps about three digits, and float16 has no number above 65504.


# %%
def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    """Return (output, weights) like attention_on_device, with both products computed in a 16-bit dtype.

    q, k, v, mask: as in attention_on_device, but q, k and v are float32 or already in 16 bits. dtype: torch.bfloat16 or
    torch.float16.

    - Both products, q times k and weights times v, have their factors in dtype. The steps in between may have any
      precision.
    - The entries of q, k and v and the *scaled* scores fit into dtype, but the unscaled scores may not. Nothing
      overflows, because the scale comes before the product. Exponentials and blocked scores do not overflow either.
    - Output and weights have the dtype of q, for every dtype, and the values of attention_on_device to about two
      digits. Rows of weights sum to 1, to that precision.
    - Blocked keys have the weight 0. A query whose keys are all blocked has weights of 0 and an output of 0. There is
      never a NaN, neither in the results nor in a gradient.
    - The rules of attention_on_device for devices, waiting, gradients, arguments, loops, cost and what is not allowed
      apply here, too.
    """
    raise NotImplementedError


# %%
# Try it: two digits are right, and float16 does not overflow
if __name__ == "__main__":
    for kind in (torch.bfloat16, torch.float16):
        output, weights = half_precision_attention(Q, K, V, mask=causal, dtype=kind)
        print(kind, "output of cat, causal:", [round(x, 4) for x in output[1].tolist()])
        assert output.dtype == weights.dtype == torch.float32, "float32 in, float32 out"
        assert torch.allclose(output, attention_on_device(Q, K, V, causal)[0], atol=1e-2), "the same to two digits"
    large = torch.full((2, 64), 40.0)  # the scores: 64 * 40 * 40 = 102400, scaled 12800
    output, _ = half_precision_attention(large, large, torch.ones(2, 3), dtype=torch.float16)
    assert torch.equal(output, torch.ones(2, 3)), "102400 is too large for float16, 12800 is not"

# %% [markdown]
# ## Build 5: the batch
#
# A data loader rarely returns a single tensor. It returns dicts and lists of tensors, names and lengths. All tensors in
# them go to the device, and the CPU does not need to wait until they are there.


# %%
def move_batch(batch, device):
    """Return a new batch like the given one, with every tensor on the device.

    batch: a tensor, or a dict, list or tuple of batches, nested to any depth, or anything else. device: a name or a
    torch.device.

    - A dict stays a dict with the same keys in the same order, a list stays a list, a tuple stays a tuple. Everything
      else that is not a tensor (text, numbers, None, NumPy arrays) is returned unchanged.
    - Tensors keep their dtype, shape and values, and gradients flow back through the copy.
    - Copies to a GPU do not make the CPU wait: non_blocking=True.
    - The batch you are given is not modified, at any level.
    """
    raise NotImplementedError


# %%
# Try it: a batch as a data loader returns it
if __name__ == "__main__":
    batch = {"tokens": torch.tensor([[4, 7], [1, 0]]), "lengths": [2, 1], "masks": (torch.ones(2, 2), None)}
    moved = move_batch(batch, pick_device())
    print("tokens on", moved["tokens"].device, "and the lengths:", moved["lengths"])
    assert moved["lengths"] == [2, 1], "what is not a tensor is returned unchanged"
    assert isinstance(moved["masks"], tuple), "a tuple stays a tuple"
    assert moved["masks"][1] is None, "what is not a tensor is returned unchanged, also in nested containers"
    assert moved["masks"][0].device.type == pick_device().type, "tensors in nested containers are moved, too"
    assert moved["tokens"].dtype == torch.int64, "the dtype should stay int64"

# %% [markdown]
# ## Use: what is never stored
#
# How much memory do the manual version and the built-in need beyond their input, for two heads of width 64 in float32?
# With a GPU, this cell measures it. Without one, it counts the scores, the weights and the output.

# %%
if __name__ == "__main__":
    device = pick_device()
    for n in (1024, 2048, 4096):
        counted = {"manual": 4 * (2 * 2 * n * n + 2 * n * 64), "fused": 4 * (2 * n * 64)}
        if device.type == "cuda":
            x = torch.randn(2, n, 64, device=device)
            for name, attend in (("manual", attention_on_device), ("fused", fused_attention)):
                torch.cuda.reset_peak_memory_stats()
                before = torch.cuda.memory_allocated()
                attend(x, x, x)
                counted[name] = torch.cuda.max_memory_allocated() - before
        print(f"n = {n}:", ", ".join(f"{name} {size / 2**20:.1f} MiB" for name, size in counted.items()))

# %% [markdown]
# ## Use: what sixteen bits can hold
#
# The same numbers in bfloat16 and float16. Which of them lose digits, and which become infinity?

# %%
if __name__ == "__main__":
    for number in (257, 2049, 65504, 102400):
        shown = [
            f"{str(kind)[6:]} {torch.tensor(float(number)).to(kind).item():g}"
            for kind in (torch.bfloat16, torch.float16)
        ]
        print(f"{number}:", ", ".join(shown))

# %% [markdown]
# ## Reflect
#
# With twice as many tokens, how many times as much memory does attention need beyond its input? Answer once for the
# manual version, and once for the fused version without a mask. Assume that n is so large that only the leading term
# counts. Replace each `None` (or assign the answers below it).

# %%
REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = None
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = None
# Your answer goes here.
