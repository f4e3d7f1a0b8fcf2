# %% [markdown]
# # 07 · The GPU path
#
# The formula stays what it was. What is new is *where* it is computed, and in what precision: on a device that works
# beside the CPU, with memory of its own. Code for it should follow its input from device to device, never make the CPU
# wait, never write down what need not be written down, and stay right in 16 bits.
#
# No GPU is needed. `attn test gpu_path` pretends that there is one: it computes on the CPU, keeps book of where each
# tensor would live, and says in which line a real GPU would raise an error or be waited for.
#
# `F.scaled_dot_product_attention`, the built-in, is what `fused_attention` is for. In `attention_on_device` and
# `half_precision_attention` it is not allowed.
#
# After each step there is a cell to try it. In a notebook, run it; as a script, `python gpu_path.py` runs them all, up
# to the first step that is missing. `attn test gpu_path` runs the visible checks. The lesson is in `README.md` beside
# this file.

# %%
import math

import torch
import torch.nn.functional as F

# %% [markdown]
# ## Build 1: which device?
#
# A program should run where it is started: on a GPU if there is one, on the CPU if not. It asks once, at the beginning,
# and hands the answer on.


# %%
def pick_device(prefer="cuda"):
    """Return the device that was asked for, a torch.device, if this machine has it; else torch.device("cpu").

    prefer: a name, such as "cuda", "cuda:0", "mps" or "cpu", or a torch.device.

    - "cuda" gives a device of type cuda, with its number ("cuda:0") or without. Who asks for the CPU gets the CPU, GPU
      or not.
    - What this machine does not have, be it the kind ("mps" on most machines) or the number ("cuda:5" where there is
      one GPU), is replaced by the CPU without a word. The machine is asked in each call, not when the file is loaded.
    - A text that is no name of a device at all, such as "gpu", "cuda0" or "", raises ValueError, GPU or not; its
      message holds the text. What torch.device() accepts is a name.
    """
    ### BEGIN SOLUTION
    try:
        device = torch.device(prefer)
    except RuntimeError as error:
        raise ValueError(f"{prefer!r} is no name of a device") from error
    counts = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    return device if (device.index or 0) < counts.get(device.type, 0) else torch.device("cpu")
    ### END SOLUTION


# %%
# Try it: what is there?
if __name__ == "__main__":
    for name in ("cuda", "mps", "cpu"):
        print(f"asked for {name}, got {pick_device(name)!r}")
    assert pick_device("cpu") == torch.device("cpu"), "who asks for the CPU gets it"
    refused = ""
    try:
        pick_device("gpu")
    except ValueError as error:
        refused = str(error)
    print("refused:", refused)
    assert "gpu" in refused, "a ValueError that holds the name is asked for: cuda is a name, gpu is none"

# %% [markdown]
# ## Build 2: attention, wherever its input lives
#
# The formula of module 05, without its layer. On a CPU nearly every way to write it is right. On a GPU, a tensor that
# was made on the CPU stops it, and a number that is read stops the CPU.


# %%
def attention_on_device(q, k, v, mask=None):
    """Return (output, weights), a tuple: attention by the formula, on the device of q.

    q: (..., n_q, d_k), k: (..., n_k, d_k), v: (..., n_k, d_v), all on one device; the leading axes, if any, are the
    same. output: (..., n_q, d_v), weights: (..., n_q, n_k).

    mask: None, or a tensor of bool, int or float that broadcasts to the weights, on any device. 1 or True: this key
    may be attended to; 0 or False: it is blocked.

    - Scores are divided by the square root of d_k, and the softmax is taken over the keys. A blocked key has the weight
      0, the weights of the others sum to 1, whatever its score and theirs: right for scores of any size, such as 5000,
      or -1e10.
    - A query whose keys are all blocked has weights of 0 and an output of 0. Never NaN, neither there nor in any
      gradient.
    - Every tensor that is made lives where q lives, from the start, be that a GPU or the CPU: no device is named. (A
      number on the CPU, a tensor without axes, may meet tensors of a GPU.) Both results are there, too.
    - The CPU never waits for the GPU: no number is read out of a tensor, nothing is copied to the CPU.
    - A mask that is given on another device is moved once.
    - Gradients flow to q, k and v, through the output and through the weights. The dtype is that of q, whatever the
      mask. Arguments are not modified.
    - No Python loop over tokens, features or the batch. No product is computed twice, and no tensor is larger than the
      weights and the arguments. F.scaled_dot_product_attention and nn.MultiheadAttention are not allowed here.
    """
    ### BEGIN SOLUTION
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])  # (..., n_q, n_k)
    if mask is None:
        weights = torch.softmax(scores, dim=-1)  # (..., n_q, n_k)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0  # moved if it is elsewhere, itself if not
        # A row with nothing allowed comes out of the softmax as NaN; it is blocked everywhere, so it is filled with 0.
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    return weights @ v, weights  # (..., n_q, d_v), (..., n_q, n_k)
    ### END SOLUTION


