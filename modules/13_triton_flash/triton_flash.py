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
    raise NotImplementedError


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
    raise NotImplementedError


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
# Your answer goes here.
