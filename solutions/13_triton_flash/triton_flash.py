# %% [markdown]
# # 13 · A flash kernel
#
# Module 10 wrote attention in tiles with NumPy, and module 07 called a kernel that somebody else wrote. Here you write
# that kernel yourself, in Triton: Python that is compiled for the GPU.
#
# This module is optional, and it needs an NVIDIA GPU and the package `triton` (PyTorch for CUDA on Linux brings it).
# Without a GPU it is not run, and nothing else in the course needs it.
#
# `F.scaled_dot_product_attention` is not allowed here, and neither are PyTorch's own products: compute in the kernel.
#
# `attn test triton_flash` runs the visible checks on your GPU, and `attn profile triton_flash --device cuda` shows
# time and memory beside the built-in. The lesson is in `README.md` next to this file.

# %%
import math

import torch
import triton
import triton.language as tl

# %% [markdown]
# ## Build 1: the kernel
#
# One *program* computes one tile of BLOCK_Q queries of one head. All programs run at the same time. Each has two
# numbers: its tile, `tl.program_id(0)`, and its head, `tl.program_id(1)`.
#
# The pointers are the addresses of the first numbers of q, k, v and the output. All four are contiguous: head after
# head, row after row, WIDTH numbers in a row. The names in capitals are constants of the compiler.