# %%
# The sentence of the lesson, for the cells below: a query, a key and a value for each token
if __name__ == "__main__":
    tokens = ["The", "cat", "sat", "on", "mat"]
    Q = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    K = torch.tensor([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    V = torch.tensor([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
    causal = torch.ones(5, 5).tril()  # on the CPU, wherever the others are

# %%
# Try it: on the best device there is, with a mask that stays behind
if __name__ == "__main__":
    device = pick_device()
    result = attention_on_device(Q.to(device), K.to(device), V.to(device), mask=causal)
    assert len(result) == 2, "the pair (output, weights)"
    print("causal weights of cat:", [round(w, 4) for w in result[1][1].tolist()], "on", result[1].device)
    assert torch.allclose(result[1][1].cpu(), torch.tensor([0.8176, 0.1824, 0, 0, 0]), atol=1e-4), "as in module 04"
    assert all(one.device.type == device.type for one in result), f"both results live on {device}"
    blocked, _ = attention_on_device(Q, K, V, mask=torch.zeros(5, 5))
    assert torch.equal(blocked, torch.zeros(5, 4)), "with every key blocked: 0"

# %% [markdown]
# ## Build 3: the built-in
#
# PyTorch has attention ready-made. It is quicker than the formula and, what matters more, it never writes down the
# weights. But its masks have a convention of their own.


# %%
def fused_attention(q, k, v, mask=None, is_causal=False):
    """Return the output of attention, (..., n_q, d_v), computed by F.scaled_dot_product_attention. No weights.

    q: (..., n_q, d_k), k: (..., n_k, d_k), v: (..., n_k, d_v), of two to five dimensions, all on one device.

    mask: as for attention_on_device: None, or bool, int or float, 1 or True where a key may be attended to; any shape
    that broadcasts to (..., n_q, n_k), such as (n_k,), (n_q, 1) or (batch, 1, 1, n_k); on any device.
    is_causal: query i may attend to the keys j <= i, counted from the top left, also where n_q and n_k differ. With a
    mask as well, both hold: a key must be allowed by both.

    - The same numbers as attention_on_device, to rounding, in float64, float32, bfloat16 and float16.
    - A query whose keys are all blocked has an output of 0. Never NaN, neither there nor in a gradient.
    - The rules of attention_on_device about devices, waiting, gradients, dtype and arguments hold here, too.
    - No Python loop. Without a mask, nothing of size n_q * n_k is ever stored: memory grows like the arguments. The
      built-in does without it only for inputs of four dimensions, so inputs of two or three need axes of size 1 in
      front. (It is measured for three dimensions and d_v = d_k.)
    """
    ### BEGIN SOLUTION
    missing = max(0, 4 - q.dim())
    q4, k4, v4 = (x[(None,) * missing] for x in (q, k, v))  # (1, ..., n, d): the quick kernels want four dimensions
    if mask is None:
        output = F.scaled_dot_product_attention(q4, k4, v4, is_causal=is_causal)
    else:
        n_q, n_k = q.shape[-2], k.shape[-2]
        allowed = mask.to(q.device, non_blocking=True) != 0  # bool: anything else would be added to the scores
        allowed = torch.atleast_2d(allowed)
        allowed = allowed.expand(*allowed.shape[:-2], n_q, n_k)
        if is_causal:
            allowed = allowed & torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril()
        nothing = ~allowed.any(dim=-1, keepdim=True)  # (..., n_q, 1): queries that may look nowhere
        # These look everywhere, which the built-in can do, and what comes of it is put away.
        output = F.scaled_dot_product_attention(q4, k4, v4, attn_mask=allowed | nothing).masked_fill(nothing, 0.0)
    return output[(0,) * missing]  # (..., n_q, d_v)
    ### END SOLUTION


# %%
# Try it: the same numbers by both ways, for every kind of mask
if __name__ == "__main__":
    for kind in (torch.bool, torch.int64, torch.float32):
        fused = fused_attention(Q, K, V, mask=causal.to(kind))
        assert fused.shape == (5, 4), f"the output alone: (5, 4), not {tuple(fused.shape)}"
        manual, _ = attention_on_device(Q, K, V, mask=causal)
        assert torch.allclose(fused, manual, atol=1e-6), f"a mask of {kind} should mean what it means in this course"
    assert torch.allclose(fused_attention(Q, K, V, is_causal=True), manual, atol=1e-6), "is_causal is the same mask"
    padding = torch.tensor([1, 1, 1, 0, 0])
    both = fused_attention(Q, K, V, mask=padding, is_causal=True)
    assert torch.allclose(both, attention_on_device(Q, K, V, causal * padding)[0], atol=1e-6), "both hold"
    print("output of cat, causal:", [round(x, 4) for x in fused[1].tolist()])

# %% [markdown]
# ## Build 4: sixteen bits
#
# The matrix units of a GPU are many times as fast in bfloat16 and float16 as in float32. The price: bfloat16 keeps
# about three digits, and float16 has no number above 65504.


# %%
def half_precision_attention(q, k, v, mask=None, dtype=torch.bfloat16):
    """Return (output, weights), as attention_on_device does, with both products computed in a dtype of 16 bits.

    q, k, v, mask: as for attention_on_device, but q, k and v have float32, or 16 bits themselves. dtype: torch.bfloat16
    or torch.float16.

    - Both products, that of q and k and that of weights and v, take their factors in dtype. What lies between the two
      may have any precision.
    - Entries of q, k and v and the *scaled* scores fit into dtype; the unscaled scores need not. Nothing overflows:
      the scale comes before the product. Exponentials do not overflow either, nor do blocked scores.
    - Output and weights have the dtype of q, whatever dtype is, and the values of attention_on_device to about two
      digits. Rows of weights sum to 1, to that precision.
    - Blocked keys have the weight 0. A query whose keys are all blocked has weights and an output of 0, never NaN,
      neither there nor in a gradient.
    - The rules of attention_on_device about devices, waiting, gradients, arguments, loops, cost and what is not allowed
      hold here, too.
    """
    ### BEGIN SOLUTION
    low = (q / math.sqrt(q.shape[-1])).to(dtype)  # scaled first: q @ k alone may be beyond 65504
    scores = low @ k.to(dtype).transpose(-1, -2)  # (..., n_q, n_k), in dtype
    scores = scores.float()
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        blocked = mask.to(q.device, non_blocking=True) == 0
        weights = torch.softmax(scores.masked_fill(blocked, -math.inf), dim=-1).masked_fill(blocked, 0.0)
    output = weights.to(dtype) @ v.to(dtype)  # (..., n_q, d_v), in dtype
    return output.to(q.dtype), weights.to(q.dtype)
    ### END SOLUTION


# %%
# Try it: three digits are enough for attention, and float16 does not overflow
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
# What a data loader hands out is rarely one tensor: it is a dict of tensors, lists of them, names, lengths. All tensors
# in it go to the device, and the CPU need not wait until they are there.


# %%
def move_batch(batch, device):
    """Return a batch like this one with every tensor in it on the device.

    batch: a tensor, or a dict, list or tuple of batches, nested as deep as you like, or anything else. device: a name
    or a torch.device.

    - A dict stays a dict with the same keys in the same order, a list a list, a tuple a tuple. What is neither a tensor
      nor one of these (text, numbers, None, NumPy arrays) stays what it is.
    - Tensors keep their dtype, shape and values, and gradients find their way back through the copy.
    - Copies to a GPU do not hold up the CPU: non_blocking=True.
    - The batch that was given is not modified, at no level.
    """
    ### BEGIN SOLUTION
    if isinstance(batch, torch.Tensor):
        return batch.to(device, non_blocking=True)
    if isinstance(batch, dict):
        return {key: move_batch(value, device) for key, value in batch.items()}
    if isinstance(batch, list):
        return [move_batch(value, device) for value in batch]
    if isinstance(batch, tuple):
        moved = [move_batch(value, device) for value in batch]
        return type(batch)(*moved) if hasattr(batch, "_fields") else tuple(moved)  # a namedtuple keeps its names
    return batch
    ### END SOLUTION


# %%
# Try it: a batch as a data loader makes it
if __name__ == "__main__":
    batch = {"tokens": torch.tensor([[4, 7], [1, 0]]), "lengths": [2, 1], "masks": (torch.ones(2, 2), None)}
    moved = move_batch(batch, pick_device())
    print("tokens on", moved["tokens"].device, "and the lengths:", moved["lengths"])
    assert moved["lengths"] == [2, 1], "what is no tensor stays what it is"
    assert isinstance(moved["masks"], tuple), "a tuple stays a tuple"
    assert moved["masks"][1] is None, "what is no tensor stays what it is, further down, too"
    assert moved["masks"][0].device.type == pick_device().type, "tensors further down are moved, too"
    assert moved["tokens"].dtype == torch.int64, "tokens are numbers of words: they stay integers"

# %% [markdown]
# ## Use: what is never written down
#
# What the manual way stores beyond its input, and what the built-in does, for two heads of width 64 in float32. On a
# GPU, the cell measures; without one, it counts the scores, the weights and the output.

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
# The same number in three dtypes. Which of them lose digits, and which of them lose the number?

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
# Twice as many tokens: how many times as much memory does attention need beyond its input? Once by the manual way,
# once fused, without a mask; for n so large that only the leading term counts. Replace each `None` (or write the
# answers below).

# %%
REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = None
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = None
### BEGIN SOLUTION
REFLECT_MEMORY_RATIO_MANUAL_WHEN_N_DOUBLES = 4
REFLECT_MEMORY_RATIO_FUSED_WHEN_N_DOUBLES = 2
### END SOLUTION