# %%
@triton.jit(do_not_specialize=["n_q", "n_k"])  # otherwise other kinds of lengths compile the kernel again
def _flash_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    n_q,
    n_k,
    scale,
    WIDTH: tl.constexpr,
    CAUSAL: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """Write the attention of one tile of queries of one head.

    Keep three things, all in float32: the largest score so far, the sum of exponentials so far, and the sum of values
    so far. Loop over tiles of BLOCK_K keys. Divide once, at the end. You may change the parameters as you like.
    """
    ### BEGIN SOLUTION
    tile = tl.program_id(0)
    head = tl.program_id(1).to(tl.int64)  # head · n · WIDTH may need more than 32 bits
    rows = tile * BLOCK_Q + tl.arange(0, BLOCK_Q)
    columns = tl.arange(0, WIDTH)
    is_query = rows[:, None] < n_q
    q_places = head * n_q * WIDTH + rows[:, None] * WIDTH + columns[None, :]  # (BLOCK_Q, WIDTH)
    q = tl.load(q_ptr + q_places, mask=is_query, other=0.0)
    largest = tl.full([BLOCK_Q], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_Q], tl.float32)
    values = tl.zeros([BLOCK_Q, WIDTH], tl.float32)
    end = n_k
    if CAUSAL:  # no query of this tile sees a key after its own last row
        end = tl.minimum(n_k, (tile + 1) * BLOCK_Q)
    for start in range(0, end, BLOCK_K):
        keys = start + tl.arange(0, BLOCK_K)
        is_key = keys < n_k
        k_places = head * n_k * WIDTH + keys[:, None] * WIDTH + columns[None, :]  # (BLOCK_K, WIDTH)
        k = tl.load(k_ptr + k_places, mask=is_key[:, None], other=0.0)
        v = tl.load(v_ptr + k_places, mask=is_key[:, None], other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale  # (BLOCK_Q, BLOCK_K), float32
        is_seen = is_key[None, :]
        if CAUSAL:
            is_seen = is_seen & (keys[None, :] <= rows[:, None])
        scores = tl.where(is_seen, scores, float("-inf"))
        # Every row sees key 0, which is in the first tile: from then on, `largest` is finite.
        new_largest = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp(scores - new_largest[:, None])
        rescale = tl.exp(largest - new_largest)
        total = total * rescale + tl.sum(weights, 1)
        values = values * rescale[:, None] + tl.dot(weights.to(v.dtype), v, input_precision="ieee")
        largest = new_largest
    tl.store(out_ptr + q_places, (values / total[:, None]).to(q.dtype), mask=is_query)
    ### END SOLUTION


# %% [markdown]
# ## Build 2: the launch
#
# A kernel is launched with a *grid*: how many programs there are. `_flash_kernel[grid](...)` does not wait for it.


# %%
def flash_forward(q, k, v, is_causal=False):
    """Return the attention of q, k and v, computed tile by tile in a Triton kernel.

    q: (..., n_q, d), k: (..., n_k, d), v: (..., n_k, d), all on one GPU, of the same dtype and with the same leading
    axes, if any. The output is like q: the same shape, dtype and device. The width d is 16, 32, 64 or 128.

    - Scores are divided by the square root of d, and the softmax is over the keys. Scores of any size work.
    - With is_causal, query i sees the keys 0 to i, both counted from 0, as in modules 07 and 10.
    - Any numbers of queries and keys from 1 on, not only multiples of a tile.
    - float32 is computed in float32, not in TF32. In bfloat16, the scores, the softmax and both sums are in float32.
    - Tensors that are not contiguous work, too. Arguments are not modified.
    - Memory beyond the arguments grows like n: no table of scores exists. The CPU never waits for the GPU.
    - PyTorch's own attention and its products (such as @, matmul or einsum) are not allowed.
    """
    ### BEGIN SOLUTION
    n_q, n_k, width = q.shape[-2], k.shape[-2], q.shape[-1]
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()  # a copy only if it is needed
    out = torch.empty_like(q)
    block_q, block_k = (64, 32) if q.dtype == torch.float32 else (128, 64)
    block_k = block_k // 2 if width == 128 else block_k  # wide tiles must fit on small GPUs, too
    grid = (triton.cdiv(n_q, block_q), q.numel() // (n_q * width))
    _flash_kernel[grid](
        q,
        k,
        v,
        out,
        n_q,
        n_k,
        1 / math.sqrt(width),
        WIDTH=width,
        CAUSAL=is_causal,
        BLOCK_Q=block_q,
        BLOCK_K=block_k,
        num_warps=8 if width == 128 else 4,
    )
    return out
    ### END SOLUTION


# %%
# Try it: the sentence of the lesson, with its width filled up from 4 to 16 by zeros. sqrt(16) is 4 and not 2, so q is
# doubled. Row "on" should be .2854 .2854 .2106 .4089, as in module 10.
if __name__ == "__main__" and torch.cuda.is_available():
    Q = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 1], [1, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    K = torch.tensor([[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0.5, 0.5]])
    V = torch.tensor([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
    q, k, v = (torch.nn.functional.pad(x, (0, 12)).cuda() for x in (2 * Q, K, V))
    print(flash_forward(q, k, v)[:, :4])
    print(flash_forward(q, k, v, is_causal=True)[:, :4])

# %% [markdown]
# ## Use
#
# How much memory does your kernel need beyond its arguments? Predict the column, then run it.

# %%
if __name__ == "__main__" and torch.cuda.is_available():
    for n in (512, 1024, 2048, 4096):
        x = torch.randn(1, 4, n, 64, device="cuda")
        flash_forward(x, x, x)  # the first call compiles
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        flash_forward(x, x, x)
        print(f"n = {n}: {torch.cuda.max_memory_allocated() - before} bytes")

# %% [markdown]
# ## Reflect
#
# The launch above uses tiles of 64 queries for float32. How many programs does it start for 2 texts with 4 heads each
# and 1000 tokens? And how many bytes does the output of these 2 · 4 heads have, in float32 with d = 64?

# %%
REFLECT_PROGRAMS_2_TEXTS_4_HEADS_1000_TOKENS_TILES_OF_64 = None
REFLECT_OUTPUT_BYTES_2_TEXTS_4_HEADS_1000_TOKENS_WIDTH_64_FLOAT32 = None
### BEGIN SOLUTION
REFLECT_PROGRAMS_2_TEXTS_4_HEADS_1000_TOKENS_TILES_OF_64 = 128
REFLECT_OUTPUT_BYTES_2_TEXTS_4_HEADS_1000_TOKENS_WIDTH_64_FLOAT32 = 2_048_000
### END SOLUTION
